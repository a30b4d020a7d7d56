/** C: the agent card. Spec §4.4, §8. */

import { check } from '../check.js'
import { cardPath } from '../discover.js'
import { type Exchange, type HeaderList, headerOf } from '../exchange.js'
import { at, brief, isMembers, listAt, parsed, same, textAt } from '../json.js'
import { faultsOf } from '../shape.js'
import type { Trial } from '../trial.js'
import { NotApplicable } from '../verdict.js'
import { headerList } from '../wire.js'

const once = { on: 'agent' } as const

function fetchCard(t: Trial, headers: HeaderList = []): Promise<Exchange> {
  return t.send({ method: 'GET', url: `${t.base}${cardPath}`, headers: [['Accept', 'application/json'], ...headers] })
}

export const cardChecks = [
  check('C1', ['MUST', '8.2'], 'The agent card comes as JSON.', once, async (t) => {
    const type = headerOf(t.cardExchange, 'content-type')
    t.want(/^application\/(a2a\+)?json\b/i.test(type ?? ''), 'Content-Type application/json', type ?? 'none')
  }),
  check('C2', ['MUST', '5.7'], 'The agent card has the members that it must have, each of its kind.', once, async (t) => {
    const faults = faultsOf('AgentCard', t.card)
    t.want(faults.length === 0, 'a valid AgentCard', faults.join('; '))
  }),
  check(
    'C3',
    ['MUST', '8.3.1'],
    'Each declared interface has an absolute http or https address, and each binding one.',
    once,
    async (t) => {
      for (const one of listAt(t.card, 'supportedInterfaces')) {
        const url = textAt(one, 'url')
        if (textAt(one, 'protocolBinding') === 'GRPC') continue
        t.want(/^https?:\/\//i.test(url) && URL.canParse(url), 'an absolute http or https address', url)
      }
    },
  ),
  check(
    'C4',
    ['MUST', '8.3.1'],
    'At the address of each declared interface somebody answers in the way of its binding.',
    once,
    async (t) => {
      for (const one of listAt(t.card, 'supportedInterfaces')) {
        const binding = (['JSONRPC', 'HTTP+JSON'] as const).find((name) => name === textAt(one, 'protocolBinding'))
        if (!binding || !/^https?:\/\//i.test(textAt(one, 'url')) || !/^1(\.|$)/.test(textAt(one, 'protocolVersion'))) continue
        const door = { binding, url: textAt(one, 'url'), tenant: textAt(one, 'tenant') }
        const answer = await t.over(door).call('GetTask', { id: `not-there-${t.fresh()}` })
        t.want(answer.kind !== 'unreadable', `an answer of ${binding} at ${door.url}`, answer.kind === 'unreadable' ? answer.why : '')
        // A path that nobody serves is refused like a task that is not there, but for the reason.
        const isThere = answer.kind !== 'error' || binding === 'JSONRPC' || answer.http !== 404 || answer.reason === 'TASK_NOT_FOUND'
        t.want(isThere, `an operation at ${door.url}/tasks/{id}`, answer.kind === 'error' ? answer.body : '')
      }
    },
  ),
  check('C5', ['SHOULD', '8.6.1'], 'The agent card has Cache-Control with max-age.', once, async (t) => {
    const control = headerOf(t.cardExchange, 'cache-control')
    t.want(/\bmax-age=\d+/i.test(control ?? ''), 'Cache-Control with max-age', control ?? 'none')
  }),
  check('C6', ['SHOULD', '8.6.1'], 'The agent card has an ETag.', once, async (t) => {
    const etag = headerOf(t.cardExchange, 'etag')
    t.want(/^(W\/)?"[^"]*"$/.test(etag ?? ''), 'an ETag', etag ?? 'none')
  }),
  check('C7', ['SHOULD', '8.6'], 'Who has the agent card already is answered 304 without a body.', once, async (t) => {
    const etag = headerOf(await fetchCard(t), 'etag')
    if (etag === undefined) throw new NotApplicable('the card has no ETag')
    const again = await fetchCard(t, [['If-None-Match', etag]])
    t.want(again.status === 304 && again.body === '', '304 without a body', `HTTP ${again.status}: ${brief(again.body, 60)}`)
  }),
  check('C8', ['MAY', '8.6.1'], 'Last-Modified of the agent card is a date of HTTP that has passed.', once, async (t) => {
    const modified = headerOf(t.cardExchange, 'last-modified')
    if (modified === undefined) throw new NotApplicable('the card has no Last-Modified')
    const time = Date.parse(modified)
    t.want(/ GMT$/.test(modified) && time <= t.world.now() + 60_000, 'a date of HTTP that has passed', modified)
  }),
  check('C9', ['SHOULD', '8.6'], 'The agent card has the same ETag as long as it is the same.', once, async (t) => {
    const [first, second] = [await fetchCard(t), await fetchCard(t)]
    if (headerOf(first, 'etag') === undefined) throw new NotApplicable('the card has no ETag')
    const isSame = !same(parsed(first.body), parsed(second.body)) || headerOf(first, 'etag') === headerOf(second, 'etag')
    t.want(isSame, `ETag ${headerOf(first, 'etag')} for the same card`, headerOf(second, 'etag'))
  }),
  check('C10', ['MUST', '4.4.5'], 'Each skill has an id of its own.', once, async (t) => {
    const ids = listAt(t.card, 'skills').map((skill) => textAt(skill, 'id'))
    t.want(new Set(ids).size === ids.length && !ids.includes(''), 'skills with different ids', ids)
  }),
  check('C11', ['MUST', '4.4.1'], 'The default modes of the card are media types.', once, async (t) => {
    for (const list of ['defaultInputModes', 'defaultOutputModes']) {
      for (const mode of listAt(t.card, list)) {
        t.want(typeof mode === 'string' && /^(text|\*\/\*|[\w.+-]+\/([\w.+-]+|\*)( *;.*)?)$/.test(mode), `media types in ${list}`, mode)
      }
    }
  }),
  check('C12', ['MUST', '4.5'], 'Security requirements name schemes that the card declares.', once, async (t) => {
    const schemes = at(t.card, 'securitySchemes')
    const declared = isMembers(schemes) ? Object.keys(schemes) : []
    for (const requirement of listAt(t.card, 'securityRequirements')) {
      const named = at(requirement, 'schemes')
      const unknown = (isMembers(named) ? Object.keys(named) : []).filter((name) => !declared.includes(name))
      t.want(unknown.length === 0, `requirements of ${declared.join(', ') || 'no scheme'}`, unknown.join(', '))
    }
  }),
  check('C13', ['SHOULD', '5.5'], 'The agent card has no members that version 1.0 does not know.', once, async (t) => {
    const old = ['url', 'preferredTransport', 'additionalInterfaces', 'supportsAuthenticatedExtendedCard', 'protocolVersion', 'security']
    const found = old.filter((name) => name in t.card)
    t.want(found.length === 0, 'no members of earlier versions', found.join(', '))
  }),
  check('C14', ['SHOULD', '3.6'], 'Interfaces name their version without a patch number.', once, async (t) => {
    for (const one of listAt(t.card, 'supportedInterfaces')) {
      const version = textAt(one, 'protocolVersion')
      t.want(/^\d+\.\d+$/.test(version), 'a version of two numbers', version)
    }
  }),
  check('C15', ['SHOULD', '7.1'], 'Interfaces on other machines are reached by https.', once, async (t) => {
    for (const one of listAt(t.card, 'supportedInterfaces')) {
      const url = textAt(one, 'url')
      if (!/^http:/i.test(url)) continue
      const { hostname } = new URL(url)
      const isNear = hostname === new URL(t.base).hostname && !t.base.startsWith('https:')
      t.want(isNear, 'an https address', url)
    }
  }),
  check(
    'C16',
    ['MUST', '8.4.2'],
    'A signature of the card names its algorithm and key, and none is no algorithm.',
    { on: 'agent', needs: ['signatures'] },
    async (t) => {
      for (const signature of listAt(t.card, 'signatures')) {
        const header = parsed(decoded(textAt(signature, 'protected')))
        const [alg, kid] = [textAt(header, 'alg'), textAt(header, 'kid')]
        t.want(/^(ES|RS|PS)\d{3}$|^EdDSA$|^Ed25519$/.test(alg) && kid !== '', 'alg of public keys, and kid', header)
      }
    },
  ),
  check(
    'C17',
    ['SHOULD', '8.4.2'],
    'The protected header of a signature has typ JOSE.',
    { on: 'agent', needs: ['signatures'] },
    async (t) => {
      for (const signature of listAt(t.card, 'signatures')) {
        const header = parsed(decoded(textAt(signature, 'protected')))
        t.want(textAt(header, 'typ') === 'JOSE', 'typ JOSE', header)
      }
    },
  ),
  check('C18', ['MUST', '3.1.11'], 'The extended card is a valid agent card.', { on: 'each', needs: ['extended card'] }, async (t) => {
    const faults = faultsOf('AgentCard', await t.ready('GetExtendedAgentCard', {}))
    t.want(faults.length === 0, 'a valid AgentCard', faults.join('; '))
  }),
  check('C19', ['MUST', '4.5.1'], 'Addresses in security schemes are absolute.', once, async (t) => {
    const schemes = at(t.card, 'securitySchemes')
    for (const [path, value] of urlsIn(schemes, 'securitySchemes')) {
      t.want(URL.canParse(value), `an absolute address at ${path}`, value)
    }
  }),
  check('C20', ['MUST', '8.2'], 'Credentials and a version that is asked for change nothing of the public card.', once, async (t) => {
    const [open, known] = [await fetchCard(t), await fetchCard(t, headerList(t.headersOf()))]
    t.want(known.status === 200, 'the public card for known callers too', `HTTP ${known.status}`)
    const names = ['name', 'supportedInterfaces', 'capabilities']
    const differing = names.filter((name) => !same(at(parsed(open.body), name), at(parsed(known.body), name)))
    t.want(differing.length === 0, 'the same public card for everybody', `another ${differing.join(', ')}`)
  }),
]

function decoded(text: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0)))
  } catch {
    return ''
  }
}

function urlsIn(value: unknown, path: string): readonly (readonly [string, string])[] {
  if (!isMembers(value)) return []
  return Object.entries(value).flatMap(([name, one]) =>
    typeof one === 'string' && /Url$/.test(name) ? [[`${path}.${name}`, one] as const] : urlsIn(one, `${path}.${name}`),
  )
}

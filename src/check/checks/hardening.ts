/** H: what an agent bears, and what it gives away. Spec §13.4. */

import { check } from '../check.js'
import { cardPath } from '../discover.js'
import { headerOf } from '../exchange.js'
import { at, brief, parsed, put, textAt } from '../json.js'
import type { Trial } from '../trial.js'
import { NotProvoked } from '../verdict.js'
import { addressOf, headerList, tell } from '../wire.js'

/** Where a list is asked for by a body. */
function listing(t: Trial) {
  return { method: 'POST', url: t.door.url, headers: [...headerList(t.headersOf()), ['Content-Type', 'application/json'] as const] }
}

const rpc = { on: 'JSONRPC' } as const
const request = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":${params}}`

async function isServed(t: Trial, body: string, headers: readonly (readonly [string, string])[] = []): Promise<void> {
  const base = listing(t)
  const named = new Set(headers.map(([name]) => name.toLowerCase()))
  const exchange = await t.send({
    ...base,
    headers: [...base.headers.filter(([name]) => !named.has(name.toLowerCase())), ...headers],
    body,
  })
  t.want(
    at(parsed(exchange.body), 'result') !== undefined,
    'a result',
    `HTTP ${exchange.status}: ${brief(exchange.body || exchange.problem)}`,
  )
}

/** A request that nobody could mean is refused, by whatever code of the caller's side. */
async function isRefused(t: Trial, body: string): Promise<void> {
  const exchange = await t.send({ ...listing(t), body })
  const code = at(parsed(exchange.body), 'error.code')
  const { status = 0 } = exchange
  const isBlamed = (status >= 400 && status < 500) || (status === 200 && typeof code === 'number' && code !== -32603)
  t.want(isBlamed, 'a refusal', `HTTP ${exchange.status}: ${brief(exchange.body || exchange.problem)}`)
}

export const hardeningChecks = [
  check('H1', ['SHOULD', '13.4'], 'A body that is announced as far too large is refused before it comes.', rpc, async (t) => {
    const url = new URL(t.door.url)
    const headers = [
      ['Host', url.host],
      ...headerList(t.headersOf()),
      ['Content-Type', 'application/json'],
      ['Content-Length', '20000000000'],
    ]
    const head = [`POST ${url.pathname} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)].join('\r\n')
    const exchange = await t.raw(`${head}\r\n\r\n{"jsonrpc"`)
    t.want(
      exchange.status !== undefined && exchange.status >= 400 && exchange.status < 500,
      'HTTP 413',
      exchange.problem ?? `HTTP ${exchange.status}`,
    )
  }),
  check('H2', ['SHOULD', '13.4'], 'Lists within lists without end are refused.', rpc, (t) =>
    isRefused(t, request('['.repeat(20_000) + ']'.repeat(20_000))),
  ),
  check('H3', ['SHOULD', '13.4'], 'Objects within objects without end are refused.', { ...rpc, messages: 1 }, async (t) => {
    const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
    await isRefused(
      t,
      `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"${t.fresh()}","role":"ROLE_USER","parts":[{"data":${deep}}]}}}`,
    )
  }),
  check('H4', ['MUST', '9.3'], 'A body may come in chunks of unknown length.', rpc, (t) =>
    isServed(t, request('{}'), [['Transfer-Encoding', 'chunked']]),
  ),
  check('H5', ['MUST', '13.4'], 'A member called __proto__ does no harm.', rpc, async (t) => {
    await isServed(t, request('{"__proto__":{"pageSize":1},"constructor":{"prototype":{"pageSize":1}}}'))
    const page = await t.must('ListTasks', {})
    t.want(at(page, 'pageSize') === 50, 'pageSize 50 as ever', at(page, 'pageSize'))
  }),
  check('H6', ['SHOULD', '9.3'], 'A parameter of Content-Type changes nothing.', rpc, (t) =>
    isServed(t, request('{}'), [['Content-Type', 'application/json; charset=utf-8']]),
  ),
  check('H7', ['SHOULD', '9.3'], 'An address with a slash behind it is the same.', {}, async (t) => {
    const answer = await t.over({ ...t.door, url: `${t.door.url.replace(/\/$/, '')}/` }).call('ListTasks', {})
    t.want(answer.kind === 'result', 'a result', tell(t.binding, answer))
  }),
  check('H8', ['MUST', '13.4'], 'Web pages of any origin may not read answers with the credentials of their visitor.', rpc, async (t) => {
    const exchange = await t.send({
      ...listing(t),
      headers: [...listing(t).headers, ['Origin', 'https://evil.example']],
      body: request('{}'),
    })
    const allowed = headerOf(exchange, 'access-control-allow-origin')
    const isOpen =
      headerOf(exchange, 'access-control-allow-credentials') === 'true' && (allowed === '*' || allowed === 'https://evil.example')
    t.want(!isOpen, 'no credentials for a foreign origin', `Access-Control-Allow-Origin: ${allowed} with credentials`)
  }),
  check('H9', ['MUST', '8.3.1'], 'A Host that somebody made up is not in the card.', { on: 'agent' }, async (t) => {
    const exchange = await t.send({
      method: 'GET',
      url: `${t.base}${cardPath}`,
      headers: [
        ['Host', 'evil.example'],
        ['X-Forwarded-Host', 'evil.example'],
      ],
    })
    t.want(!exchange.body.includes('evil.example'), 'a card that names its own host', brief(exchange.body))
  }),
  check('H10', ['MUST', '13.4'], 'An id of any form is looked up, and not found.', {}, async (t) => {
    for (const id of ['../../etc/passwd', '%00', 'a b', 'žluť 🐎', "'; DROP TABLE task; --", 'x'.repeat(2_000), 'a:b', '{{7*7}}']) {
      const answer = await t.call('GetTask', { id })
      t.want(
        answer.kind === 'error' && (answer.http < 500 || t.binding === 'JSONRPC') && answer.code !== -32603,
        `TaskNotFound for ${brief(id, 40)}`,
        tell(t.binding, answer),
      )
    }
  }),
  check('H11', ['MUST', '9.3'], 'Requests at the same time are each answered with their own.', { messages: 6 }, async (t) => {
    const texts = Array.from({ length: 6 }, (_, i) => `echo ${t.fresh()} ${i}`)
    const answers = await Promise.all(
      texts.map((text) => {
        const message = t.prompt('complete')
        return t.call('SendMessage', { message: put(message, 'parts', [...(at(message, 'parts') as unknown[]), { text }]) })
      }),
    )
    answers.forEach((answer, i) => {
      if (answer.kind !== 'result') throw new NotProvoked(tell(t.binding, answer))
      const others = texts.filter((_, other) => other !== i).filter((text) => answer.exchange.body.includes(text))
      t.want(others.length === 0, `the task of ${texts[i]}`, `that of ${others.join(', ')}`)
    })
  }),
  check('H12', ['SHOULD', '13.4'], 'What one caller is told is not for caches to keep.', { needs: ['authentication'] }, async (t) => {
    const { exchange } = await t.call('ListTasks', {})
    const control = headerOf(exchange, 'cache-control')
    const isKept = control !== undefined && /\bpublic\b|max-age=[1-9]/i.test(control) && !/no-store|private/i.test(control)
    t.want(!isKept, 'an answer for one caller', control)
  }),
  check('H13', ['MUST', '9.3'], 'White space in JSON changes nothing.', rpc, (t) => isServed(t, `\r\n\t ${request(' {\n}\t')} \r\n`)),
  check('H14', ['SHOULD', '13.4'], 'Half of a character is refused, or kept out.', { ...rpc, messages: 1 }, async (t) => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"${t.fresh()}","role":"ROLE_USER","parts":[{"text":"half \\ud83d"}]}}}`
    const exchange = await t.send({ ...listing(t), body })
    const answer = parsed(exchange.body)
    t.want(
      exchange.status !== undefined && exchange.status < 500 && at(answer, 'error.code') !== -32603,
      'a refusal, or a task',
      `HTTP ${exchange.status}: ${brief(exchange.body || exchange.problem)}`,
    )
  }),
  check('H15', ['SHOULD', '9.3'], 'Bytes that are no UTF-8 are refused.', rpc, async (t) => {
    const body = new Uint8Array([
      ...new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"contextId":"'),
      0xff,
      0xfe,
      ...new TextEncoder().encode('"}}'),
    ])
    const exchange = await t.send({ ...listing(t), body })
    t.want(at(parsed(exchange.body), 'error.code') === -32700, 'code -32700', `HTTP ${exchange.status}: ${brief(exchange.body)}`)
  }),
  check('H16', ['SHOULD', '13.4'], 'An answer does not grow with what was wrong in its request.', {}, async (t) => {
    const { exchange } = await t.call('GetTask', { id: 'y'.repeat(6_000) })
    t.want(exchange.body.length < 6_000, 'an error of its own length', `${exchange.body.length} bytes`)
  }),
  check('H17', ['MUST', '3.3.2'], 'A member of a wrong kind is refused.', { messages: 1 }, async (t) => {
    await t.refuses('SendMessage', { message: put(t.prompt('complete'), 'parts', 'text') }, ['InvalidParamsError'])
  }),
  check('H18', ['MUST', '3.3.2'], 'A whole number that is none is refused.', { on: 'HTTP+JSON' }, async (t) => {
    const exchange = await t.send({ method: 'GET', url: addressOf(t.door, '/tasks?pageSize=many'), headers: headerList(t.headersOf()) })
    t.want(exchange.status === 400, 'HTTP 400', `HTTP ${exchange.status}: ${brief(exchange.body)}`)
  }),
  check('H19', ['MUST', '11.3'], 'An id in a path is decoded once.', { on: 'HTTP+JSON' }, async (t) => {
    const id = textAt(await t.finished(), 'id')
    const encoded = [...id].map((letter) => `%${letter.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')
    const exchange = await t.send({ method: 'GET', url: addressOf(t.door, `/tasks/${encoded}`), headers: headerList(t.headersOf()) })
    t.want(textAt(parsed(exchange.body), 'id') === id, `task ${id}`, `HTTP ${exchange.status}: ${brief(exchange.body)}`)
  }),
  check('H20', ['MUST', '5.7'], 'Members of a query that the protocol does not know are passed over.', { on: 'HTTP+JSON' }, async (t) => {
    const exchange = await t.send({ method: 'GET', url: addressOf(t.door, '/tasks?utm_source=x'), headers: headerList(t.headersOf()) })
    t.want(exchange.status === 200, 'HTTP 200', `HTTP ${exchange.status}: ${brief(exchange.body)}`)
  }),
]

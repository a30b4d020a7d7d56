/** Finding an agent: its card, and the interface to speak to it by. Spec §8.2, §8.3, §8.6, §5.2. */

import { InvalidAgentResponseError } from '../protocol/errors.js'
import type { AgentInterface, JsonObject } from '../protocol/wire.js'
import { type Binding, byStatus, parseBody } from './binding.js'
import { cardsBy, keepCard } from './card-cache.js'
import { exchange, type Line } from './exchange.js'
import { httpJson } from './http-json.js'
import { jsonRpc } from './json-rpc.js'
import type { ClientBinding, ConnectOptions } from './options.js'
import { withRetries } from './retry.js'
import { isObject, read } from './shapes.js'

export interface FoundAgent {
  /** The card as it came. */
  readonly card: JsonObject
  readonly binding: Binding
  /** Of the interface that was chosen. */
  readonly address: string
  readonly tenant: string | undefined
  readonly streams: boolean
}

const bindings: Readonly<Record<ClientBinding, (url: string) => Binding>> = { JSONRPC: jsonRpc, 'HTTP+JSON': httpJson }

/** `url` if it names a document of its own, else the well-known place below it: base paths are kept. */
export function cardUrl(url: string): string {
  const address = new URL(url)
  if (!/\.json$|\/\.well-known\//.test(address.pathname))
    address.pathname = `${address.pathname.replace(/\/$/, '')}/.well-known/agent-card.json`
  return address.href
}

/** @throws {InvalidAgentResponseError} for what is no card, or one without an interface that this client speaks */
export async function findAgent(line: Line, url: string, { prefer = [], verifyCard, signal }: ConnectOptions): Promise<FoundAgent> {
  const { card, said, home, keep } = await withRetries(line, () => fetchCard(line, cardUrl(url), signal), { repeatable: true, signal })
  await verifyCard?.(card)
  const { supportedInterfaces, capabilities } = read('AgentCard', card, said)
  const usable = supportedInterfaces.filter(speaks)
  const [chosen] = [...prefer.flatMap((name) => usable.filter((one) => nameOf(one) === name)), ...usable]
  if (chosen === undefined) {
    const had = supportedInterfaces.map(({ protocolBinding, protocolVersion }) => `${protocolBinding} ${protocolVersion}`).join(', ')
    throw new InvalidAgentResponseError(`${said}: a card whose interfaces (${had || 'none'}) are none of JSONRPC 1.0 and HTTP+JSON 1.0.`)
  }
  // A card that is of no use is not kept: it may be mended the next moment.
  keep()
  // Some cards give a path, which is one from where they stand.
  const address = new URL(chosen.url, home).href
  // What `speaks` has looked up is there.
  const binding = bindings[nameOf(chosen) as ClientBinding](address)
  return { card, binding, address, tenant: chosen.tenant, streams: capabilities?.streaming === true }
}

const nameOf = ({ protocolBinding }: AgentInterface) => protocolBinding.toUpperCase()

function speaks(one: AgentInterface): boolean {
  return Object.hasOwn(bindings, nameOf(one)) && /^1\.0(\.|$)/.test(one.protocolVersion ?? '') && /^(https?:|\/)/.test(one.url)
}

interface FetchedCard {
  readonly card: JsonObject
  /** How sentences about it begin. */
  readonly said: string
  /** Where it is, after redirects. */
  readonly home: string
  /** For the next one who asks. */
  readonly keep: () => void
}

const mostRedirects = 5

async function fetchCard(line: Line, from: string, signal: AbortSignal | undefined): Promise<FetchedCard> {
  const { fetch, world, auth, mayShow, limits } = line
  const cards = cardsBy(fetch)
  let home = from
  for (let hops = 0; ; hops++) {
    const key = `${home} ${auth !== undefined && mayShow(home)}`
    const since = world.now()
    const kept = cards.get(key)
    // Another world's clock may be behind.
    if (kept && since >= kept.since && since < kept.until) return { card: JSON.parse(kept.text), said: kept.said, home, keep: () => {} }
    const headers = { accept: 'application/json', ...(kept?.etag && { 'if-none-match': kept.etag }) }
    const reply = await exchange(line, { method: 'GET', url: home, headers }, { signal }, limits.connectMs)
    const { status, said } = reply
    const location = reply.headers.get('location')
    if (status >= 300 && status < 400 && location !== null && URL.canParse(location, home)) {
      reply.close()
      if (hops === mostRedirects) throw new InvalidAgentResponseError(`${from} leads on and on: ${said} after ${hops} redirects.`)
      home = new URL(location, home).href
      continue
    }
    const body = await reply.text()
    const isKnown = status === 304 && kept !== undefined
    if (status !== 200 && !isKnown) throw status < 400 ? new InvalidAgentResponseError(`${said} and no card.`) : byStatus(reply)
    const text = isKnown ? kept.text : body
    const card = parseBody(text, reply)
    if (!isObject(card)) throw new InvalidAgentResponseError(`${said}, which is no card.`)
    return { card, said, home, keep: () => keepCard(cards, key, { text, said, since }, reply) }
  }
}

/** Finding an agent: its card, and the interface to speak to it by. Spec §8.2, §8.3, §5.2. */

import { InvalidAgentResponseError } from '../protocol/errors.js'
import type { AgentInterface, JsonObject } from '../protocol/wire.js'
import { type Binding, byStatus, parseBody } from './binding.js'
import { type Ask, exchange, type Line, type Reply } from './exchange.js'
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
  if (/\.json$|\/\.well-known\//.test(address.pathname)) return address.href
  address.pathname = `${address.pathname.replace(/\/$/, '')}/.well-known/agent-card.json`
  return address.href
}

/** @throws {InvalidAgentResponseError} for what is no card, or one without an interface that this client speaks */
export async function findAgent(line: Line, url: string, { prefer, verifyCard, signal }: ConnectOptions): Promise<FoundAgent> {
  const { world, limits } = line
  const from = cardUrl(url)
  const retry = { world, retries: limits.retries, repeatable: true, signal }
  const { card, reply } = await withRetries(() => fetchCard(line, from, signal), retry)
  await verifyCard?.(card)
  const { supportedInterfaces, capabilities = {} } = read('AgentCard', card, reply.said)
  const usable = supportedInterfaces.filter(speaks)
  const order: readonly string[] = prefer ?? []
  const [chosen] = [...order.flatMap((name) => usable.filter(({ protocolBinding }) => protocolBinding.toUpperCase() === name)), ...usable]
  if (chosen === undefined) {
    const had = supportedInterfaces.map(({ protocolBinding, protocolVersion }) => `${protocolBinding} ${protocolVersion ?? ''}`).join(', ')
    throw new InvalidAgentResponseError(
      `${reply.said}: a card whose interfaces (${had || 'none'}) are none of JSONRPC 1.0 and HTTP+JSON 1.0.`,
    )
  }
  // What `speaks` has looked up is there; some cards give a path, which is one from where they stand.
  const address = new URL(chosen.url, reply.address).href
  const binding = bindings[chosen.protocolBinding.toUpperCase() as ClientBinding](address)
  return { card, binding, address, tenant: chosen.tenant, streams: capabilities.streaming === true }
}

function speaks({ protocolBinding, protocolVersion, url }: AgentInterface): boolean {
  return Object.hasOwn(bindings, protocolBinding.toUpperCase()) && /^1\.0(\.|$)/.test(protocolVersion ?? '') && /^(https?:|\/)/.test(url)
}

const mostRedirects = 5

async function fetchCard(line: Line, from: string, signal: AbortSignal | undefined): Promise<{ card: JsonObject; reply: Reply }> {
  let url = from
  for (let hops = 0; ; hops++) {
    const ask: Ask = { method: 'GET', url, headers: { accept: 'application/json' } }
    const reply = await exchange(line, ask, { ...(signal && { signal }) }, line.limits.connectMs)
    const location = reply.headers.get('location')
    if (reply.status >= 300 && reply.status < 400 && location !== null && URL.canParse(location, url)) {
      reply.close()
      if (hops === mostRedirects) throw new InvalidAgentResponseError(`${from} leads on and on: ${reply.said} after ${hops} redirects.`)
      url = new URL(location, url).href
      continue
    }
    const text = await reply.text()
    if (reply.status !== 200) throw reply.status < 400 ? new InvalidAgentResponseError(`${reply.said} and no card.`) : byStatus(reply)
    const card = parseBody(text, reply)
    if (!isObject(card)) throw new InvalidAgentResponseError(`${reply.said}, which is no card.`)
    return { card, reply }
  }
}

/** Finds an agent: its card, and the interfaces of it that the checker speaks. Spec §8.2, §8.3. */

import { type Binding, bindings } from './check.js'
import type { Exchange } from './exchange.js'
import { brief, isMembers, listAt, type Members, parsed, textAt } from './json.js'
import type { Probe } from './probe.js'
import type { Door } from './wire.js'

export type Discovered =
  | { readonly kind: 'agent'; readonly base: string; readonly card: Members; readonly doors: readonly Door[]; readonly exchange: Exchange }
  | { readonly kind: 'unreachable' | 'no agent'; readonly problem: string; readonly exchange: Exchange }

export const cardPath = '/.well-known/agent-card.json'

/** @param url of the agent's host, or of the card itself */
export async function discover(probe: Probe, url: string, transports: readonly Binding[] = bindings): Promise<Discovered> {
  const cardUrl = url.endsWith('.json') ? url : `${url.replace(/\/+$/, '')}${cardPath}`
  const base = cardUrl.endsWith(cardPath) ? cardUrl.slice(0, -cardPath.length) : new URL(cardUrl).origin
  const exchange = await probe.send({ method: 'GET', url: cardUrl, headers: [['Accept', 'application/json']] })
  const none = (problem: string): Discovered => ({ kind: 'no agent', problem, exchange })
  if (exchange.broken === 'unreachable') return { kind: 'unreachable', problem: exchange.problem ?? 'no connection', exchange }
  if (exchange.broken) return none(`the agent card did not come: ${exchange.problem}`)
  if (exchange.status !== 200) return none(`${cardUrl} answers with HTTP ${exchange.status}; an agent has its card there`)
  const card = parsed(exchange.body)
  if (!isMembers(card)) return none(`the agent card is no JSON object: ${brief(exchange.body, 60)}`)
  const doors = doorsOf(card, transports)
  if (doors.length === 0) return none(`the agent card names no interface of A2A 1.0 on ${transports.join(' or ')} with an address`)
  return { kind: 'agent', base, card, doors, exchange }
}

/** The first interface of each binding: the one that the agent prefers. */
function doorsOf(card: Members, transports: readonly Binding[]): readonly Door[] {
  const declared = listAt(card, 'supportedInterfaces')
  return transports.flatMap((binding) => {
    const one = declared.find(
      (door) =>
        textAt(door, 'protocolBinding') === binding && /^1(\.|$)/.test(textAt(door, 'protocolVersion')) && isHttp(textAt(door, 'url')),
    )
    return one === undefined ? [] : [{ binding, url: textAt(one, 'url'), tenant: textAt(one, 'tenant') }]
  })
}

function isHttp(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url)
}

/**
 * Cards that were had before, and for how long they are good without a question. RFC 9111, with the care of a cache that
 * several users share: what depends on who asks is not kept.
 */

import type { Reply } from './exchange.js'
import type { Fetching } from './options.js'

export interface KeptCard {
  readonly text: string
  /** How sentences about it begin. */
  readonly said: string
  readonly etag: string | null
  /** When it was had and until when it is good, in milliseconds. */
  readonly since: number
  readonly until: number
}

const mostCards = 64
const longestCard = 1 << 18 // characters

// Whoever brings a Fetch of their own is in a network of their own.
const shelves = new WeakMap<Fetching, Map<string, KeptCard>>()

/** The cards that came by `fetch`. */
export function cardsBy(fetch: Fetching): Map<string, KeptCard> {
  const cards = shelves.get(fetch) ?? new Map<string, KeptCard>()
  shelves.set(fetch, cards)
  return cards
}

/** Keeps what came with `reply` if that allows it; an older one goes in any case. */
export function keepCard(
  cards: Map<string, KeptCard>,
  key: string,
  { text, said, since }: Pick<KeptCard, 'text' | 'said' | 'since'>,
  { headers, credential }: Reply,
): void {
  const header = (name: string) => (headers.get(name) ?? '').toLowerCase()
  const control = header('cache-control')
  const etag = headers.get('etag')
  const seconds = control.includes('no-cache') ? 0 : Number(/max-age="?(\d+)/.exec(control)?.[1] ?? 0) - Number(header('age'))
  cards.delete(key)
  if (/no-store|private/.test(control) || (credential.length > 0 && !control.includes('public'))) return
  if (
    header('vary')
      .split(/[\s,]+/)
      .some((name) => ['*', 'cookie', ...credential].includes(name))
  )
    return
  if (text.length > longestCard || (etag === null && !(seconds > 0))) return
  cards.set(key, { text, said, etag, since, until: since + seconds * 1000 })
  const [oldest] = cards.keys()
  if (cards.size > mostCards && oldest !== undefined) cards.delete(oldest)
}

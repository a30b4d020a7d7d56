/** The public agent card over HTTP: signed if asked for, cacheable, and 304 for who has it already. Spec §8.2, §8.4, §8.6. */

import type { HttpReply } from '../bindings/http.js'
import { MethodNotFoundError } from '../protocol/errors.js'
import type { AgentCard } from '../protocol/wire.js'
import { digestHex } from '../support/crypto.js'
import { isFresh } from './conditional.js'
import type { RawRequest } from './handler.js'
import type { PublicUrl } from './public-url.js'

export const cardPath = '/.well-known/agent-card.json'

const maxAgeSeconds = 300
/** A trusted proxy may speak for several names; one that makes up names must not fill the memory. */
const keptCards = 32

interface CardDoorOptions {
  /** The card of a server that is reached under `url`, signed if cards are. */
  readonly card: (url: string) => Promise<AgentCard>
  readonly publicUrl: PublicUrl
  /** Headers of a request that the card depends on, for caches. */
  readonly vary: string | undefined
  /** When the server began to serve this card, in milliseconds. */
  readonly since: number
}

interface PublishedCard {
  readonly body: string
  readonly etag: string
}

export type CardDoor = (request: RawRequest) => Promise<HttpReply>

export function createCardDoor({ card, publicUrl, vary, since }: CardDoorOptions): CardDoor {
  // Signatures differ each time: a card is made once per URL, or its ETag would not hold.
  const published = new Map<string, Promise<PublishedCard>>()
  // HTTP dates have whole seconds (RFC 9110 §5.6.7).
  const lastModified = Math.floor(since / 1000) * 1000

  function publish(url: string): Promise<PublishedCard> {
    const made = published.get(url) ?? card(url).then(toPublished)
    // The ones in use stay: the oldest is the one that was asked for the longest time ago.
    published.delete(url)
    published.set(url, made)
    made.catch(() => published.get(url) === made && published.delete(url))
    const [oldest] = published.keys()
    if (published.size > keptCards && oldest !== undefined) published.delete(oldest)
    return made
  }

  return async (request) => {
    const { method, header } = request
    if (method !== 'GET' && method !== 'HEAD') throw new MethodNotFoundError(method, ['GET', 'HEAD'])
    const { body, etag } = await publish(publicUrl(request))
    const headers = {
      'content-type': 'application/json',
      'cache-control': `public, max-age=${maxAgeSeconds}`,
      etag,
      'last-modified': new Date(lastModified).toUTCString(),
      ...(vary !== undefined && { vary }),
    }
    return isFresh(header, { etag, lastModified }) ? { status: 304, headers, body: '' } : { status: 200, headers, body }
  }
}

function toPublished(card: AgentCard): PublishedCard {
  const body = JSON.stringify(card)
  return { body, etag: `"${digestHex(body).slice(0, 32)}"` }
}

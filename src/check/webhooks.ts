/** A receiver of push notifications, as checks use one. */

import type { HeaderList } from './exchange.js'

export interface Delivery {
  readonly method: string
  readonly headers: HeaderList
  readonly body: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

export interface Webhook {
  readonly url: string
  /** What has come so far. */
  readonly deliveries: readonly Delivery[]
}

export interface Webhooks {
  /** An address of its own, which answers with the statuses one after the other and from then on with the last. Default 200. */
  open(statuses?: readonly number[], headers?: HeaderList): Webhook
}

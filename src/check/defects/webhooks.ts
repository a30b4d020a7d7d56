/** Webhooks in memory: what a server posts arrives here without a socket. */

import type { CoreOptions } from '../../server/create-server.js'
import type { World } from '../../support/world.js'
import type { Delivery, Webhooks } from '../webhooks.js'

export type OpenPost = NonNullable<CoreOptions['openPost']>

export interface MemoryWebhooks extends Webhooks {
  readonly openPost: OpenPost
}

export function memoryWebhooks(world: World): MemoryWebhooks {
  const opened = new Map<string, { readonly statuses: readonly number[]; readonly deliveries: Delivery[] }>()
  return {
    open(statuses = [200]) {
      const url = `https://webhooks.example/${opened.size + 1}`
      const deliveries: Delivery[] = []
      opened.set(url, { statuses, deliveries })
      return { url, deliveries }
    },
    openPost: () => ({
      async post({ url, headers, body }) {
        const webhook = opened.get(url)
        if (!webhook) throw new Error('nobody listens there')
        const { statuses, deliveries } = webhook
        deliveries.push({ method: 'POST', headers: Object.entries(headers), body, at: world.now() })
        return statuses[Math.min(deliveries.length, statuses.length) - 1] ?? 200
      },
      checkAddresses: async () => {},
      close: async () => {},
    }),
  }
}

/** A receiver of push notifications on a socket of this machine. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { World } from '../support/world.js'
import type { HeaderList } from './exchange.js'
import type { Delivery, Webhooks } from './webhooks.js'

export interface WebhookOptions {
  readonly world: World
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Default 0: any free one. */
  readonly port?: number
  /** Where the agent reaches this receiver. Default: its own address. */
  readonly publicUrl?: string
}

export interface ListeningWebhooks extends Webhooks {
  readonly url: string
  close(): Promise<void>
}

/** Bytes of a delivery that are kept. */
const mostBytes = 1 << 20

export async function listenForWebhooks({ world, host = '127.0.0.1', port = 0, publicUrl }: WebhookOptions): Promise<ListeningWebhooks> {
  const opened = new Map<string, { statuses: readonly number[]; headers: HeaderList; deliveries: Delivery[] }>()
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (piece: string) => {
      if (body.length < mostBytes) body += piece
    })
    request.on('error', () => {})
    request.on('end', () => {
      const path = request.url?.split('/').pop() ?? ''
      const webhook = opened.get(path)
      if (!webhook) return response.writeHead(404).end()
      const { statuses, headers, deliveries } = webhook
      const pairs = request.rawHeaders.flatMap((name, i, all) => (i % 2 === 0 ? [[name, all[i + 1] ?? ''] as const] : []))
      deliveries.push({ method: request.method ?? '', headers: pairs, body, at: world.now() })
      const status = statuses[Math.min(deliveries.length, statuses.length) - 1] ?? 200
      return response.writeHead(status, Object.fromEntries(headers)).end()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  // Listening on a port, the address is one of host and port.
  const address = server.address() as AddressInfo
  const url = (publicUrl ?? `http://${host}:${address.port}`).replace(/\/+$/, '')
  return {
    url,
    open(statuses = [200], headers = []) {
      // Nobody else should be able to post here by guessing.
      const path = Array.from(world.randomBytes(12), (byte) => byte.toString(16).padStart(2, '0')).join('')
      const deliveries: Delivery[] = []
      opened.set(path, { statuses, headers, deliveries })
      return { url: `${url}/${path}`, deliveries }
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

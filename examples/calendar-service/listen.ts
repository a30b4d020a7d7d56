/** A service of Requests and Responses on a socket of this machine. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const maxBodyBytes = 64 << 10

/** Listens on a free port of 127.0.0.1. */
export async function listen(service: (request: Request) => Promise<Response>): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((incoming, outgoing) => {
    answer(incoming, service)
      .catch(() => new Response('Something went wrong here.\n', { status: 500 }))
      .then((response) => send(response, outgoing))
      // Whoever asked has gone.
      .catch(() => outgoing.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  // Listening on a port, the address is one of host and port.
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, server }
}

async function answer(incoming: IncomingMessage, service: (request: Request) => Promise<Response>): Promise<Response> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of incoming) {
    bytes += chunk.length
    if (bytes > maxBodyBytes) return new Response('That is too long.\n', { status: 413, headers: { connection: 'close' } })
    chunks.push(chunk)
  }
  const { method = 'GET', url = '/', headers } = incoming
  if (!url.startsWith('/')) return new Response(null, { status: 400 })
  const one = Object.entries(headers).map(([name, value]) => [name, String(value)] satisfies [string, string])
  // Joined as texts: "//elsewhere" would otherwise be another host.
  const target = `http://calendar.local${url}`
  return service(new Request(target, { method, headers: one, ...(bytes > 0 && { body: Buffer.concat(chunks) }) }))
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  outgoing.end(Buffer.from(await response.arrayBuffer()))
}

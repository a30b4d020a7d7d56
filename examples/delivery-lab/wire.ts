/** Every TCP connection inside this process, with both of its ends: what it has carried, and whether anything is still under way. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

export interface Wire {
  /** Payload that all connections have carried, in both directions. */
  bytes(): number
  /** Both ends of each connection have read what the other one wrote, and know of each other's end. */
  isQuiet(): boolean
  /** Grows with whatever happens on a connection. */
  progress(): number
  /** Called with the local port of each HTTP request that a server has begun to read. */
  onRequest: (port: number | undefined) => void
  /** Breaks off the connections to a server, as a gateway does that starts anew. */
  cut(port: number): void
  close(): void
}

interface Connection {
  readonly client: Socket
  /** Both known once it stands: to a socket that is closed, they are lost. */
  clientPort?: number | undefined
  serverPort?: number | undefined
  server?: Socket
}

export function openWire(): Wire {
  const connections: Connection[] = []
  /** Accepted before their clients know that they are connected, by the client's port. */
  const accepted = new Map<number | undefined, Socket>()

  // Node says which messages its channels carry; its types do not.
  const onClient = (message: unknown) => {
    const { socket: client } = message as { readonly socket: Socket }
    const connection: Connection = { client }
    connections.push(connection)
    client.once('connect', () => {
      connection.clientPort = client.localPort
      connection.serverPort = client.remotePort
      const server = accepted.get(client.localPort)
      if (accepted.delete(client.localPort) && server) connection.server = server
    })
  }
  const onServer = (message: unknown) => {
    const { socket: server } = message as { readonly socket: Socket }
    const connection = connections.findLast(({ clientPort }) => clientPort === server.remotePort)
    if (connection && !connection.server) connection.server = server
    else accepted.set(server.remotePort, server)
  }
  const onRequest = (message: unknown) => wire.onRequest((message as { readonly request: IncomingMessage }).request.socket.localPort)

  subscribe('net.client.socket', onClient)
  subscribe('net.server.socket', onServer)
  subscribe('http.server.request.start', onRequest)

  const wire: Wire = {
    bytes: () => sum(connections, ({ client }) => client.bytesRead + client.bytesWritten),
    isQuiet: () => connections.every(isQuiet),
    progress: () => sum(connections, ({ client, server }) => 1 + progressOf(client) + (server ? progressOf(server) : 0)),
    onRequest() {},
    cut(port) {
      for (const { serverPort, server } of connections) if (serverPort === port) server?.resetAndDestroy()
    },
    close() {
      unsubscribe('net.client.socket', onClient)
      unsubscribe('net.server.socket', onServer)
      unsubscribe('http.server.request.start', onRequest)
    },
  }
  return wire
}

function isQuiet({ client, server }: Connection): boolean {
  if (!server) return client.destroyed
  if (client.destroyed || server.destroyed) return client.destroyed && server.destroyed
  return client.bytesWritten === server.bytesRead && server.bytesWritten === client.bytesRead
}

function progressOf({ bytesRead, bytesWritten, destroyed }: Socket): number {
  return bytesRead + bytesWritten + (destroyed ? 1 : 0)
}

function sum<T>(list: readonly T[], numberOf: (one: T) => number): number {
  return list.reduce((total, one) => total + numberOf(one), 0)
}

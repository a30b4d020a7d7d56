/**
 * Who sees a connection to a honeypot: the record of what the connector dials, and, in a network of the test's own, listeners at
 * their very addresses. There nothing is stood in for but the look-up of names, and the kernel counts connections as well.
 */

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { onTestFinished } from 'vitest'
import { type Dial, dialAddress } from '../../src/net/connector.js'
import { certificate, key } from '../net/certificate.js'
import { honeypots, ssrfVectors } from '../net/kit.js'

/** The variable that says that this process lives in a network of its own, which has the addresses below. */
export const listening = 'ERRAND_HONEYPOTS_LISTEN'
export const isListening = process.env[listening] !== undefined

/** Of the public internet: here a server answers. */
export const publicAddress = '93.184.216.34'

export interface Watch {
  readonly dial: Dial
  /** Addresses that were dialled. */
  readonly dialled: string[]
  /** Honeypots that were reached, with their ports. */
  readonly reached: string[]
  /** Connections that were begun in this network, whoever began them; without a network of its own, those that were dialled. */
  begun(): number
  /** What the server at the public address answers. Default: 204. */
  answer: RequestListener
}

export async function openWatch(): Promise<Watch> {
  const dialled: string[] = []
  const reached: string[] = []
  const server = createTlsServer({ key, cert: certificate }, (request, response) => watch.answer(request, response))
  server.listen(isListening ? 443 : 0, isListening ? publicAddress : '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  // Listening on a port, the address is one of host and port.
  const { address, port } = server.address() as AddressInfo
  if (isListening) await Promise.all(honeypots.flatMap((one) => ports.map((at) => trap(one, at, reached))))
  const before = isListening ? activeOpens() : 0
  const watch: Watch = {
    dialled,
    reached,
    async dial(target, signal) {
      dialled.push(target.address)
      // Its certificate is of another name; addresses are what is looked at here.
      if (target.address === publicAddress) {
        const there = isListening ? target : { address, port }
        return dialAddress({ ...there, tlsHost: 'files.internal' }, signal, { ca: certificate })
      }
      if (!isListening) throw new Error('nothing answers')
      return dialAddress(target, signal)
    },
    begun: () => (isListening ? activeOpens() - before : dialled.length),
    answer: (_, response) => void response.writeHead(204).end(),
  }
  return watch
}

/** Those of the vectors, and what usually listens at such addresses. */
const ports = [
  ...new Set([80, 443, 8080, ...ssrfVectors.flatMap(({ url }) => (URL.canParse(url) ? [Number(new URL(url).port)] : []))]),
].filter((port) => port > 0)

async function trap(address: string, port: number, reached: string[]): Promise<void> {
  const server = createServer((socket) => {
    reached.push(`${address}:${port}`)
    socket.on('error', () => {}).destroy()
  })
  server.listen(port, address)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
}

/** RFC 4022: times that a connection of this network left CLOSED for SYN-SENT, over IPv4 and IPv6. */
function activeOpens(): number {
  const [names = '', values = ''] = readFileSync('/proc/self/net/snmp', 'utf8').match(/^Tcp:.*$/gm) ?? []
  return Number(values.split(' ')[names.split(' ').indexOf('ActiveOpens')])
}

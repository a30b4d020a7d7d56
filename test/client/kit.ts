/** What tests of the client share: agents made of bytes, connections to our own server, and wires that are cut. */

import { onTestFinished } from 'vitest'
import { type Client, type ConnectOptions, connect, type TaskEvent } from '../../src/client.js'
import type { Server } from '../../src/index.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { scriptAgent } from '../harness/script-agent.js'
import { openServer } from '../harness/server.js'

type Bytes = string | Uint8Array
type Handler = (request: Request, body: any) => Response | Promise<Response>

export const cardOf = (more: Readonly<Record<string, unknown>> = {}) => ({
  name: 'Bytes',
  description: 'Says what the test says.',
  version: '1',
  capabilities: { streaming: true },
  supportedInterfaces: [{ url: 'http://bytes.test/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  ...more,
})

export const json = (body: unknown, init: ResponseInit = {}) =>
  new Response(JSON.stringify(body), { ...init, headers: { 'content-type': 'application/json', ...init.headers } })

/** An event stream of these pieces; afterwards it ends, stays silent, or breaks. */
export function sse(pieces: Iterable<Bytes>, then: 'end' | 'silence' | 'break' = 'end', onCancel: () => void = () => {}): Response {
  const encoder = new TextEncoder()
  const source = pieces[Symbol.iterator]()
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const { done, value } = source.next()
        if (!done) controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value)
        else if (then === 'end') controller.close()
        else if (then === 'break') controller.error(new Error('socket hang up'))
        else return new Promise(() => {})
        return undefined
      },
      cancel: onCancel,
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

/** The data of a JSON-RPC frame. */
export const rpc = (result: unknown) => JSON.stringify({ jsonrpc: '2.0', id: 1, result })
export const frame = (result: unknown, id?: number) => `${id === undefined ? '' : `id: ${id}\n`}data: ${rpc(result)}\n\n`

export const taskFrame = (state = 'WORKING', more: Readonly<Record<string, unknown>> = {}) => ({
  task: { id: 't1', contextId: 'c1', status: { state: `TASK_STATE_${state}` }, ...more },
})
export const statusFrame = (state: string, text?: string) => ({
  statusUpdate: {
    taskId: 't1',
    contextId: 'c1',
    status: { state: `TASK_STATE_${state}`, ...(text && { message: { messageId: `s-${text}`, role: 'ROLE_AGENT', parts: [{ text }] } }) },
  },
})
export const chunkFrame = (text: string, more: Readonly<Record<string, unknown>> = {}) => ({
  artifactUpdate: { taskId: 't1', contextId: 'c1', artifact: { artifactId: 'a', parts: [{ text }] }, append: true, ...more },
})

/** An agent at http://bytes.test whose every answer but the card is written by the test. */
export function bytesAgent(handler: Handler, options: ConnectOptions = {}, card: unknown = cardOf()): Promise<Client> {
  return connect('http://bytes.test', {
    ...options,
    fetch: async (request) => {
      if (request.url.endsWith('/agent-card.json')) return json(card)
      return handler(request, request.method === 'POST' ? await request.json() : undefined)
    },
  })
}

/** Our server with the script agent, in memory. */
export async function openScript(options: Parameters<typeof openServer>[1] = {}): Promise<Server> {
  const server = await openServer(scriptAgent, options)
  onTestFinished(() => server.close())
  return server
}

/** What a loop over the events sees, and the task it ends with. */
export async function collect(events: AsyncIterable<TaskEvent>): Promise<readonly TaskEvent[]> {
  const seen: TaskEvent[] = []
  for await (const event of events) seen.push(event)
  return seen
}

/** The artifacts as a reader shows them who knows the deltas alone. */
export function shown(events: readonly TaskEvent[]): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {}
  for (const event of events) {
    if (event.kind !== 'artifact') continue
    const id = event.artifact.artifactId
    const delta = event.delta.map((part) => part.text ?? JSON.stringify(part.data)).join('')
    texts[id] = (event.replaced ? '' : (texts[id] ?? '')) + delta
  }
  return texts
}

export const statesOf = (events: readonly TaskEvent[]) =>
  events.flatMap((event) => (event.kind === 'status' ? [event.state.slice('TASK_STATE_'.length)] : []))

/** A world in which waiting takes no time. */
export const hasty = { ...virtualWorld(), timer: (ms: number, fire: () => void) => hastyTimer(ms, fire) }
function hastyTimer(ms: number, fire: () => void): () => void {
  // The limits of the client are longer than its pauses between tries.
  if (ms > 25_000) return () => {}
  const handle = setImmediate(fire)
  return () => clearImmediate(handle)
}

/** What tests of the push receiver share: an agent's posts, made by hand as the protocol has them. */

import {
  type PushEvent,
  type PushReceiver,
  type PushReceiverOptions,
  type PushTarget,
  pushReceiver,
  type TaskEvent,
} from '../../src/client.js'
import { type VirtualWorld, virtualWorld } from '../../src/testing/virtual-world.js'

export const publicUrl = 'https://me.example/a2a-push'
export const secret = 'a secret for tests: 32 characters or more'

export interface OpenedReceiver {
  readonly receiver: PushReceiver
  readonly world: VirtualWorld
  /** Answers with the status. */
  post(body: unknown, headers?: Readonly<Record<string, string>>): Promise<number>
}

export function openReceiver(options: Partial<PushReceiverOptions> = {}): OpenedReceiver {
  const world = virtualWorld()
  const receiver = pushReceiver({ publicUrl, secret, world, ...options })
  return { receiver, world, post: async (body, headers) => (await receiver.fetch(postOf(body, headers))).status }
}

export function postOf(body: unknown, headers: Readonly<Record<string, string>> = {}): Request {
  const text = typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream ? body : JSON.stringify(body)
  const init = { method: 'POST', body: text as BodyInit, headers: { 'content-type': 'application/a2a+json', ...headers }, duplex: 'half' }
  return new Request(publicUrl, init as RequestInit)
}

/** The headers of our own server's posts to a target. */
export function shows(target: PushTarget, key?: string): Record<string, string> {
  const { scheme = '', credentials = '' } = target.authentication ?? {}
  return {
    authorization: `${scheme} ${credentials}`,
    'x-a2a-notification-token': target.token ?? '',
    ...(key !== undefined && { 'idempotency-key': key }),
  }
}

export const status = (taskId: string, state = 'WORKING', more: object = {}) => ({
  statusUpdate: { taskId, contextId: 'c', status: { state: `TASK_STATE_${state}`, ...more } },
})
export const chunk = (taskId: string, text: string, more: object = {}) => ({
  artifactUpdate: { taskId, contextId: 'c', artifact: { artifactId: 'a', parts: [{ text }] }, append: true, ...more },
})

/** What a loop sees, and how it ends. */
export function gather<Event>(events: AsyncIterable<Event>): { readonly seen: Event[]; readonly ended: Promise<unknown> } {
  const seen: Event[] = []
  const run = async () => {
    for await (const event of events) seen.push(event)
  }
  const ended = run().then(
    () => 'ended',
    (error: unknown) => error,
  )
  return { seen, ended }
}

/** What a loop over pushes or over a stream sees, in few words. */
export function said(event: PushEvent | TaskEvent): string {
  if (event.kind === 'status') return event.state.slice('TASK_STATE_'.length)
  return event.kind === 'artifact' ? event.delta.map(({ text }) => text).join('') : event.kind
}

export const brief = (event: PushEvent): string => `${event.taskId} ${said(event)}`

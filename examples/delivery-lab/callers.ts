/** Five callers, each with its own way to learn that its job has finished. */

import type { Client, PushConfig, PushReceiver, TaskState } from 'errand/client'
import type { Clock } from './clock.js'
import { messageFor } from './job.js'
import type { Mechanism } from './model.js'

/** What a caller has at hand. */
export interface Desk {
  readonly clock: Clock
  /** Of the agent's binding HTTP+JSON. */
  readonly url: string
  readonly client: Client
  readonly hooks: PushReceiver
  /** Breaks off all connections to the agent. */
  readonly cut: () => void
  /** The caller has got an event by a stream. */
  readonly onEvent: () => void
}

export type Job = Mechanism & { readonly jobSeconds: number }

/** Sends the job, and settles at the moment at which the caller knows that it is completed. */
export async function learn(desk: Desk, job: Job): Promise<void> {
  const state = await stateAtEnd(desk, job)
  if (state !== 'TASK_STATE_COMPLETED') throw new Error(`the job ended as ${state}`)
}

function stateAtEnd(desk: Desk, job: Job): Promise<TaskState | undefined> {
  switch (job.mechanism) {
    case 'poll':
      return poll(desk, job.jobSeconds, job.everySeconds)
    case 'blocking':
      return block(desk, job.jobSeconds)
    case 'stream':
      return stream(desk, job.jobSeconds)
    case 'stream-cut':
      void desk.clock.sleep(job.jobSeconds / 2 - cutBeforeHalf).then(desk.cut)
      return stream(desk, job.jobSeconds)
    case 'push':
      return bePushed(desk, job.jobSeconds)
  }
}

/** So that a report comes while nobody is connected. */
const cutBeforeHalf = 0.1

async function poll({ clock, url, client }: Desk, jobSeconds: number, everySeconds: number): Promise<TaskState> {
  const { id } = await clock.atOnce(() => send(url, jobSeconds, { returnImmediately: true }))
  for (;;) {
    const { status } = await clock.atOnce(() => client.task(id).get())
    if (isFinal(status.state)) return status.state
    await clock.sleep(everySeconds)
  }
}

async function block({ url }: Desk, jobSeconds: number): Promise<TaskState> {
  const { status } = await send(url, jobSeconds)
  return status.state
}

async function stream({ client, onEvent }: Desk, jobSeconds: number): Promise<TaskState | undefined> {
  let state: TaskState | undefined
  for await (const event of client.send(messageFor(jobSeconds))) {
    onEvent()
    if (event.kind === 'status') state = event.state
  }
  return state
}

async function bePushed({ clock, url, hooks }: Desk, jobSeconds: number): Promise<TaskState | undefined> {
  const target = hooks.target()
  await clock.atOnce(() => send(url, jobSeconds, { returnImmediately: true, taskPushNotificationConfig: target }))
  let state: TaskState | undefined
  for await (const event of target) if (event.kind === 'status') state = event.state
  return state
}

interface SendConfiguration {
  readonly returnImmediately?: boolean
  readonly taskPushNotificationConfig?: PushConfig
}

interface SentTask {
  readonly id: string
  readonly status: { readonly state: TaskState }
}

/** SendMessage by hand: the client streams wherever the agent does. */
async function send(url: string, jobSeconds: number, configuration: SendConfiguration = {}): Promise<SentTask> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: messageFor(jobSeconds) }] }
  const reply = await fetch(`${url}/message:send`, {
    method: 'POST',
    headers: { 'content-type': 'application/a2a+json', 'a2a-version': '1.0' },
    body: JSON.stringify({ message, configuration }),
  })
  if (!reply.ok) throw new Error(`the agent answered ${reply.status}: ${await reply.text()}`)
  // The answer of a server that is part of the experiment.
  return ((await reply.json()) as { readonly task: SentTask }).task
}

const isFinal = (state: TaskState) => /_(COMPLETED|FAILED|CANCELED|REJECTED)$/.test(state)

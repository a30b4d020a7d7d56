/** The same message sent again: what D7 says, in every case, by every way of sending, under every setting. Spec §3.3.1. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Server, sqlite } from '../../src/index.js'
import { type VirtualWorld, virtualWorld } from '../../src/testing/virtual-world.js'
import { scriptAgent } from '../harness/script-agent.js'
import { type BindingName, bindingNames, openServer, readFrames, requestFor, result, userMessage } from '../harness/server.js'
import { closeStill } from '../runtime/kit.js'

const ways = ['blocking', 'returnImmediately', 'streaming'] as const
type Way = (typeof ways)[number]

const settings = [true, 'strict', false] as const
type Setting = (typeof settings)[number]

/** What a second send comes to: the first one's task, a task of its own, a refusal, or one more message in the same task. */
type Outcome = 'same' | 'new' | 'refused' | 'once more'

/** A server with one message sent to it. */
interface Scene {
  readonly world: VirtualWorld
  readonly binding: BindingName
  readonly way: Way
  readonly message: any
  readonly taskId: string
  /** The one that is open now. */
  readonly server: Server
  /** Closes the server and opens another on the same file. */
  readonly restart: () => Promise<void>
}

interface Sent {
  readonly id?: string
  readonly state?: string
  readonly refused?: { readonly reason: string; readonly fields: readonly string[] }
}

interface Case {
  readonly when: string
  readonly outcomes: Readonly<Record<`${Setting}`, Outcome>>
  /** Of the first message. Default: it is done at once. */
  readonly text?: string
  readonly sendAgain: (scene: Scene) => Promise<Sent>
  /** State of the same task afterwards. Default COMPLETED. */
  readonly state?: string
  /** The message is an answer in a task that waits for one. */
  readonly isAnswer?: true
  /** The store must outlive the server. */
  readonly restarts?: true
}

const hourMs = 60 * 60 * 1000
const usual = { true: 'same', strict: 'same', false: 'new' } as const
const another = { true: 'new', strict: 'new', false: 'new' } as const

const cases: readonly Case[] = [
  { when: 'at once', outcomes: usual, sendAgain: again },
  {
    when: 'after a restart',
    outcomes: usual,
    restarts: true,
    async sendAgain(scene) {
      await scene.restart()
      return again(scene)
    },
  },
  {
    when: 'after a restart in the middle of its task',
    outcomes: usual,
    restarts: true,
    text: 'hold',
    async sendAgain(scene) {
      await scene.restart()
      return released(scene, again(scene))
    },
  },
  {
    when: 'on the other binding',
    outcomes: usual,
    sendAgain: (scene) => again({ ...scene, binding: bindingNames.find((name) => name !== scene.binding) ?? scene.binding }),
  },
  {
    when: 'while the first still runs',
    outcomes: usual,
    text: 'hold',
    sendAgain: (scene) => released(scene, again(scene)),
  },
  { when: 'by another caller', outcomes: another, sendAgain: (scene) => again(scene, { as: 'bob' }) },
  {
    when: 'with other content',
    outcomes: { ...another, strict: 'refused' },
    sendAgain: (scene) => again({ ...scene, message: { ...scene.message, parts: [{ text: 'echo other' }] } }),
  },
  {
    when: 'after 25 hours',
    outcomes: another,
    async sendAgain(scene) {
      await scene.world.advance(25 * hourMs)
      return again(scene)
    },
  },
  {
    when: 'as an answer in a task that waits for input again',
    outcomes: { ...usual, false: 'once more' },
    text: 'ask',
    state: 'TASK_STATE_INPUT_REQUIRED',
    isAnswer: true,
    sendAgain: again,
  },
]

const rows = settings.flatMap((idempotency) => ways.flatMap((way) => bindingNames.map((binding) => ({ idempotency, way, binding }))))

describe.each(cases)(
  'a message sent again $when',
  ({ outcomes, text = 'echo once', sendAgain, state = 'TASK_STATE_COMPLETED', isAnswer = false, restarts = false }) => {
    test.each(rows)(`by $way over $binding, idempotency $idempotency`, async ({ idempotency, way, binding }) => {
      const scene = await openScene({ idempotency, way, binding, text, isAnswer, restarts })
      const { taskId, message } = scene
      const before = await tasksOf(scene)
      const sent = await sendAgain(scene)
      await scene.world.advance(0)
      const outcome = outcomes[`${idempotency}`]
      const after = await tasksOf(scene)
      const byId = (tasks: readonly any[], wanted = taskId) => tasks.find(({ id }) => id === wanted)
      const first = byId(after)
      const timesIn = (task: any) => task.history.filter((one: any) => one.messageId === message.messageId).length
      if (outcome === 'refused') {
        expect(sent).toEqual({ refused: { reason: 'INVALID_PARAMS', fields: ['message.messageId'] } })
        expect(after).toEqual(before)
        return
      }
      // One that returns at once shows a new or running task as it was then.
      if (way !== 'returnImmediately' || (outcome === 'same' && text !== 'hold'))
        expect(sent.state).toBe(outcome === 'new' && text === 'hold' ? 'TASK_STATE_COMPLETED' : state)
      expect(sent.id === taskId).toBe(outcome !== 'new')
      expect(after).toHaveLength(before.length + (outcome === 'new' ? 1 : 0))
      expect(timesIn(first)).toBe(outcome === 'once more' ? 2 : 1)
      expect(first.status.state).toBe(state)
      if (text !== 'hold' && outcome !== 'once more') expect(first).toEqual(byId(before))
      if (outcome === 'new') expect(timesIn(byId(after, sent.id))).toBe(1)
    })
  },
)

interface SceneOptions {
  readonly idempotency: Setting
  readonly way: Way
  readonly binding: BindingName
  readonly text: string
  readonly isAnswer: boolean
  readonly restarts: boolean
}

async function openScene({ idempotency, way, binding, text, isAnswer, restarts }: SceneOptions): Promise<Scene> {
  const folder = restarts ? mkdtempSync(join(tmpdir(), 'resend-')) : undefined
  // One clock and one chance for both servers: the second one must not make the ids of the first again.
  const world = virtualWorld()
  const open = () => openServer(scriptAgent, { world, idempotency, store: sqlite(folder ? join(folder, 'tasks.db') : ':memory:') })
  let server = await open()
  onTestFinished(async () => {
    await closeStill(server, world)
    if (folder) rmSync(folder, { recursive: true })
  })
  const message = userMessage(text)
  const first = await send({ server, binding, way: text === 'hold' ? 'returnImmediately' : way, message })
  await world.advance(0)
  if (first.id === undefined) throw new Error(`the first send was refused: ${JSON.stringify(first)}`)
  const answer = { ...userMessage(text), taskId: first.id }
  if (isAnswer) await send({ server, binding, way, message: answer })
  await world.advance(0)
  return {
    world,
    binding,
    way,
    message: isAnswer ? answer : message,
    taskId: first.id,
    get server() {
      return server
    },
    async restart() {
      await closeStill(server, world)
      server = await open()
    },
  }
}

/** All tasks of everybody here, whole. */
async function tasksOf({ server }: Scene): Promise<any[]> {
  const lists = ['alice', 'bob'].map((as) => result(server.fetch, 'JSONRPC', 'ListTasks', { includeArtifacts: true }, { as }))
  return (await Promise.all(lists)).flatMap(({ tasks }) => tasks)
}

/** Sends the scene's message by its way, and waits for what comes of it. */
function again({ server, binding, way, message }: Scene, { as = 'alice' } = {}): Promise<Sent> {
  return send({ server, binding, way, message, as })
}

/** Lets every task that holds go on, after having seen that the send waits for it. */
async function released(scene: Scene, sending: Promise<Sent>): Promise<Sent> {
  let isDone = false
  const done = sending.finally(() => {
    isDone = true
  })
  await scene.world.advance(0)
  const held = (await tasksOf(scene)).filter(({ status }) => status.state === 'TASK_STATE_WORKING')
  if (held.length > 0) expect(isDone).toBe(scene.way === 'returnImmediately')
  for (const { id } of held) await result(scene.server.fetch, 'JSONRPC', 'SendMessage', { message: userMessage('go', { taskId: id }) })
  return done
}

interface Sending {
  readonly server: Server
  readonly binding: BindingName
  readonly way: Way
  readonly message: any
  readonly as?: string
}

async function send({ server, binding, way, message, as = 'alice' }: Sending): Promise<Sent> {
  const operation = way === 'streaming' ? 'SendStreamingMessage' : 'SendMessage'
  const params = { message, ...(way === 'returnImmediately' && { configuration: { returnImmediately: true } }) }
  const response = await server.fetch(requestFor(binding, operation, params, { as }))
  if (/event-stream/.test(response.headers.get('content-type') ?? '')) return lastOf(response, binding)
  const body: any = await response.json()
  if (body.error) {
    const details = body.error.data ?? body.error.details
    return { refused: { reason: details[0].reason, fields: details[1]?.fieldViolations.map((one: any) => one.field) ?? [] } }
  }
  const { task } = body.result ?? body
  return { id: task.id, state: task.status.state }
}

/** A stream to its end: the task comes first, then nothing but what moved it. */
async function lastOf(response: Response, binding: BindingName): Promise<Sent> {
  let sent: Sent = {}
  for await (const { data } of readFrames(response, binding)) {
    expect(data.task === undefined).toBe(sent.id !== undefined)
    const status = (data.task ?? data.statusUpdate)?.status
    sent = { id: sent.id ?? data.task.id, state: status?.state ?? sent.state }
  }
  return sent
}

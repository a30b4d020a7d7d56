/** What the clients do to the server while it lives: first they look after what the last one left, then they work until it is gone. */

import { questionMember } from '../../src/protocol/question.js'
import type { Client, Mode } from './client.js'
import { type Ledger, type PushAsked, type Sent, type StreamSeen, wordOf } from './ledger.js'
import type { Random } from './random.js'
import type { Victim } from './victim.js'

const modes: readonly Mode[] = ['blocking', 'immediate', 'stream']
/** A task of these ends when somebody says so, or after a while: nobody waits for its end. */
const long: readonly string[] = ['hold', 'await', 'linger']
const words = [
  'echo',
  'trickle',
  'ask',
  'ask',
  'impatient',
  'order',
  'order',
  'order',
  'parallel',
  'linger',
  'linger',
  'hold',
  'await',
  'turns',
  'fail',
]
const clients = 6
const retriesAtATime = 8
/** Beyond so many, those that wait for the clients come first. */
const mostOpen = 12

export interface LoadOptions {
  readonly ledger: Ledger
  readonly client: Client
  readonly random: Random
  readonly victim: Victim
  /** Of those who can be told by pushes. */
  readonly receivers: readonly string[]
  /** Owns what goes on while its client does something else. */
  readonly background: (work: Promise<void>) => void
}

/** What the last server told before it was killed. */
export interface Left {
  readonly touched: readonly string[]
  readonly streams: readonly StreamSeen[]
  readonly answered: readonly Sent[]
}

/** Sends again, under their old ids, all messages without an answer; reads the tasks and resumes the streams of before. */
export async function lookAfter({ ledger, client, random, background }: LoadOptions, left: Left): Promise<void> {
  const unanswered = [...ledger.sends.values()].filter(({ attempt }) => attempt !== 'answered')
  const repeated = left.answered.filter(({ attempt }) => attempt === 'answered' && random.chance(20))
  await inTurns([...unanswered, ...repeated], (sent) => client.send(sent, 'immediate'))
  await inTurns(left.touched, (taskId) => client.get(taskId))
  for (const { taskId, after, seqs } of left.streams) background(client.resume(taskId, seqs.at(-1) ?? after))
}

/** Settles when the server is about to end. */
export async function work(options: LoadOptions): Promise<void> {
  const { random, victim } = options
  await Promise.all(
    Array.from({ length: clients }, async () => {
      const own = { ...options, random: random.fork() }
      while (!victim.isEnding) await act(own)
    }),
  )
}

async function act(options: LoadOptions): Promise<void> {
  const { ledger, client, random, victim } = options
  const { asking, holding, awaiting, working } = ledger.open
  // The newest: nobody is told when the others have ended.
  const busy = [...working].slice(-4)
  const open = [...busy, ...holding, ...awaiting, ...asking.keys()]
  if (open.length > 0 && random.chance(3)) {
    const taskId = random.pick(open)
    return client.createPush(taskId, askForPush(options, taskId))
  }
  if (random.chance(2)) {
    const named = [...ledger.pushes.values()].filter((asked) => asked.state === 'accepted' && asked.taskId !== undefined).slice(-8)
    const asked = named.length > 0 ? random.pick(named) : undefined
    if (asked?.taskId !== undefined) return client.deletePush(asked.taskId, asked)
  }
  if (busy.length > 0 && random.chance(15)) victim.takeOver(random.pick([...busy, ...busy, ...holding, ...asking.keys()]))
  if (busy.length > 0 && random.chance(4)) return client.cancel(random.pick(busy))
  if (asking.size > 0 && random.chance(asking.size > mostOpen ? 80 : 35)) {
    const taskId = random.pick([...asking.keys()])
    const question = asking.get(taskId)
    // Mostly one answer for a question, sometimes two that race.
    if (random.chance(80)) asking.delete(taskId)
    if (random.chance(10)) return client.cancel(taskId)
    const isNamed = question !== undefined && random.chance(50)
    const metadata = isNamed && { metadata: { [questionMember]: question } }
    return send(options, note(ledger, answer(random), { taskId, ...metadata }, random.chance(8) ? askForPush(options) : undefined))
  }
  if (holding.size > 0 && random.chance(holding.size > mostOpen ? 80 : 40)) {
    const taskId = random.pick([...holding])
    if (random.chance(80)) holding.delete(taskId)
    if (random.chance(20)) return client.cancel(taskId)
    return send(options, note(ledger, 'go', { taskId }))
  }
  if (awaiting.size > 0 && random.chance(awaiting.size > mostOpen ? 80 : 30)) {
    const taskId = random.pick([...awaiting])
    if (random.chance(80)) awaiting.delete(taskId)
    if (random.chance(20)) return client.cancel(taskId)
    return client.signal(taskId, `value-${++values}`)
  }
  const word = random.pick(words)
  const rest = word === 'echo' || word === 'fail' ? 'x'.repeat(random.between(0, 2000)) : String(random.between(1, 4))
  const sent = note(ledger, `${word} ${rest}`, {}, random.chance(25) ? askForPush(options) : undefined)
  await send(options, sent)
  // It is in the middle of a step now, or waits for a message: its run goes on when that comes, and has lost the task by then.
  if ((word === 'linger' || word === 'hold') && sent.taskId !== undefined && random.chance(50)) victim.takeOver(sent.taskId)
}

/** Settles with the answer, of a stream with its first frame. */
async function send({ client, random, background }: LoadOptions, sent: Sent): Promise<void> {
  const mode = random.pick(long.includes(wordOf(sent)) ? modes.filter((mode) => mode !== 'blocking') : modes)
  if (mode !== 'stream') return client.send(sent, mode)
  await new Promise<void>((resolve) => background(client.send(sent, mode, resolve).finally(resolve)))
}

let messages = 0
let values = 0
let pushes = 0

/** @param taskId for one that is made by its own operation */
function askForPush({ ledger, random, receivers }: LoadOptions, taskId?: string): PushAsked {
  const name = `push-${++pushes}`
  const asked: PushAsked = {
    url: `${random.pick(receivers)}/${name}`,
    // What a deletion has to name.
    ...((taskId !== undefined || random.chance(50)) && { id: name }),
    token: `token-of-${name}`,
    ...(random.chance(50) && { credentials: `credentials-of-${name}` }),
    ...(taskId !== undefined && { taskId }),
    state: 'asked',
  }
  ledger.pushes.set(asked.url, asked)
  return asked
}

/** Each is another number, so that what comes of it can be told from what comes of another one; some fit no schema. */
function answer(random: Random): string {
  return random.chance(15) ? 'many' : String(messages + 1)
}

export function note(
  ledger: Ledger,
  text: string,
  more: { readonly taskId?: string; readonly metadata?: Record<string, string> } = {},
  push?: PushAsked,
): Sent {
  const messageId = `message-${++messages}`
  const sent: Sent = { message: { messageId, ...more, parts: [{ text }] }, attempt: 'sent', ...(push && { push }) }
  ledger.sends.set(messageId, sent)
  return sent
}

/** Brings every task to its end: questions are answered, and whatever waits is given what it waits for. */
export async function finish(
  { ledger, client, background }: LoadOptions,
  tasks: ReadonlyMap<string, string>,
  onEnd: (taskId: string) => void,
): Promise<void> {
  async function one(taskId: string, word: string): Promise<void> {
    const answered = new Set<string>()
    if (word === 'hold') await client.send(note(ledger, 'go', { taskId }), 'immediate')
    if (word === 'await' && !ledger.signals.get(taskId)?.isKept) await client.signal(taskId, `value-${++values}`)
    await client.watch(taskId, ({ state, message }) => {
      if (state !== 'TASK_STATE_INPUT_REQUIRED' || answered.has(message.messageId)) return
      answered.add(message.messageId)
      const metadata = { [questionMember]: message.messageId }
      background(client.send(note(ledger, String(messages + 1), { taskId, metadata }), 'immediate'))
    })
    onEnd(taskId)
  }
  await Promise.all([...tasks].map(([taskId, word]) => one(taskId, word)))
}

async function inTurns<Item>(items: readonly Item[], deed: (item: Item) => Promise<void>): Promise<void> {
  const queue = [...items]
  const one = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await deed(item)
  }
  await Promise.all(Array.from({ length: retriesAtATime }, one))
}

/** What the clients do to the server while it lives: first they look after what the last one left, then they work until it is gone. */

import type { Client, Mode } from './client.js'
import type { Ledger, Sent, StreamSeen } from './ledger.js'
import type { Random } from './random.js'
import type { Victim } from './victim.js'

const modes: readonly Mode[] = ['blocking', 'immediate', 'stream']
const clients = 6
const retriesAtATime = 8

let messages = 0

/** Sends again, under their old ids, all messages without an answer; reads the tasks and resumes the streams of before. */
export async function lookAfter(ledger: Ledger, client: Client, random: Random, left: Left): Promise<void> {
  const unanswered = [...ledger.sends.values()].filter(({ attempt }) => attempt !== 'answered')
  const repeated = left.answered.filter(({ attempt }) => attempt === 'answered' && random.chance(20))
  await inTurns([...unanswered, ...repeated], (sent) => client.send(sent, wordOf(sent) === 'hold' ? 'immediate' : random.pick(modes)))
  await inTurns(left.touched, (taskId) => client.get(taskId))
  // Its restart has ended whatever was at work; only a question stays open, and a stream with it.
  const ended = left.streams.filter(({ taskId }) => !ledger.open.asking.has(taskId))
  await inTurns(ended, ({ taskId, after, seqs }) => client.resume(taskId, seqs.at(-1) ?? after))
}

/** What the last server told before it was killed. */
export interface Left {
  readonly touched: readonly string[]
  readonly streams: readonly StreamSeen[]
  readonly answered: readonly Sent[]
}

/** Settles when the server is gone. */
export async function work(ledger: Ledger, client: Client, random: Random, victim: Victim): Promise<void> {
  await Promise.all(
    Array.from({ length: clients }, async () => {
      const own = random.fork()
      while (!victim.isKilled) await act(ledger, client, own)
    }),
  )
}

async function act(ledger: Ledger, client: Client, random: Random): Promise<void> {
  const { asking, holding } = ledger.open
  if (asking.size > 0 && random.chance(35)) {
    const taskId = random.pick([...asking])
    // Mostly one answer for a question, sometimes two that race.
    if (random.chance(80)) asking.delete(taskId)
    if (random.chance(15)) return client.cancel(taskId)
    return client.send(note(ledger, 'forty-two', taskId), random.pick(modes))
  }
  if (holding.size > 0 && random.chance(50)) {
    const taskId = random.pick([...holding])
    if (random.chance(80)) holding.delete(taskId)
    if (random.chance(30)) return client.cancel(taskId)
    return client.send(note(ledger, 'go', taskId), random.pick(modes))
  }
  const word = random.pick(['echo', 'echo', 'trickle', 'ask', 'ask', 'hold', 'fail'])
  const sent = note(ledger, word === 'trickle' ? `trickle ${random.between(1, 5)}` : `${word} ${'x'.repeat(random.between(0, 2000))}`)
  if (word !== 'hold') return client.send(sent, random.pick(modes))
  // It ends when somebody says so: this client goes on as soon as it knows the task.
  await new Promise<void>((resolve) => {
    const known = () => {
      if (sent.taskId !== undefined) holding.add(sent.taskId)
      resolve()
    }
    void client.send(sent, random.pick(['immediate', 'stream']), known).then(() => resolve())
  })
}

function note(ledger: Ledger, text: string, taskId?: string): Sent {
  const messageId = `message-${++messages}`
  const sent: Sent = { message: { messageId, ...(taskId !== undefined && { taskId }), parts: [{ text }] }, attempt: 'sent' }
  ledger.sends.set(messageId, sent)
  return sent
}

function wordOf({ message }: Sent): string {
  return message.parts[0].text.split(' ', 1)[0] ?? ''
}

async function inTurns<Item>(items: readonly Item[], deed: (item: Item) => Promise<void>): Promise<void> {
  const queue = [...items]
  const one = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await deed(item)
  }
  await Promise.all(Array.from({ length: retriesAtATime }, one))
}

/** Readers who join a task while it puts out much at once: all of them end with the same task, whatever the store is like. */

import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, artifact, chunk, completed, type Server, sqlite, type TaskHandle, working } from '../../src/index.js'
import { openServer, openSocket, quiet, type SseFrame } from '../harness/server.js'
import {
  begin,
  foldFrames,
  type Gate,
  gate,
  getTask,
  numbersOf,
  openStill,
  quietStore,
  slowStore,
  subscribe,
  subscribeDoors,
  take,
  takeAll,
  withStore,
} from '../runtime/kit.js'

const chunks = 1_000
const readers = 50

/** Every second commit is told to nobody; a later one makes up for it. */
const forgetfulStore = () =>
  withStore((store) => ({
    onCommit(listener) {
      let count = 0
      return store.onCommit((ref, lastSeq, events) => {
        const isLast = events?.some(({ state }) => state === 'TASK_STATE_COMPLETED') === true
        if (++count % 2 === 0 || isLast) listener(ref, lastSeq, events)
      })
    },
  }))

/** Opens `readers` streams while it puts out `chunks` chunks, and completes once all of them are open. */
async function burst(
  connect: (agent: Parameters<typeof openServer>[0]) => Promise<{ readonly server: Server; readonly fetch: Server['fetch'] }>,
) {
  const seen: Promise<SseFrame[]>[] = []
  const opened: Promise<void>[] = []
  const started = gate()
  const finished = gate()
  let join: (id: string) => void = () => {}
  const bursting = agent({ name: 'Burst', description: 'Puts out much at once.' }, async function* (task) {
    await started.opened
    for (let number = 0; number < chunks; number++) {
      yield chunk('numbers', `${number};`, { last: number === chunks - 1 })
      if (number % (chunks / readers) === 7) join(task.id)
    }
    await Promise.all(opened)
    yield artifact('end', 'all said')
    return completed('done')
  })
  const { server, fetch } = await connect(bursting)
  onTestFinished(() => server.close())
  join = (id) => {
    const number = seen.length
    const isOpen = gate()
    opened.push(isOpen.opened)
    const read = async () => {
      const stream = subscribe(fetch, subscribeDoors[number % 3] ?? 'GET', id, { url: 'http://agent.test' })
      const first = await take(stream, 1)
      isOpen.open()
      // Some do not read on before everything has been said.
      if (number % 5 === 0) await finished.opened
      return [...first, ...(await takeAll(stream))]
    }
    seen.push(read())
  }
  const id = await begin(fetch, 'go')
  const early = subscribe(fetch, 'GET', id)
  const first = await take(early, 1)
  started.open()
  const all = [...first, ...(await takeAll(early))]
  finished.open()
  const task = await getTask(fetch, id)
  expect(task.artifacts[0].parts).toHaveLength(chunks)
  return { task, all, seen: await Promise.all(seen) }
}

describe.each([
  ['the store in memory', () => sqlite(':memory:')],
  ['a slow store', () => slowStore(3)],
  ['a store whose commits come from elsewhere', quietStore],
  ['a store that does not tell of every commit', forgetfulStore],
])('with %s', (_, store) => {
  test(`${readers} who join in the middle of ${chunks} chunks end with the task that GetTask gives`, async () => {
    const { task, all, seen } = await burst(async (bursting) => {
      const server = await openServer(bursting, { store: store() })
      return { server, fetch: server.fetch }
    })
    expect(seen).toHaveLength(readers)
    for (const frames of [all, ...seen]) {
      expect(foldFrames(frames)).toEqual(task)
      const [first = 0, ...numbers] = numbersOf(frames)
      // Every event of this task is a frame, so no number is left out.
      expect(numbers).toEqual(numbers.map((_, place) => first + 1 + place))
    }
    expect(new Set(seen.map((frames) => frames.length)).size).toBeGreaterThan(1)
  })
})

test(`${readers} on sockets who join in the middle of ${chunks} chunks end with the task that GetTask gives`, async () => {
  const { task, seen } = await burst(async (bursting) => {
    const server = await openSocket(bursting, { log: quiet })
    return { server, fetch: (request) => fetch(new Request(request.url.replace('http://agent.test', server.url), request)) }
  })
  for (const frames of seen) expect(foldFrames(frames)).toEqual(task)
})

test('a commit that falls between a look at the log and the wait for the next commit is not missed', async () => {
  const looked = gate()
  const held = gate()
  let isHolding = false
  const store = withStore(
    (inner) => ({
      async events(...given) {
        const events = await inner.events(...given)
        if (isHolding && events.length === 0) {
          isHolding = false
          looked.open()
          await held.opened
        }
        return events
      },
    }),
    quietStore(),
  )
  const goOn = gate()
  const said = gate()
  const { fetch, world } = await openStill(
    agent({ name: 'Twice', description: 'Says two things.' }, async function* () {
      yield chunk('a', 'one')
      await goOn.opened
      yield chunk('a', 'two')
      await said.opened
    }),
    { store },
  )
  const id = await begin(fetch, 'go')
  const stream = subscribe(fetch, 'GET', id)
  await take(stream, 1)
  isHolding = true
  const next = take(stream, 1)
  await looked.opened
  goOn.open()
  await world.advance(0)
  held.open()
  expect((await next)[0]?.data.artifactUpdate.artifact.parts).toEqual([{ text: 'two' }])
  said.open()
})

type Step = 'chunk' | 'note' | 'whole' | 'message' | 'join' | 'resume'

/** What a task of these steps looks like to readers who join, or go on from what they have, at each `join` and `resume`. */
async function walk(steps: readonly Step[], store: ReturnType<typeof quietStore>) {
  let gates: Gate[] = []
  const walker = agent({ name: 'Walk', description: 'Goes step by step.' }, async function* (_task: TaskHandle) {
    yield working()
    for (const [place, step] of steps.entries()) {
      await gates[place]?.opened
      if (step === 'chunk') yield chunk('a', `at ${place}`)
      if (step === 'note') yield working(`at ${place}`)
      if (step === 'whole') yield artifact('b', `at ${place}`)
    }
    await gates[steps.length]?.opened
    return completed('end')
  })
  gates = Array.from({ length: steps.length + 1 }, gate)
  const server = await openServer(walker, { store })
  const id = await begin(server.fetch, 'go')
  const oldest = subscribe(server.fetch, 'JSONRPC', id)
  const every = await take(oldest, 1)
  const others: { readonly after: number; readonly frames: Promise<SseFrame[]> }[] = []
  let messages = 0
  for (const [place, step] of steps.entries()) {
    const after = every.length
    if (step === 'message') {
      await begin(server.fetch, `message ${place}`, { taskId: id })
      messages++
    }
    if (step === 'join' || step === 'resume') {
      const lastEventId = step === 'resume' ? every.at(-1)?.id : undefined
      const stream = subscribe(server.fetch, subscribeDoors[place % 3] ?? 'GET', id, { lastEventId })
      if (step === 'join') await take(stream, 1)
      others.push({ after, frames: takeAll(stream) })
    }
    gates[place]?.open()
    if (step === 'chunk' || step === 'note' || step === 'whole') every.push(...(await take(oldest, 1)))
  }
  gates[steps.length]?.open()
  every.push(...(await takeAll(oldest)))
  const told = await Promise.all(others.map(async ({ after, frames }) => ({ after, frames: await frames })))
  const task = await getTask(server.fetch, id)
  await server.close()
  return { every, told, task, messages }
}

describe.each([
  ['the store in memory', () => sqlite(':memory:')],
  ['a store whose commits come from elsewhere', quietStore],
])('with %s', (_, store) => {
  test('the numbers of frames grow strictly and leave out nothing but messages of the user, wherever a reader joins or resumes', async () => {
    const step = fc.constantFrom<Step>('chunk', 'note', 'whole', 'message', 'join', 'resume')
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        const { every, told, task, messages } = await walk(steps, store())
        const numbers = numbersOf(every)
        for (const [place, number] of numbers.slice(1).entries()) expect(number).toBeGreaterThan(numbers[place] ?? 0)
        expect((numbers.at(-1) ?? 0) - (numbers[0] ?? 0) + 1 - numbers.length).toBe(messages)
        for (const { after, frames } of told) expect(frames).toEqual(every.slice(after))
        expect(foldFrames(every).artifacts).toEqual(task.artifacts)
        expect(foldFrames(every).status).toEqual(task.status)
      }),
      { numRuns: 25 },
    )
  })
})

/** Canceling: CANCELED is committed, then the run is no longer heard, then its signal fires; whatever the agent does then. */

import { describe, expect, test } from 'vitest'
import { agent, chunk, completed, inputRequired, type Run, type TaskHandle, working } from '../../src/index.js'
import { bindingNames, call, frames, result, userMessage } from '../harness/server.js'
import { begin, foldFrames, gate, getTask, openStill, statesOf, subscribe, take, takeAll, until } from './kit.js'

const of = (run: Run) => agent({ name: 'Test', description: 'Does what the test says.' }, run)

/** Settles when the signal fires. */
const aborted = ({ signal }: TaskHandle) =>
  new Promise<unknown>((resolve) => signal.addEventListener('abort', () => resolve(signal.reason.why), { once: true }))

/** Begins a task, lets it put something out, cancels it, and gives time to whatever it does then. */
async function cancelOf(run: Run) {
  const opened = await openStill(of(run))
  const { fetch, world } = opened
  const id = await begin(fetch, 'go')
  const stream = subscribe(fetch, 'JSONRPC', id)
  const first = await take(stream, 1)
  // Some never come to rest, so the world cannot tell when they have done something.
  let turns = 0
  await until(() => ++turns > 10)
  const answered = await result(fetch, 'JSONRPC', 'CancelTask', { id })
  const all = [...first, ...(await takeAll(stream))]
  await world.advance(60_000)
  const task = await getTask(fetch, id)
  // Nothing came after the answer, for no reader.
  expect(answered.status.state).toBe('TASK_STATE_CANCELED')
  expect(task).toEqual(answered)
  expect(foldFrames(all)).toEqual(task)
  expect(statesOf(all).at(-1)).toBe('CANCELED')
  return { ...opened, id, task }
}

describe('nothing is committed after CANCELED', () => {
  const later: unknown[] = []
  test.each<[string, Run]>([
    [
      'by an agent that catches the abort and returns a result',
      async (task) => {
        await aborted(task)
        return completed('done after all', { secret: true })
      },
    ],
    [
      'by an agent that catches the rejected sleep and goes on',
      async function* (task) {
        yield working('sleeping')
        try {
          await task.sleep('1h')
        } catch (error) {
          later.push(error)
        }
        yield chunk('a', 'late')
        return completed('late')
      },
    ],
    [
      'by an agent that ignores the signal and yields for ever',
      async function* (task) {
        for (let number = 0; ; number++) {
          yield chunk('a', `${number}`)
          if (number > 20) await task.sleep(1).catch(() => undefined)
        }
      },
    ],
    [
      'by a generator that never awaits',
      function* () {
        for (let number = 0; ; number++) yield chunk('a', `${number}`)
      },
    ],
    [
      'by an agent that throws on the abort',
      async (task) => {
        throw await aborted(task)
      },
    ],
    [
      'by an agent that throws in finally',
      async function* (task) {
        try {
          yield working()
          await aborted(task)
          yield chunk('a', 'late')
        } finally {
          // biome-ignore lint/correctness/noUnsafeFinally: what such an agent does is what is tested.
          throw new Error('in finally')
        }
      },
    ],
    [
      'by an agent that yields in finally',
      async function* (task) {
        try {
          yield working()
          await aborted(task)
          yield chunk('a', 'late')
        } finally {
          yield chunk('a', 'later still')
        }
      },
    ],
    [
      'by an agent that remembers something on the abort',
      async (task) => {
        await aborted(task)
        task.context.set('late', true)
        return inputRequired('late')
      },
    ],
    ['by an agent that never settles', () => new Promise<never>(() => {})],
  ])('%s', async (_, run) => {
    const { lines } = await cancelOf(run)
    // A cancel is nobody's fault.
    expect(lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('the memory of the context either: what went out with a commit before is kept', async () => {
    const { fetch, task } = await cancelOf(async function* (handle) {
      if (handle.text === 'read') return { early: handle.context.get('early') ?? null, late: handle.context.get('late') ?? null }
      handle.context.set('early', true)
      yield working()
      await aborted(handle)
      handle.context.set('late', true)
      return undefined
    })
    const read = await result(fetch, 'JSONRPC', 'SendMessage', { message: userMessage('read', { contextId: task.contextId }) })
    expect(read.task.artifacts[0].parts[0].data).toEqual({ early: true, late: null })
  })
})

test('when the signal fires, CANCELED is what every reader sees', async () => {
  const seen: unknown[] = []
  let fetching: (request: Request) => Promise<Response>
  const done = gate()
  const { fetch } = await openStill(
    of(async (task) => {
      seen.push(await aborted(task))
      seen.push((await getTask(fetching, task.id)).status.state)
      done.open()
    }),
  )
  fetching = fetch
  const id = await begin(fetch, 'go')
  await result(fetch, 'JSONRPC', 'CancelTask', { id })
  await done.opened
  expect(seen).toEqual(['canceled', 'TASK_STATE_CANCELED'])
})

test("the signal fires once, with the reason 'canceled', and finally runs", async () => {
  const seen: unknown[] = []
  await cancelOf(async function* (task) {
    task.signal.addEventListener('abort', () => seen.push(task.signal.reason.why))
    try {
      yield working()
      await aborted(task)
      yield working('never shown')
    } finally {
      seen.push('finally')
    }
  })
  expect(seen).toEqual(['canceled', 'finally'])
})

test.each(bindingNames)('a blocking send returns the canceled task, and a stream ends with it, over %s', async (binding) => {
  const { fetch } = await openStill(of((task) => aborted(task).then(() => completed('late'))))
  const stream = frames(fetch, binding, 'SendStreamingMessage', { message: userMessage('go') })
  const [first] = await take(stream, 1)
  const id = first?.data.task.id
  const waiting = result(fetch, binding, 'SendMessage', { message: userMessage('other') })
  let other: any
  await until(async () => {
    other = (await result(fetch, binding, 'ListTasks', {})).tasks.find((task: any) => task.id !== id)
    return other !== undefined
  })
  await result(fetch, binding, 'CancelTask', { id })
  await result(fetch, binding, 'CancelTask', { id: other.id })
  expect((await waiting).task.status.state).toBe('TASK_STATE_CANCELED')
  expect(statesOf(await takeAll(stream))).toEqual(['CANCELED'])
})

test('a task that waits for an answer can be canceled, and takes none then', async () => {
  const { fetch } = await openStill(of(() => inputRequired('what?')))
  const { task } = await result(fetch, 'JSONRPC', 'SendMessage', { message: userMessage('go') })
  const canceled = await result(fetch, 'JSONRPC', 'CancelTask', { id: task.id })
  expect(canceled.status.state).toBe('TASK_STATE_CANCELED')
  const late = await call(fetch, 'JSONRPC', 'SendMessage', { message: userMessage('that', { taskId: task.id }) })
  expect(late.body).toMatchObject({ error: { code: -32004 } })
})

test('a second cancel gives the task again, also of two at once, and tells it once', async () => {
  let fired = 0
  const { fetch } = await openStill(
    of(async (task) => {
      task.signal.addEventListener('abort', () => fired++)
      await aborted(task)
    }),
  )
  const id = await begin(fetch, 'go')
  const stream = subscribe(fetch, 'JSONRPC', id)
  await take(stream, 1)
  const [one, two] = await Promise.all([result(fetch, 'JSONRPC', 'CancelTask', { id }), result(fetch, 'HTTP+JSON', 'CancelTask', { id })])
  expect(one).toEqual(two)
  expect(await result(fetch, 'JSONRPC', 'CancelTask', { id })).toEqual(one)
  expect(statesOf(await takeAll(stream))).toEqual(['CANCELED'])
  expect(fired).toBe(1)
})

test('of a cancel and an end at the same moment one wins, and the other is told so', async () => {
  const gates = Array.from({ length: 20 }, gate)
  const { fetch, world } = await openStill(
    of(async (task) => {
      await gates[Number(task.text)]?.opened
      return completed('done')
    }),
  )
  for (const [number, one] of gates.entries()) {
    const id = await begin(fetch, `${number}`)
    const ending = Promise.resolve().then(async () => {
      for (let turn = 0; turn < number % 5; turn++) await Promise.resolve()
      one.open()
    })
    const canceled = (await call(fetch, 'JSONRPC', 'CancelTask', { id })).body as any
    await ending
    await world.advance(0)
    const { state } = (await getTask(fetch, id)).status
    if (canceled.result) expect(state).toBe('TASK_STATE_CANCELED')
    else expect([canceled.error.code, state]).toEqual([-32002, 'TASK_STATE_COMPLETED'])
  }
})

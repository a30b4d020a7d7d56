/** What a run knows and is told: its inbox, its history, its turn, and the memory of its context. */

import { describe, expect, test } from 'vitest'
import { agent, completed, inputRequired, type Run, type RunStoppedError, type TaskHandle, working } from '../../src/index.js'
import { result, userMessage } from '../harness/server.js'
import { begin, gate, getTask, openStill } from './kit.js'

const of = (run: Run) => agent({ name: 'Test', description: 'Does what the test says.' }, run)

const textOf = (message: any) => message?.parts[0].text
const textsOf = (messages: readonly any[]) => messages.map(textOf)

describe('the inbox', () => {
  test('gives each message once, in the order of the log, whoever of the agent asks', async () => {
    const goOn = gate()
    const taken: unknown[] = []
    const { fetch, world } = await openStill(
      of(async function* ({ inbox }) {
        yield working()
        await goOn.opened
        taken.push(...(await Promise.all([inbox.take(), inbox.next(), inbox.take()])))
        taken.push(await inbox.take())
      }),
    )
    const id = await begin(fetch, 'go')
    for (const text of ['one', 'two', 'three']) await begin(fetch, text, { taskId: id })
    goOn.open()
    await world.advance(0)
    expect(textsOf(taken)).toEqual(['one', 'two', 'three', undefined])
    expect(textsOf((await getTask(fetch, id)).history)).toEqual(['go', 'one', 'two', 'three'])
  })

  test('several who wait at once get different messages, as they come', async () => {
    const got: unknown[] = []
    const { fetch, world } = await openStill(
      of(async function* ({ inbox }) {
        yield working()
        await Promise.all([1, 2, 3].map(async () => got.push(textOf(await inbox.next()))))
      }),
    )
    const id = await begin(fetch, 'go')
    await world.advance(0)
    for (const text of ['one', 'two', 'three']) {
      await begin(fetch, text, { taskId: id })
      await world.advance(0)
    }
    expect(got).toEqual(['one', 'two', 'three'])
    expect((await getTask(fetch, id)).status.state).toBe('TASK_STATE_COMPLETED')
  })

  test('waits no longer than it is told, by the clock of the world, and misses nothing that comes later', async () => {
    const got: unknown[] = []
    const { fetch, world } = await openStill(
      of(async function* ({ inbox }) {
        yield working()
        got.push(textOf(await inbox.next({ timeout: '5s' })))
        got.push(textOf(await inbox.next({ timeout: '5s' })))
        got.push(textOf(await inbox.next()))
      }),
    )
    const id = await begin(fetch, 'go')
    await world.advance(4_999)
    expect(got).toEqual([])
    await world.advance(1)
    expect(got).toEqual([undefined])
    await begin(fetch, 'one', { taskId: id })
    await world.advance(0)
    expect(got).toEqual([undefined, 'one'])
    // The clock of a wait that has ended wakes nobody.
    await world.advance(60_000)
    await begin(fetch, 'two', { taskId: id })
    await world.advance(0)
    expect(got).toEqual([undefined, 'one', 'two'])
  })

  test.each(['0s', '-1s', 'soon', Number.NaN, -1])('a timeout of %s is taken, or refused by a TypeError to the agent', async (timeout) => {
    const outcome: unknown[] = []
    const { fetch, world } = await openStill(
      of(async ({ inbox }) => void outcome.push(await inbox.next({ timeout }).catch((error: unknown) => error))),
    )
    await begin(fetch, 'go')
    await world.advance(0)
    expect(outcome).toEqual([timeout === '0s' ? undefined : expect.any(TypeError)])
  })

  test('holds what came while the task waited for a place, and the history does not', async () => {
    const goOn = gate()
    const seen: unknown[] = []
    const { fetch, world } = await openStill(
      of(async (task) => {
        if (task.text === 'first') return void (await goOn.opened)
        seen.push(textsOf(task.history), textOf(await task.inbox.take()), textOf(await task.inbox.take()), textOf(await task.inbox.take()))
        return undefined
      }),
      { concurrency: 1 },
    )
    await begin(fetch, 'first')
    const id = await begin(fetch, 'second')
    for (const text of ['one', 'two']) await begin(fetch, text, { taskId: id })
    goOn.open()
    await world.advance(0)
    expect(seen).toEqual([['second'], 'one', 'two', undefined])
    expect((await getTask(fetch, id)).status.state).toBe('TASK_STATE_COMPLETED')
  })

  test('belongs to the task: what one turn did not take, the next one finds, and what it took is gone', async () => {
    const goOn = gate()
    const taken: unknown[] = []
    const { fetch, world } = await openStill(
      of(async function* (task) {
        if (task.turn > 1) {
          taken.push(textOf(await task.inbox.take()), textOf(await task.inbox.take()))
          return completed()
        }
        yield working()
        await goOn.opened
        taken.push(textOf(await task.inbox.take()))
        return inputRequired('what?')
      }),
    )
    const id = await begin(fetch, 'go')
    for (const text of ['one', 'two']) await begin(fetch, text, { taskId: id })
    goOn.open()
    await world.advance(0)
    await result(fetch, 'JSONRPC', 'SendMessage', { message: userMessage('that', { taskId: id }) })
    expect(taken).toEqual(['one', 'two', undefined])
  })

  test('gets a message that names another question, which stays open', async () => {
    const taken: unknown[] = []
    const { fetch } = await openStill(
      of(async (task) => {
        if (task.turn === 1) return inputRequired('what?')
        taken.push(task.text, textOf(await task.inbox.take()))
        return completed()
      }),
    )
    const { task } = await result(fetch, 'JSONRPC', 'SendMessage', { message: userMessage('go') })
    const answer = (text: string, question: string) =>
      result(fetch, 'JSONRPC', 'SendMessage', {
        message: userMessage(text, { taskId: task.id, metadata: { 'urn:errand:question': question } }),
      })
    expect((await answer('stray', 'another')).task.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
    expect((await answer('fitting', task.status.message.messageId)).task.status.state).toBe('TASK_STATE_COMPLETED')
    expect(taken).toEqual(['fitting', 'stray'])
  })

  test('of a run that is told to stop rejects with the reason, and what is called after that does not settle', async () => {
    const outcome: unknown[] = []
    const { fetch, world } = await openStill(
      of(async ({ inbox }) => {
        outcome.push(await inbox.next().catch((error: RunStoppedError) => error.why))
        outcome.push(await inbox.take().catch((error: RunStoppedError) => error.why))
      }),
    )
    const id = await begin(fetch, 'go')
    await world.advance(0)
    await result(fetch, 'JSONRPC', 'CancelTask', { id })
    await world.advance(0)
    await world.advance(60_000)
    expect(outcome).toEqual(['canceled'])
  })
})

/** Runs one task to its end and gives what `look` saw of the handle in it. */
async function seenBy<T>(
  fetch: (request: Request) => Promise<Response>,
  text: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<T> {
  const { as, ...message } = more
  const { task } = await result(
    fetch,
    'JSONRPC',
    'SendMessage',
    { message: userMessage(text, message) },
    as === undefined ? {} : { as: String(as) },
  )
  return task.artifacts?.[0].parts[0].data
}

describe('the memory of a context', () => {
  const remembering = of((task) => {
    const [word, key = '', value = ''] = task.text.split(' ')
    if (word === 'set') task.context.set(key, value)
    return { value: task.context.get(key) ?? null }
  })

  test('is there for later tasks of the same context, and merged member by member', async () => {
    const { fetch } = await openStill(remembering)
    const contextId = 'trip'
    expect(await seenBy(fetch, 'set a 1', { contextId })).toEqual({ value: '1' })
    expect(await seenBy(fetch, 'set b 2', { contextId })).toEqual({ value: '2' })
    expect(await seenBy(fetch, 'get a', { contextId })).toEqual({ value: '1' })
    expect(await seenBy(fetch, 'set a 3', { contextId })).toEqual({ value: '3' })
    expect(await seenBy(fetch, 'get b', { contextId })).toEqual({ value: '2' })
    expect(await seenBy(fetch, 'get a', { contextId })).toEqual({ value: '3' })
  })

  test('is not that of another context, nor that of another owner of a context of the same name', async () => {
    const { fetch } = await openStill(remembering)
    await seenBy(fetch, 'set a 1', { contextId: 'trip' })
    expect(await seenBy(fetch, 'get a', { contextId: 'other' })).toEqual({ value: null })
    expect(await seenBy(fetch, 'get a')).toEqual({ value: null })
    expect(await seenBy(fetch, 'get a', { contextId: 'trip', as: 'bob' })).toEqual({ value: null })
    await seenBy(fetch, 'set a 2', { contextId: 'trip', as: 'bob' })
    expect(await seenBy(fetch, 'get a', { contextId: 'trip' })).toEqual({ value: '1' })
  })

  test('of two tasks at the same time keeps what both of them wrote', async () => {
    const goOn = gate()
    const { fetch, world } = await openStill(
      of(async (task) => {
        if (task.text === 'read') return { a: task.context.get('a') ?? null, b: task.context.get('b') ?? null }
        await goOn.opened
        task.context.set(task.text, 1)
        return undefined
      }),
    )
    for (const text of ['a', 'b']) await begin(fetch, text, { contextId: 'trip' })
    goOn.open()
    await world.advance(0)
    expect(await seenBy(fetch, 'read', { contextId: 'trip' })).toEqual({ a: 1, b: 1 })
  })

  test('keeps copies, survives a failing run, and takes JSON only', async () => {
    const errors: unknown[] = []
    const { fetch } = await openStill(
      of((task) => {
        if (task.text === 'read') return { list: task.context.get('list') ?? null }
        const list = [1]
        task.context.set('list', list)
        list.push(2)
        for (const value of [undefined, () => 1, Symbol('a')] as never[]) {
          try {
            task.context.set('bad', value)
          } catch (error) {
            errors.push(error)
          }
        }
        throw new Error('later')
      }),
    )
    await result(fetch, 'JSONRPC', 'SendMessage', { message: userMessage('go', { contextId: 'trip' }) })
    expect(errors).toEqual([expect.any(TypeError), expect.any(TypeError), expect.any(TypeError)])
    expect(await seenBy(fetch, 'read', { contextId: 'trip' })).toEqual({ list: [1] })
  })

  test('has no members of its own: a name such as __proto__ is one like any other', async () => {
    const { fetch } = await openStill(remembering)
    expect(await seenBy(fetch, 'get constructor', { contextId: 'trip' })).toEqual({ value: null })
    await seenBy(fetch, 'set __proto__ 1', { contextId: 'trip' })
    expect(await seenBy(fetch, 'get __proto__', { contextId: 'trip' })).toEqual({ value: '1' })
  })
})

describe('what a run knows of its task', () => {
  test('is its turn, its attempt and the history up to its own message', async () => {
    const handles: TaskHandle[] = []
    const { fetch } = await openStill(
      of(async function* (task) {
        handles.push(task)
        yield working(`note ${task.turn}`)
        return task.turn < 3 ? inputRequired(`question ${task.turn}`) : completed('end')
      }),
    )
    const { task } = await result(fetch, 'JSONRPC', 'SendMessage', { message: userMessage('go') })
    for (const text of ['first', 'second'])
      await result(fetch, 'JSONRPC', 'SendMessage', { message: userMessage(text, { taskId: task.id }) })
    expect(handles.map(({ turn, attempt, text, id, contextId }) => [turn, attempt, text, id, contextId])).toEqual([
      [1, 1, 'go', task.id, task.contextId],
      [2, 1, 'first', task.id, task.contextId],
      [3, 1, 'second', task.id, task.contextId],
    ])
    // Notes are not history (D5); questions and messages are.
    expect(handles.map(({ history }) => textsOf(history))).toEqual([
      ['go'],
      ['go', 'question 1', 'first'],
      ['go', 'question 1', 'first', 'question 2', 'second'],
    ])
    for (const { history, message } of handles) expect(history.at(-1)).toEqual(message)
    for (const { message } of handles) expect(message).toMatchObject({ taskId: task.id, contextId: task.contextId, role: 'ROLE_USER' })
    expect(textsOf((await getTask(fetch, task.id)).history)).toEqual(['go', 'question 1', 'first', 'question 2', 'second', 'end'])
  })

  test('is who calls, and what the caller takes', async () => {
    const handles: TaskHandle[] = []
    const { fetch } = await openStill(of((task) => void handles.push(task)))
    await result(
      fetch,
      'JSONRPC',
      'SendMessage',
      { message: userMessage('go'), configuration: { acceptedOutputModes: ['text/markdown'] } },
      { as: 'bob' },
    )
    expect(handles[0]).toMatchObject({ user: { id: 'bob' }, acceptedOutputModes: ['text/markdown'], extensions: [], text: 'go' })
  })

  test('sleeps by the clock of the world', async () => {
    const woken: string[] = []
    const { fetch, world } = await openStill(
      of(async (task) => {
        await task.sleep('1h')
        woken.push(task.id)
      }),
    )
    const id = await begin(fetch, 'go')
    await world.advance(3_599_999)
    expect(woken).toEqual([])
    await world.advance(1)
    expect(woken).toEqual([id])
  })

  test('is logged with the names of the task', async () => {
    const { fetch, lines } = await openStill(of((task) => task.log.info('seen', { more: 1 })))
    const id = await begin(fetch, 'go')
    expect(lines).toEqual([{ level: 'info', message: 'seen', fields: { taskId: id, contextId: expect.any(String), more: 1 } }])
  })
})

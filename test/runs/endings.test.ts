/** However a function ends, or does not: its task comes to one end, and nothing of it goes on. */

import { describe, expect, onTestFinished, test } from 'vitest'
import { artifact, chunk, completed, type Run, type TaskHandle, working } from '../../src/index.js'
import { artifactsOf, brokenLaws, openCrashable, type Program, resultOf, wordsOf } from './kit.js'

/** Rejections that nobody handles while the test runs: in a server, each would be the end of the process. */
function unhandled(): unknown[] {
  const seen: unknown[] = []
  const listen = (reason: unknown) => void seen.push(reason)
  process.on('unhandledRejection', listen)
  onTestFinished(() => void process.off('unhandledRejection', listen))
  return seen
}

describe('a forgotten await', () => {
  test('of a step: the end waits for it, and it is recorded', async () => {
    const done: string[] = []
    const server = await openCrashable(({ wait }) => (task) => {
      void task.step('s', async () => {
        await wait(5_000)
        done.push('s')
      })
      return 'done'
    })
    const id = await server.send('go')
    await server.advance(4_999)
    expect([await server.state(id), ...done]).toEqual(['WORKING'])
    await server.advance(1)
    expect([resultOf(await server.get(id)), ...done]).toEqual(['done', 's'])
    expect(await brokenLaws(server, id)).toEqual([])
  })

  test('of a step, then a crash: it is done again, and the end is the same', async () => {
    const done: number[] = []
    const server = await openCrashable(({ number, wait }) => (task) => {
      void task.step('quick', () => wait(10))
      void task.step('s', async () => {
        await wait(5_000)
        done.push(number)
      })
      return 'done'
    })
    const id = await server.send('go')
    await server.advance(1_000)
    await server.crash()
    await server.advance(10_000)
    expect([resultOf(await server.get(id)), ...done]).toEqual(['done', 2])
  })

  test('of a step that fails ends nothing: what was returned counts, and the process lives', async () => {
    const rejections = unhandled()
    const server = await openCrashable(({ wait }) => (task) => {
      void task.step('s', async () => {
        await wait(1_000)
        throw new Error('nobody looks')
      })
      return 'done'
    })
    const id = await server.send('go')
    await server.advance(5_000)
    expect(resultOf(await server.get(id))).toBe('done')
    await server.crash()
    expect(resultOf(await server.get(id))).toBe('done')
    expect(rejections).toEqual([])
  })

  test('of a step before a throw: the task fails after it', async () => {
    const done: string[] = []
    const server = await openCrashable(({ wait }) => (task) => {
      void task.step('s', async () => {
        await wait(5_000)
        done.push('s')
      })
      throw new Error('gone')
    })
    const id = await server.send('go')
    await server.advance(10_000)
    expect([await server.state(id), ...done]).toEqual(['FAILED', 's'])
  })

  test.each<[string, (task: TaskHandle) => unknown]>([
    ['ask', (task) => task.ask('A?')],
    ['ask with a timeout', (task) => task.ask('A?', { timeout: '1h' })],
    ['wait', (task) => task.wait('paid')],
    ['sleep', (task) => task.sleep('1h')],
    ['authorize', (task) => task.authorize({ callback: ({ state }) => `https://consent.example/${state}` })],
    ['inbox.next', (task) => task.inbox.next()],
    ['inbox.take', (task) => task.inbox.take()],
    ['two questions', (task) => [task.ask('A?'), task.ask('B?')]],
  ])('of %s: the end withdraws it, and nothing is left that waits', async (_, forget) => {
    const rejections = unhandled()
    const server = await openCrashable(({ wait }) => async (task) => {
      forget(task)
      if (task.text === 'later') await wait(60_000)
      return 'done'
    })
    const ids = [await server.send('at once'), await server.send('later')]
    await server.advance(60_000)
    for (const id of ids) {
      expect(resultOf(await server.get(id))).toBe('done')
      expect(await server.header(id)).toMatchObject({ state: 'TASK_STATE_COMPLETED', waiting: undefined, holder: undefined })
      expect(await brokenLaws(server, id)).toEqual([])
    }
    await server.crash()
    await server.advance(10 * 3_600_000)
    for (const id of ids) expect(await server.state(id)).toBe('COMPLETED')
    expect(rejections).toEqual([])
  })

  test('of a question that times out while steps still run: the step counts, and the process lives', async () => {
    const rejections = unhandled()
    const server = await openCrashable(({ wait }) => async (task) => {
      void task.ask('A?', { timeout: '1s' })
      return task.step('s', async () => {
        await wait(10_000)
        return 'worked'
      })
    })
    const id = await server.send('go')
    await server.advance(20_000)
    expect(resultOf(await server.get(id))).toBe('worked')
    expect(rejections).toEqual([])
  })

  test('what is called after the end settles no more and does nothing', async () => {
    const rejections = unhandled()
    const later: string[] = []
    const server = await openCrashable(({ wait }) => (task) => {
      void wait(1_000).then(async () => {
        const calls = [task.step('late', () => void later.push('ran')), task.ask('A?'), task.sleep(1), task.inbox.take()]
        await Promise.allSettled(calls).then(() => later.push('settled'))
      })
      return 'done'
    })
    const id = await server.send('go')
    await server.rest()
    const before = await server.comesTo(id, 'COMPLETED')
    await server.advance(60_000)
    expect(await server.get(id)).toEqual(before)
    expect(later).not.toContain('ran')
    expect(rejections).toEqual([])
  })
})

describe('a cancel', () => {
  test("during a step that ignores its signal: CANCELED at once, the place free after 10 s, and what the step gives later is nobody's", async () => {
    const begun: string[] = []
    const server = await openCrashable(
      ({ wait }) =>
        async (task) => {
          begun.push(task.text)
          if (task.text === 'next') return 'next'
          const value = await task.step('s', async () => {
            await wait(60_000)
            return 'late'
          })
          begun.push('after the step')
          return value
        },
      { concurrency: 1 },
    )
    const id = await server.send('go')
    const next = await server.send('next')
    await server.rest()
    const answered = await server.cancel(id)
    expect(answered.result.status.state).toBe('TASK_STATE_CANCELED')
    await server.advance(9_999)
    expect([await server.state(next), ...begun]).toEqual(['SUBMITTED', 'go'])
    await server.advance(1)
    expect([await server.state(next), ...begun]).toEqual(['COMPLETED', 'go', 'next'])
    await server.advance(120_000)
    expect(await server.get(id)).toEqual(answered.result)
    expect(begun).toEqual(['go', 'next'])
    await server.crash()
    expect(await server.get(id)).toEqual(answered.result)
    expect(await brokenLaws(server, id)).toEqual([])
  })

  test('during a step that obeys frees the place at once, and the abort is no failure of the step', async () => {
    const seen: unknown[] = []
    const server = await openCrashable(
      () => async (task) => {
        if (task.text === 'next') return 'next'
        await task
          .step('s', ({ signal }) => new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))), {
            retry: 5,
          })
          .catch((error: unknown) => seen.push(error))
        throw task.signal.reason
      },
      { concurrency: 1 },
    )
    const id = await server.send('go')
    const next = await server.send('next')
    await server.rest()
    await server.cancel(id)
    await server.rest()
    expect([await server.state(id), await server.state(next)]).toEqual(['CANCELED', 'COMPLETED'])
    expect(server.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('between two tries of a step: there is no further try', async () => {
    let tries = 0
    const server = await openCrashable(() => (task) => task.step('s', () => Promise.reject(new Error(`${++tries}`)), { retry: 9 }))
    const id = await server.send('go')
    await server.advance(4_000)
    expect(tries).toBe(3)
    await server.cancel(id)
    await server.advance(600_000)
    expect([await server.state(id), tries]).toEqual(['CANCELED', 3])
  })

  test('stays over a crash, and the function is not run again', async () => {
    let begun = 0
    const server = await openCrashable(({ hold }) => async (task) => {
      begun++
      await task.step('s', () => 1)
      await hold(1)
    })
    const id = await server.send('go')
    await server.rest()
    await server.cancel(id)
    await server.crash()
    await server.advance(60_000)
    expect([await server.state(id), begun]).toEqual(['CANCELED', 1])
  })
})

describe('an agent that', () => {
  test('catches the abort and returns a result is not heard', async () => {
    const server = await openCrashable(({ wait }) => async (task) => {
      await task
        .step('s', ({ signal }) => new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))))
        .catch(() => undefined)
      await wait(1_000)
      return completed('after all', { late: true })
    })
    const id = await server.send('go')
    await server.rest()
    const { result } = await server.cancel(id)
    await server.advance(60_000)
    await server.crash()
    expect(await server.get(id)).toEqual(result)
  })

  test('never settles can be canceled, and holds up nobody', async () => {
    const server = await openCrashable(() => () => new Promise<never>(() => {}))
    const id = await server.send('go')
    await server.advance(3_600_000)
    await server.cancel(id)
    expect(await server.state(id)).toBe('CANCELED')
  })

  test('never settles after a step is taken over like any other', async () => {
    const server = await openCrashable(({ number }) => async (task) => {
      const value = await task.step('s', () => number)
      return number === 1 ? new Promise<never>(() => {}) : value
    })
    const id = await server.send('go')
    await server.rest()
    await server.crash()
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe(1)
  })

  test.each<[string, Run]>([
    [
      'waiting for nothing',
      function* () {
        for (let i = 0; ; i++) yield chunk('a', `${i};`)
      },
    ],
    [
      'waiting for nothing, asynchronously',
      async function* () {
        for (let i = 0; ; i++) yield chunk('a', `${i};`)
      },
    ],
    [
      'notes',
      async function* () {
        for (let i = 0; ; i++) yield working(`${i}`)
      },
    ],
    [
      'between steps',
      async function* (task) {
        for (let i = 0; ; i++) yield chunk('a', `${await task.step(`${i}`, () => i)};`)
      },
    ],
  ])('yields for ever, %s, is canceled like any other, and others are served meanwhile', async (_, run) => {
    const server = await openCrashable(() => (task) => (task.text === 'other' ? 'served' : run(task)))
    const id = await server.send('go')
    // It never rests, so the clock cannot be moved; turns of the event loop go by instead.
    const turns = async (count: number) => {
      for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
    await turns(20)
    const other = await server.send('other')
    await turns(5)
    expect(resultOf(await server.get(other))).toBe('served')
    const { result } = await server.cancel(id)
    expect(result.status.state).toBe('TASK_STATE_CANCELED')
    await turns(20)
    const task = await server.get(id)
    expect(task).toEqual(result)
    expect(await brokenLaws(server, id)).toEqual([])
  })

  test('yields for ever has at most 64 outputs uncommitted', async () => {
    let made = 0
    const server = await openCrashable(
      () =>
        function* () {
          for (;;) yield chunk('a', `${made++};`)
        },
    )
    const id = await server.send('go')
    for (let look = 0; look < 20; look++) {
      await new Promise((resolve) => setImmediate(resolve))
      const log = await server.log(id)
      const kept = log.filter(({ kind }) => kind === 'artifact').length
      // What is committed between the two looks only makes this smaller; one more may be under way to be yielded.
      expect(made - kept).toBeLessThanOrEqual(66)
    }
    await server.cancel(id)
  })

  test('yields after returning, from finally: what it yields there comes before its end', async () => {
    const server = await openCrashable(
      () =>
        async function* () {
          try {
            yield chunk('a', 'one;')
            return 'returned'
          } finally {
            yield chunk('a', 'two;')
          }
        },
    )
    const id = await server.send('go')
    const task = await server.comesTo(id, 'COMPLETED')
    expect(artifactsOf(task)).toEqual({ a: 'one;two;', result: 'returned' })
    expect(await brokenLaws(server, id)).toEqual([])
  })

  test('yields after returning, by an iterator that goes on: it is not asked for more', async () => {
    let asked = 0
    const endless = {
      next() {
        asked++
        return Promise.resolve(asked === 2 ? { done: true, value: 'returned' } : { done: false, value: chunk('a', `${asked};`) })
      },
      return: () => Promise.resolve({ done: true, value: undefined }),
      throw: (error: unknown) => Promise.reject(error),
      [Symbol.asyncIterator]() {
        return this
      },
    }
    const server = await openCrashable(() => (() => endless) as unknown as Run)
    const id = await server.send('go')
    const task = await server.comesTo(id, 'COMPLETED')
    await server.advance(60_000)
    expect(artifactsOf(task)).toEqual({ a: '1;', result: 'returned' })
    expect(asked).toBe(2)
  })

  test.each<[string, unknown]>([
    ['a text', 'secret'],
    ['nothing', undefined],
    ['null', null],
    ['a number', 42],
    ['an object', { secret: true }],
    ['a promise', Promise.resolve('secret')],
  ])('throws a non-error fails its task, also after a step and a crash: %s', async (_, thrown) => {
    const server = await openCrashable(({ hold }) => async (task) => {
      await task.step('s', () => 1)
      await hold(1)
      throw thrown
    })
    const id = await server.send('go')
    await server.rest()
    await server.crash()
    const task = await server.comesTo(id, 'FAILED')
    expect(JSON.stringify(task)).not.toMatch(/secret/)
    expect(server.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
  })

  test('throws in finally fails its task, after the steps that still run', async () => {
    const done: string[] = []
    const server = await openCrashable(({ wait }) => async (task) => {
      try {
        void task.step('s', async () => {
          await wait(1_000)
          done.push('s')
        })
        return 'never seen'
      } finally {
        // biome-ignore lint/correctness/noUnsafeFinally: what such an agent does is what is tested.
        throw new Error('in finally')
      }
    })
    const id = await server.send('go')
    await server.advance(2_000)
    const task = await server.comesTo(id, 'FAILED')
    expect(task.artifacts ?? []).toEqual([])
    expect(done).toEqual(['s'])
  })

  test('mutates what it yielded changes nothing of it, live or on a rerun', async () => {
    const server = await openCrashable(
      ({ number, hold }) =>
        async function* (task) {
          const data = { list: [number] }
          const parts = [{ data }, { text: 'as it was' }]
          yield artifact('whole', parts)
          data.list.push(99)
          parts.push({ text: 'added' })
          const text = { text: `${number};` }
          yield chunk('grown', text)
          text.text = 'changed'
          await task.step('s', () => 1)
          await hold(1)
          yield chunk('grown', text)
          return undefined
        },
    )
    const id = await server.send('go')
    await server.rest()
    expect(artifactsOf(await server.get(id))).toEqual({ whole: '{"list":[1]}as it was', grown: '1;' })
    await server.crash()
    expect(artifactsOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ whole: '{"list":[1]}as it was', grown: '2;changed' })
  })

  test('mutates what it returned, asked or got changes nothing either', async () => {
    const seen: string[] = []
    const server = await openCrashable(({ hold }) => async (task) => {
      const prompt = { text: 'A?' }
      const asked = task.ask(prompt)
      prompt.text = 'changed'
      const { message } = await asked
      seen.push(wordsOf(message.parts))
      Object.assign(message.parts[0] ?? {}, { text: 'changed' })
      await task.step('s', () => 1)
      await hold(1)
      const value = { list: [1] }
      setImmediate(() => value.list.push(2))
      return value
    })
    const id = await server.send('go')
    const asked = await server.comesTo(id, 'INPUT_REQUIRED')
    expect(wordsOf(asked.status.message.parts)).toBe('A?')
    await server.say(id, 'yes')
    await server.rest()
    await server.crash()
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ list: [1] })
    expect(seen).toEqual(['yes', 'yes'])
  })
})

const mistakes: readonly [string, Program][] = [
  ['a result that JSON does not know', () => async (task) => (await task.step('s', () => 1)) && (new Map() as never)],
  [
    'a yield of what is none',
    () =>
      async function* (task) {
        await task.step('s', () => 1)
        yield 5 as never
      },
  ],
  [
    'a chunk after the last',
    () =>
      async function* (task) {
        yield chunk('a', 'x', { last: true })
        await task.step('s', () => 1)
        yield chunk('a', 'y')
      },
  ],
]
test.each(mistakes)('%s fails the task alike live and on a rerun', async (_, program) => {
  const live = await openCrashable(program)
  await live.comesTo(await live.send('go'), 'FAILED')
  const server = await openCrashable(({ hold }) => async (task) => {
    await task.step('s', () => 1)
    await hold(1)
  })
  const id = await server.send('go')
  await server.rest()
  await server.crash(program)
  await server.comesTo(id, 'FAILED')
  expect(await brokenLaws(server, id)).toEqual([])
})

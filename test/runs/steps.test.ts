/** A step is done once and recorded: its value, or its last failure, under a key of its own in the turn. */

import { describe, expect, test } from 'vitest'
import { inputRequired, StepFailedError } from '../../src/index.js'
import { openCrashable, type Program, resultOf, toldBy } from './kit.js'

describe('the value of a step is what JSON makes of it, live and on a rerun alike', () => {
  class Money {
    readonly amount = 5
    toJSON() {
      return { eur: this.amount }
    }
  }
  test.each<[string, unknown, unknown]>([
    ['a text', 'half a \u{1f600}', 'half a \u{1f600}'],
    ['nothing', undefined, undefined],
    ['null', null, null],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['members without a value', { a: 1, b: undefined, c: { d: undefined } }, { a: 1, c: {} }],
    ['a list with holes', [1, undefined, Number.NaN], [1, null, null]],
    ['minus zero', -0, 0],
    ['an object of a class', new Money(), { eur: 5 }],
    ['a map', new Map([[1, 2]]), {}],
    ['__proto__ as a name', JSON.parse('{"__proto__": 1}'), JSON.parse('{"__proto__": 1}')],
  ])('%s', async (_, given, kept) => {
    const seen: unknown[] = []
    const server = await openCrashable(({ hold }) => async (task) => {
      seen.push(await task.step('s', () => given as never))
      await hold(1)
    })
    const id = await server.send('go')
    await server.rest()
    await server.crash()
    expect(await server.state(id)).toBe('COMPLETED')
    expect(seen).toStrictEqual([kept, kept])
  })

  test('what the function does to the value later changes no record', async () => {
    const seen: string[] = []
    const server = await openCrashable(({ hold }) => async (task) => {
      const original = { list: [1] }
      const value = await task.step('s', () => original)
      seen.push(JSON.stringify(value))
      original.list.push(2)
      value.list.push(3)
      await task.step('t', () => 1)
      await hold(1)
    })
    await server.send('go')
    await server.rest()
    await server.crash()
    expect(seen).toEqual(['{"list":[1]}', '{"list":[1]}'])
  })

  const circle: { self?: unknown } = {}
  circle.self = circle
  test.each<[string, unknown]>([
    ['a bigint', 1n],
    ['an object that holds itself', circle],
    [
      'an object whose toJSON throws',
      {
        toJSON: () => {
          throw new Error('no')
        },
      },
    ],
  ])('what JSON does not know fails the step, and says so: %s', async (_, given) => {
    const seen: unknown[] = []
    let calls = 0
    const server = await openCrashable(({ hold }) => async (task) => {
      const error = await task
        .step('s', () => {
          calls++
          return given as never
        })
        .then(
          () => undefined,
          (thrown: unknown) => thrown,
        )
      seen.push({ ...toldBy(error), isError: error instanceof Error })
      await task.step('t', () => 1)
      await hold(1)
    })
    const id = await server.send('go')
    await server.rest()
    await server.crash()
    expect(await server.state(id)).toBe('COMPLETED')
    expect(seen[0]).toMatchObject({ isError: true, message: expect.stringMatching(/./) })
    expect(seen[1]).toEqual(seen[0])
    expect(calls).toBe(1)
  })
})

describe("a step's failure", () => {
  const thrown: readonly [string, unknown][] = [
    ['an error', new RangeError('too far')],
    ['an error with a cause', new Error('outer', { cause: new Error('inner') })],
    ['a text', 'no'],
    ['a number', 7],
    ['null', null],
    ['undefined', undefined],
    ['an object', { code: 'E_NO' }],
    ['an object that cannot be shown', Object.create(null)],
    [
      'an error whose message throws',
      Object.defineProperty(new Error(), 'message', {
        get: () => {
          throw new Error('no')
        },
      }),
    ],
  ]

  test.each(thrown)('that the author caught is the same after a crash, and the step is not run again: %s', async (_, reason) => {
    const seen: ReturnType<typeof toldBy>[] = []
    let calls = 0
    const server = await openCrashable(({ hold }) => async (task) => {
      try {
        await task.step('risky', () => {
          calls++
          throw reason
        })
      } catch (error) {
        expect(error).toBeInstanceOf(StepFailedError)
        seen.push(toldBy(error))
      }
      await task.step('after', () => 1)
      await hold(1)
      return 'went on'
    })
    const id = await server.send('go')
    await server.rest()
    await server.crash()
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe('went on')
    expect(seen).toHaveLength(2)
    expect(seen[0]).toMatchObject({ name: 'StepFailedError', key: 'risky' })
    expect(seen[1]).toEqual(seen[0])
    expect(calls).toBe(1)
  })

  test('is thrown with the key and the reason of the last try', async () => {
    const seen: unknown[] = []
    const server = await openCrashable(() => async (task) => {
      let tries = 0
      await task
        .step('risky', async () => Promise.reject(new RangeError(`try ${++tries}`)), { retry: 1 })
        .catch((error: unknown) => seen.push(toldBy(error)))
    })
    await server.send('go')
    await server.advance(1_000)
    expect(seen).toEqual([
      {
        name: 'StepFailedError',
        key: 'risky',
        reason: { name: 'RangeError', message: 'try 2' },
        message: expect.stringContaining('risky'),
      },
    ])
  })

  test('that nobody catches fails the task with a text that shows nothing', async () => {
    const server = await openCrashable(
      () => (task) =>
        task.step('risky', () => {
          throw new Error('secret at /etc/passwd')
        }),
    )
    const id = await server.send('go')
    const task = await server.comesTo(id, 'FAILED')
    expect(JSON.stringify(task)).not.toMatch(/secret|passwd|risky/)
    expect(server.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
  })

  test('of one in Promise.all is what the author gets, and the others are recorded all the same', async () => {
    const calls: string[] = []
    const server = await openCrashable(({ wait, hold }) => async (task) => {
      const one = (key: string, ms: number, fails = false) =>
        task.step(key, async () => {
          calls.push(key)
          await wait(ms)
          if (fails) throw new Error(key)
          return key
        })
      const all = await Promise.all([one('a', 30), one('b', 10, true), one('c', 20)]).catch((error: unknown) => toldBy(error).key)
      const rest = await Promise.all([one('d', 40)])
      await hold(1)
      return [all, rest]
    })
    const id = await server.send('go')
    await server.advance(100)
    await server.crash()
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual(['b', ['d']])
    expect(calls).toEqual(['a', 'b', 'c', 'd'])
  })
})

describe('a key', () => {
  const twice: Program = () => async (task) => {
    await task.step('same', () => 1)
    await task.step('same', () => 2)
    return 'never'
  }
  const atOnce: Program = () => async (task) => {
    await Promise.all([task.step('same', () => 1), task.step('same', () => 2)])
    return 'never'
  }
  const caught: Program = () => async (task) => {
    await task.step('same', () => 1)
    await task.step('same', () => 2).catch(() => undefined)
    return 'never'
  }
  test.each([
    ['one after the other', twice],
    ['at once', atOnce],
    ['and caught', caught],
  ])('that is used for two steps fails the task, with a message for the author: %s', async (_, program) => {
    const server = await openCrashable(program)
    const id = await server.send('go')
    const task = await server.comesTo(id, 'FAILED')
    const told = server.lines.filter(({ level }) => level === 'error').map(({ fields }) => String(fields['error']))
    expect(told.join()).toMatch(/same/)
    expect(JSON.stringify(task)).not.toMatch(/same/)
  })

  test('is its own in each turn: the step of the next turn is another one', async () => {
    const calls: string[] = []
    const server = await openCrashable(({ number }) => async (task) => {
      const value = await task.step('s', () => {
        calls.push(`${number}/${task.turn}`)
        return task.turn
      })
      return task.turn === 1 ? inputRequired(`${value}`) : value
    })
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED', /1/)
    await server.crash()
    await server.say(id, 'on')
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe(2)
    expect(calls).toEqual(['1/1', '2/2'])
  })

  test.each(['', ' ', 'a/b', '__proto__', 'constructor', 'x'.repeat(10_000), 'ü\u{1f600}', "'; drop table task; --"])(
    'may be any text that is not empty: %j',
    async (key) => {
      let calls = 0
      const server = await openCrashable(({ hold }) => async (task) => {
        const value = await task.step(key, () => ++calls)
        await hold(1)
        return value
      })
      const id = await server.send('go')
      await server.rest()
      await server.crash()
      const state = await server.state(id)
      if (key.trim() === '') return expect(['FAILED', 'COMPLETED']).toContain(state)
      expect([state, calls]).toEqual(['COMPLETED', 1])
    },
  )
})

describe('retry', () => {
  test('comes after 1 s, 2 s, 4 s … and never more than a minute', async () => {
    const at: number[] = []
    const server = await openCrashable(({ world }) => async (task) => {
      const begun = world.now()
      return task.step(
        's',
        () => {
          at.push((world.now() - begun) / 1_000)
          if (at.length < 10) throw new Error('not yet')
          return 'at last'
        },
        { retry: 9 },
      )
    })
    const id = await server.send('go')
    await server.advance(999)
    expect(at).toEqual([0])
    await server.advance(1)
    expect(at).toEqual([0, 1])
    await server.advance(400_000)
    expect(at).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243])
    expect(resultOf(await server.get(id))).toBe('at last')
  })

  test('ends with as many tries more as it says', async () => {
    let tries = 0
    const server = await openCrashable(() => async (task) => {
      await task.step('s', () => Promise.reject(new Error(`${++tries}`)), { retry: 2 }).catch(() => undefined)
      return tries
    })
    const id = await server.send('go')
    await server.advance(600_000)
    expect(resultOf(await server.get(id))).toBe(3)
  })

  test('goes on after a crash', async () => {
    const tries: number[] = []
    const server = await openCrashable(
      ({ number }) =>
        (task) =>
          task.step(
            's',
            () => {
              tries.push(number)
              if (number === 1) throw new Error('not here')
              return 'done'
            },
            { retry: 5 },
          ),
    )
    const id = await server.send('go')
    await server.advance(1_500)
    expect(tries).toEqual([1, 1])
    await server.crash()
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe('done')
    expect(tries).toEqual([1, 1, 2])
  })

  test('is none by default', async () => {
    let tries = 0
    const server = await openCrashable(() => (task) => task.step('s', () => Promise.reject(new Error(`${++tries}`))))
    const id = await server.send('go')
    await server.advance(600_000)
    expect([await server.state(id), tries]).toEqual(['FAILED', 1])
  })
})

describe('the timeout of a try', () => {
  test('fails it, fires its signal, and hears nothing of it any more', async () => {
    const seen: unknown[] = []
    const server = await openCrashable(({ wait, hold }) => async (task) => {
      try {
        await task.step(
          's',
          async (step) => {
            step.signal.addEventListener('abort', () => seen.push('aborted'))
            await wait(8_000)
            return 'too late'
          },
          { timeout: '5s' },
        )
      } catch (error) {
        expect(error).toBeInstanceOf(StepFailedError)
        seen.push(toldBy(error))
      }
      await wait(10_000)
      await task.step('t', () => 1)
      await hold(1)
      return 'went on'
    })
    const id = await server.send('go')
    await server.advance(4_999)
    expect(seen).toEqual([])
    await server.advance(1)
    expect(seen).toEqual(['aborted', expect.objectContaining({ name: 'StepFailedError', key: 's' })])
    await server.advance(20_000)
    await server.crash()
    await server.advance(20_000)
    expect(resultOf(await server.get(id))).toBe('went on')
    expect(seen[2]).toEqual(seen[1])
    expect(seen).toHaveLength(3)
  })

  test('is for each try anew', async () => {
    const at: number[] = []
    const server = await openCrashable(({ world }) => (task) => {
      const begun = world.now()
      return task.step(
        's',
        () => {
          at.push((world.now() - begun) / 1_000)
          return at.length < 3 ? new Promise<string>(() => {}) : 'third'
        },
        { retry: 2, timeout: '10s' },
      )
    })
    const id = await server.send('go')
    await server.advance(60_000)
    expect(at).toEqual([0, 11, 23])
    expect(resultOf(await server.get(id))).toBe('third')
  })

  test('does not fire for a try that was in time', async () => {
    let fired = 0
    const server = await openCrashable(({ wait }) => async (task) => {
      await task.step(
        's',
        async (step) => {
          step.signal.addEventListener('abort', () => fired++)
          await wait(4_000)
        },
        { timeout: 5_000 },
      )
      await wait(60_000)
    })
    const id = await server.send('go')
    await server.advance(70_000)
    expect([await server.state(id), fired]).toEqual(['COMPLETED', 0])
  })
})

describe('the idempotency key', () => {
  test('is the same in every try and every rerun of a step, and another for each task, turn and key', async () => {
    const seen = new Map<string, Set<string>>()
    const server = await openCrashable(({ number, hold }) => async (task) => {
      const step = (key: string, isBroken: boolean) =>
        task.step(
          key,
          (at) => {
            const place = `${task.text.split(' ')[0]}/${task.turn}/${key}`
            seen.set(place, (seen.get(place) ?? new Set()).add(at.idempotencyKey))
            expect(at.idempotencyKey).toMatch(/^[\x21-\x7e]{16,255}$/)
            if (isBroken) throw new Error('again')
          },
          { retry: 3 },
        )
      await step('a', false)
      await step('b', number === 1)
      await hold(1)
      return task.turn === 1 ? inputRequired('more?') : undefined
    })
    const ids = [await server.send('one'), await server.send('two')]
    // Two tries of b before the crash.
    await server.advance(1_500)
    await server.crash()
    for (const [place, id] of ids.entries()) {
      await server.comesTo(id, 'INPUT_REQUIRED')
      await server.say(id, `${place === 0 ? 'one' : 'two'} again`)
      await server.comesTo(id, 'COMPLETED')
    }
    expect([...seen.keys()].toSorted()).toEqual(
      ['one', 'two'].flatMap((task) => [1, 2].flatMap((turn) => ['a', 'b'].map((key) => `${task}/${turn}/${key}`))),
    )
    expect([...seen.values()].map(({ size }) => size)).toEqual(Array(8).fill(1))
    expect(new Set([...seen.values()].flatMap((keys) => [...keys])).size).toBe(8)
  })

  test('does not depend on how task, turn and key are put side by side', async () => {
    const keys: string[] = []
    const server = await openCrashable(() => async (task) => {
      for (const key of ['1', '1/1', '/1', '11', '1 1', '"1"']) await task.step(key, (at) => void keys.push(at.idempotencyKey))
    })
    await server.comesTo(await server.send('go'), 'COMPLETED')
    expect(new Set(keys).size).toBe(6)
  })
})

test.each(['crash before', 'fails'] as const)(
  'a step is not begun before its task is sure to be there: where the COMMIT of the task does not take effect (%s), nothing was done for it',
  async (how) => {
    const effects = new Set<string>()
    const server = await openCrashable(() => (task) => task.step('book', ({ idempotencyKey }) => void effects.add(idempotencyKey)), {
      accident: { commit: 1, how },
    })
    // The message is sent again under its id, and its task is another one, with other keys.
    await server.comesTo(await server.send('go'), 'COMPLETED')
    expect(server.isUnhurt()).toBe(false)
    expect(effects.size).toBe(1)
  },
)

test('a step sees its own signal fire when the run is told to stop', async () => {
  const seen: unknown[] = []
  const server = await openCrashable(
    () => (task) =>
      task.step('s', async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        seen.push(signal.reason.why)
      }),
  )
  const id = await server.send('go')
  await server.rest()
  await server.cancel(id)
  await server.rest()
  expect(seen).toEqual(['canceled'])
})

test('a step that is recorded may be followed by thousands more, each done once over crashes', async () => {
  const calls = new Map<number, number>()
  const server = await openCrashable(({ number, hold }) => async (task) => {
    for (let i = 0; i < 2_000; i++) {
      await task.step(`${i}`, () => void calls.set(i, (calls.get(i) ?? 0) + 1))
      if (i === number * 400) await hold(1, 2, 3)
    }
    return 'done'
  })
  const id = await server.send('go')
  await server.rest()
  for (let crash = 0; crash < 3; crash++) await server.crash()
  expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe('done')
  expect([calls.size, ...new Set(calls.values())]).toEqual([2_000, 1])
})

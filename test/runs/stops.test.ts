/** What a function sees when its run is told to stop, and that no function can keep the others waiting by not taking no for an answer. */

import { describe, expect, test } from 'vitest'
import { agent, chunk, type Run, RunStoppedError, type StopReason, type TaskHandle } from '../../src/index.js'
import { bindingNames, openServer, result, userMessage } from '../harness/server.js'
import { begin, getTask, openStill } from '../runtime/kit.js'
import { openCrashable } from './kit.js'

const info = { name: 'Stubborn', description: 'Tries again.' }

/** What a function may await, a new one each time. */
const calls: Readonly<Record<string, (task: TaskHandle, n: number) => Promise<unknown>>> = {
  'task.ask': (task) => task.ask('Well?'),
  'task.authorize': (task) => task.authorize({ callback: ({ state }) => `https://consent.example/${state}` }),
  'task.wait': (task) => task.wait('paid'),
  'task.sleep': (task) => task.sleep('1h'),
  'task.step': (task, n) => task.step(`step ${n}`, ({ signal }) => aborted(signal)),
  'task.stream': (task) => drained(task.stream('story', ({ signal }) => untilAborted(signal))),
  'inbox.next': (task) => task.inbox.next(),
  'inbox.next with a time': (task) => task.inbox.next({ timeout: '1h' }),
}

describe('a run that is told to stop', () => {
  test.each(Object.keys(calls))('by a cancel, in %s: learns it once, and trying again keeps nobody waiting', async (name) => {
    const seen: unknown[] = []
    const { fetch, world } = await openStill(agent(info, (task) => again(task, name, seen)))
    const id = await begin(fetch, 'go')
    await world.advance(0)
    await result(fetch, 'JSONRPC', 'CancelTask', { id })
    await world.advance(60_000)
    expect(seen.map(String)).toEqual(['RunStoppedError: the run was told to stop: its task is canceled'])
    expect((await getTask(fetch, id)).status.state).toBe('TASK_STATE_CANCELED')
  })

  test.each(Object.keys(calls))('by a shutdown, in %s: the server stops, and the task is kept for the next one', async (name) => {
    const seen: unknown[] = []
    const server = await openCrashable(() => (task) => again(task, name, seen))
    const id = await server.send('go')
    await server.advance(0)
    const closed = server.close()
    await server.advance(60_000)
    await closed
    expect(seen.map(whyOf)).toEqual(['shutdown'])
    await server.restart()
    expect((await server.header(id)).attempt).toBe(0)
    expect(await server.cancel(id)).toMatchObject({ result: { status: { state: 'TASK_STATE_CANCELED' } } })
  })

  test('its signal has the same reason, an Error', async () => {
    const reasons: unknown[] = []
    const { fetch, world } = await openStill(
      agent(info, async (task) => {
        task.signal.addEventListener('abort', () => reasons.push(task.signal.reason))
        reasons.push(await task.ask('Well?').catch((error: unknown) => error))
      }),
    )
    const id = await begin(fetch, 'go')
    await world.advance(0)
    await result(fetch, 'JSONRPC', 'CancelTask', { id })
    await world.advance(0)
    expect(reasons).toHaveLength(2)
    expect(reasons[0]).toBe(reasons[1])
    expect(reasons[0]).toBeInstanceOf(RunStoppedError)
  })

  test('what it wants to make good in its catch, as a step, does not happen', async () => {
    const made: string[] = []
    const server = await openCrashable(
      () => async (task) => {
        try {
          await task.ask('Well?')
        } catch {
          await task.step('make good', () => void made.push('made good'))
        } finally {
          made.push('let go')
        }
      },
      { limits: { waitingRuns: 0 } },
    )
    const id = await server.send('go')
    await server.advance(60_000)
    expect(made).toEqual([])
    await server.say(id, 'yes')
    await server.comesTo(id, 'COMPLETED')
    expect(made).toEqual(['let go'])
  })
})

/** What a function may do wrong, again and again, without ever leaving the loop. */
const faults: Readonly<Record<string, (task: TaskHandle) => AsyncGenerator | Promise<unknown>>> = {
  'a key that is used': async (task) => {
    for (;;) await task.step('s', () => 1).catch(() => undefined)
  },
  'a key that is used by a wait': async (task) => {
    for (;;) await task.sleep(1, { key: 's' }).catch(() => undefined)
  },
  'a wrong argument of a step': async (task) => {
    // @ts-expect-error a key is a text
    for (;;) await task.step(5, () => 1).catch(() => undefined)
  },
  'a wrong argument of a wait': async (task) => {
    for (;;) await task.sleep('soon').catch(() => undefined)
  },
  'a wrong argument of the inbox': async (task) => {
    for (;;) await task.inbox.next({ timeout: 'soon' }).catch(() => undefined)
  },
  'a wrong argument of a stream': async (task) => {
    for (;;) await drained(task.stream('', () => [])).catch(() => undefined)
  },
  'a link that cannot be made': async (task) => {
    const callback = () => {
      throw new Error('down')
    }
    for (;;) await task.authorize({ callback }).catch(() => undefined)
  },
  'an output that is none': async function* () {
    for (;;) {
      try {
        yield 42
      } catch {
        // Tries again.
      }
    }
  },
}

describe('a function that does wrong again and again', () => {
  test.each(Object.keys(faults))('%s: others are served, and its task fails', async (name) => {
    // @ts-expect-error 42 is no output, which is the point
    const { fetch, world } = await openStill(agent(info, (task) => (task.text === 'go' ? faults[name]?.(task) : 'served')))
    const id = await begin(fetch, 'go')
    expect((await result(fetch, 'JSONRPC', 'SendMessage', { message: userMessage('another') })).task.status.state).toBe(
      'TASK_STATE_COMPLETED',
    )
    await world.advance(10)
    expect((await getTask(fetch, id)).status.state).toBe('TASK_STATE_FAILED')
  })
})

/** What is no fault, and goes on and on. */
const loops: Readonly<Record<string, (task: TaskHandle) => AsyncGenerator | Promise<unknown>>> = {
  'a URL that may not be called': async (task) => {
    for (;;) await task.fetch('http://127.0.0.1/').catch(() => undefined)
  },
  'a stream that is left at once': async (task) => {
    for (;;) for await (const _ of task.stream('story', () => ['one '])) break
  },
  'outputs after its task has failed': async function* (task) {
    task.step('s', () => 1)
    task.step('s', () => 1).catch(() => undefined)
    for (;;) yield chunk('story', 'one ')
  },
}

test.each(Object.keys(loops))('a function that goes on and on with %s keeps nobody waiting', async (name) => {
  // @ts-expect-error the function returns nothing that is a result
  const server = await openServer(agent(info, (task) => (task.text === 'go' ? loops[name]?.(task) : 'served')))
  const id = await begin(server.fetch, 'go')
  for (const text of ['one', 'another'])
    expect((await result(server.fetch, 'JSONRPC', 'SendMessage', { message: userMessage(text) })).task.status.state).toBe(
      'TASK_STATE_COMPLETED',
    )
  await result(server.fetch, 'JSONRPC', 'CancelTask', { id }).catch(() => undefined)
  expect((await getTask(server.fetch, id)).status.state).toMatch(/CANCELED|FAILED/)
  await server.close()
})

test('a thousand and one calls that fail by themselves are no fault of the function', async () => {
  const poller = agent(info, async (task) => {
    let failed = 0
    for (let n = 0; n < 1_100; n++) await task.fetch('http://127.0.0.1/').catch(() => failed++)
    return String(failed)
  })
  const server = await openServer(poller)
  const { task } = await result(server.fetch, 'JSONRPC', 'SendMessage', { message: userMessage('go') })
  expect(task.artifacts?.[0].parts[0].text).toBe('1100')
  await server.close()
})

describe('what is thrown', () => {
  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  }

  test.each<[string, Run]>([
    [
      'by the function',
      () => {
        throw revoked()
      },
    ],
    [
      'by a step',
      (task) =>
        task.step('s', () => {
          throw revoked()
        }),
    ],
    [
      'by a function, an error whose kind cannot be asked',
      () => {
        throw new Proxy(
          {},
          {
            getPrototypeOf: () => {
              throw new Error('no')
            },
          },
        )
      },
    ],
  ])('%s may throw itself: the task fails', async (_, run) => {
    const { fetch, world } = await openStill(agent(info, run))
    const id = await begin(fetch, 'go')
    await world.advance(0)
    expect((await getTask(fetch, id)).status.state).toBe('TASK_STATE_FAILED')
  })
})

describe('a stream that the function leaves', () => {
  test.each(['begun and dropped', 'begun by two, one dropped'])('%s: the turn ends', async (how) => {
    const server = await openCrashable(() => async (task) => {
      const stream = task.stream('story', () => ['one ', 'two '])
      await stream.next()
      if (how.includes('two')) for await (const _ of task.stream('other', () => ['three '])) break
      return 'done'
    })
    const id = await server.send('go')
    await server.advance(0)
    expect(await server.state(id)).toBe('COMPLETED')
  })

  test('and goes on with later, from a step: it is read to its end', async () => {
    const server = await openCrashable(
      () =>
        async function* (task) {
          const stream = task.stream('story', () => ['one ', 'two '])
          const first = await stream.next()
          await task.step('between', () => undefined)
          if (!first.done) yield first.value
          return yield* stream
        },
    )
    const id = await server.send('go')
    await server.advance(0)
    const task = await server.get(id)
    expect(
      task.artifacts
        .find(({ name }: { name: string }) => name === 'story')
        .parts.map(({ text }: { text: string }) => text)
        .join(''),
    ).toBe('one two ')
  })
})

describe('at one place', () => {
  const waits: Readonly<Record<string, (task: TaskHandle) => Promise<unknown>>> = {
    'its inbox, after another wait': async (task) => {
      const next = task.inbox.next()
      await task.sleep(20)
      await next
    },
    'an answer, beside a stream that was begun': async (task) => {
      await task.stream('story', () => ['one ', 'two ']).next()
      await task.ask('Well?')
    },
  }

  test.each(Object.keys(waits))('who only waits, for %s, leaves it to others', async (name) => {
    const waiting = agent(info, (task) => (task.text === 'go' ? (waits[name]?.(task) as Promise<undefined>) : 'served'))
    const { fetch, world } = await openStill(waiting, { concurrency: 1 })
    await begin(fetch, 'go')
    await world.advance(1_000)
    const id = await begin(fetch, 'another')
    await world.advance(1_000)
    expect((await getTask(fetch, id)).status.state).toBe('TASK_STATE_COMPLETED')
  })

  test('who is told to stop, and wants a step in its finally, leaves it to others at once', async () => {
    const tidy = agent(info, async (task) => {
      if (task.text !== 'go') return 'served'
      try {
        return await task.step('work', ({ signal }) => aborted(signal))
      } finally {
        await task.step('clean up', () => undefined)
      }
    })
    const { fetch, world } = await openStill(tidy, { concurrency: 1 })
    const id = await begin(fetch, 'go')
    await world.advance(0)
    await result(fetch, 'JSONRPC', 'CancelTask', { id })
    const other = await begin(fetch, 'another')
    await world.advance(0)
    expect((await getTask(fetch, other)).status.state).toBe('TASK_STATE_COMPLETED')
  })
})

describe('a run that waits in its inbox', () => {
  test.each(bindingNames)('leaves its place to others: 50 of them at one place, over %s', async (binding) => {
    const chat = agent(info, async (task) => {
      const message = await task.inbox.next()
      return message?.parts[0]?.text ?? 'nothing'
    })
    const server = await openServer(chat, { concurrency: 1 })
    const ids = await Promise.all(Array.from({ length: 50 }, () => begin(server.fetch, 'go')))
    for (const id of ids) {
      const { task } = await result(server.fetch, binding, 'SendMessage', { message: userMessage(`for ${id}`, { taskId: id }) })
      expect(task.artifacts[0].parts[0].text).toBe(`for ${id}`)
    }
    await server.close()
  })

  test('and does a step beside it: the step has a place', async () => {
    let running = 0
    let most = 0
    const both = agent(info, async (task) => {
      const next = task.inbox.next()
      for (const n of [1, 2, 3])
        await task.step(`step ${n}`, async () => {
          most = Math.max(most, ++running)
          await new Promise((resolve) => setImmediate(resolve))
          running--
        })
      await next
    })
    const server = await openServer(both, { concurrency: 2 })
    const ids = await Promise.all(Array.from({ length: 20 }, () => begin(server.fetch, 'go')))
    for (const taskId of ids) await result(server.fetch, 'JSONRPC', 'SendMessage', { message: userMessage('on', { taskId }) })
    expect([most, running]).toEqual([2, 0])
    await server.close()
  })

  test('is not idle: inactivity counts what it does, not what it waits for', async () => {
    const patient = agent({ ...info, inactivity: '1m' }, async (task) => {
      await task.inbox.next()
      await new Promise(() => {})
    })
    const { fetch, world } = await openStill(patient)
    const id = await begin(fetch, 'go')
    await world.advance(600_000)
    expect((await getTask(fetch, id)).status.state).toBe('TASK_STATE_WORKING')
    await begin(fetch, 'on', { taskId: id })
    await world.advance(120_000)
    expect((await getTask(fetch, id)).status.state).toBe('TASK_STATE_FAILED')
  })
})

/** Awaits the call of that name for ever, whatever it rejects with. */
async function again(task: TaskHandle, name: string, seen: unknown[]): Promise<never> {
  for (let n = 1; ; n++) {
    try {
      await calls[name]?.(task, n)
    } catch (error) {
      seen.push(error)
    }
  }
}

const whyOf = (error: unknown): StopReason | undefined => (error instanceof RunStoppedError ? error.why : undefined)

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
}

async function* untilAborted(signal: AbortSignal): AsyncGenerator<string> {
  yield 'once '
  await aborted(signal)
}

async function drained(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

/** Crashes at every COMMIT: an agent that keeps the rules passes, and one that breaks them is found, by the commit and what differed. */

import { agent, artifact, chunk, completed, failed, inputRequired, working } from 'errand'
import { crashEverywhere, type Sandbox } from 'errand/testing'
import { describe, expect, test } from 'vitest'

const info = { name: 'Crashed', description: 'Is crashed everywhere.' }

const asker = agent(info, async function* (task) {
  if (task.turn === 1) {
    yield working('Looking')
    yield chunk('list', 'one ')
    yield chunk('list', 'two', { last: true })
    return inputRequired('Which one?')
  }
  yield artifact('choice', `${task.text} of\n${task.id}\n${task.contextId}`)
  return completed('Done.', { chosen: task.text, task: task.id })
})

const choose = async (t: Sandbox) => {
  const asked = await t.client.send('choose').outcome
  return asked.state === 'input-required' ? asked.reply('two').outcome : asked
}

describe('an agent that keeps the rules', () => {
  test('is the same wherever it crashes', async () => {
    const report = await crashEverywhere(asker, choose)
    expect(report.diverged).toEqual([])
    expect(report.points).toBeGreaterThanOrEqual(8)
  })

  test('is the same over several tasks, callers and times', async () => {
    const sleeper = agent(info, async function* (task) {
      yield working('asleep')
      await task.sleep('20m')
      return `${task.text} at ${task.user.id}`
    })
    const report = await crashEverywhere(sleeper, async (t) => {
      const bob = await t.as('bob')
      const [a, b] = await Promise.all([t.client.send('a').outcome, bob.send('b').outcome])
      const c = await t.client.send('c').outcome
      return { a, b, c }
    })
    expect(report.diverged).toEqual([])
    expect(report.points).toBeGreaterThanOrEqual(12)
  })

  test('is the same where the scenario moves the clock and crashes the server itself', async () => {
    const sleeper = agent(info, async (task) => {
      await task.sleep('3h')
      return 'awake'
    })
    const report = await crashEverywhere(sleeper, async (t) => {
      const sending = t.client.send('sleep')
      await sending.taskId
      await t.advance('1h')
      await t.crash()
      await t.advance('2h')
      return sending.outcome
    })
    expect(report.diverged).toEqual([])
  })

  test('is the same where its caller cancels', async () => {
    const holder = agent(info, async function* (task) {
      yield working('holding')
      await task.inbox.next()
    })
    const report = await crashEverywhere(holder, async (t) => {
      const sending = t.client.send('hold')
      await sending.cancel()
      return sending.outcome
    })
    expect(report.diverged).toEqual([])
  })

  test('has each effect of a step once, and a failed try is tried again while time moves by itself', async () => {
    const hotel = new Map<string, number>()
    let tries = 0
    const booker = agent(info, async function* (task) {
      yield working('booking')
      const number = await task.step(
        'book',
        ({ idempotencyKey }) => {
          if (++tries % 2 === 1) throw new Error('busy')
          hotel.set(idempotencyKey, (hotel.get(idempotencyKey) ?? 0) + 1)
          return 'A1'
        },
        { retry: 3 },
      )
      return completed('Booked.', { number })
    })
    const report = await crashEverywhere(booker, (t) => t.client.send('book').outcome, {
      reset() {
        hotel.clear()
        tries = 0
      },
      effects: () => Object.fromEntries([...hotel.keys()].map((key) => [key, 'booked'])),
    })
    expect(report.diverged).toEqual([])
    expect(report.points).toBeGreaterThanOrEqual(6)
  })
})

describe('an agent that breaks the rules', () => {
  test('is found by an effect outside of a step', async () => {
    let booked = 0
    const careless = agent(info, async function* (task) {
      yield working('booking')
      booked++
      await task.step('note', () => null)
      return 'booked'
    })
    const report = await crashEverywhere(careless, (t) => t.client.send('book').outcome, {
      reset() {
        booked = 0
      },
      effects: () => ({ booked }),
    })
    expect(report.diverged.length).toBeGreaterThan(0)
    expect(report.diverged[0]).toMatch(/^commit \d+, crash (before|after) it: effects\.booked was 1 and is 2$/)
  })

  test('is found by a memory that does not outlive the process', async () => {
    const seen = new Set<string>()
    const forgetful = agent(info, async function* (task) {
      const isNew = !seen.has(task.id)
      seen.add(task.id)
      yield working()
      await task.step('look', () => null)
      yield artifact('note', isNew ? 'first' : 'again')
      return completed()
    })
    const report = await crashEverywhere(forgetful, (t) => t.client.send('go').outcome, { reset: () => seen.clear() })
    expect(report.diverged.join('\n')).toMatch(/tasks\[0\]\.artifacts\.note\[0\] was "first" and is "again"/)
  })

  test('that never comes to rest after a crash is told, and does not hang', async () => {
    let runs = 0
    const stuck = agent(info, async function* () {
      const run = ++runs
      yield working('at it')
      if (run > 1) await new Promise(() => {})
      return 'done'
    })
    const reset = () => {
      runs = 0
    }
    const report = await crashEverywhere(stuck, (t) => t.client.send('go').outcome, { reset })
    expect(report.diverged.join('\n')).toMatch(/commit \d+, crash before it: it did not come to rest \(nothing goes on/)
  })

  test('that goes on for ever without a crash is an error of its own', async () => {
    const endless = agent(info, () => new Promise<never>(() => {}))
    await expect(crashEverywhere(endless, (t) => t.client.send('go').outcome)).rejects.toThrow(/nothing goes on/)
  })
})

describe('a task that fails without a crash', () => {
  const quoting = agent(info, async (task) => {
    await task.step('quote', () => {
      throw new RangeError('the hotel is full')
    })
  })
  const quote = (t: Sandbox) => t.client.send('x').outcome

  test("is an error that holds the agent's own", async () => {
    const running = crashEverywhere(quoting, quote)
    await expect(running).rejects.toThrow(
      /^crashEverywhere: without any crash a task failed \(The agent failed because of an internal error\.\)/,
    )
    await expect(running).rejects.toThrow(/the agent's error was StepFailedError: the step "quote" failed: the hotel is full/)
    await expect(running).rejects.toThrow(/give the option mayFail$/)
    await expect(running).rejects.toMatchObject({ cause: { name: 'StepFailedError', key: 'quote' } })
  })

  test('is one too where the agent says itself that it failed', async () => {
    const giving = agent(info, () => failed('There is no room.'))
    await expect(crashEverywhere(giving, quote)).rejects.toThrow(/a task failed \(There is no room\.\)\. Where the scenario/)
  })

  test('is one too where the scenario has nothing to do with it in the end', async () => {
    const started = async (t: Sandbox) => void (await t.client.send('x').taskId)
    await expect(crashEverywhere(quoting, started)).rejects.toThrow(/a task failed/)
  })

  test('is what a scenario may be about', async () => {
    const report = await crashEverywhere(quoting, quote, { mayFail: true })
    expect(report.diverged).toEqual([])
    expect(report.points).toBeGreaterThanOrEqual(4)
  })

  test('is told by its error where it is why the scenario throws, or does not come to rest', async () => {
    const throws = async (t: Sandbox) => {
      expect(await quote(t)).toMatchObject({ state: 'completed' })
    }
    await expect(crashEverywhere(quoting, throws)).rejects.toThrow(
      /the scenario threw AssertionError.*the agent's error was StepFailedError/s,
    )
    await expect(crashEverywhere(quoting, throws, { mayFail: true })).rejects.toThrow(/^expected/)
    const waits = async (t: Sandbox) => {
      if ((await quote(t)).state !== 'completed') await new Promise(() => {})
    }
    const waiting = crashEverywhere(quoting, waits, { patienceMs: 50 })
    await expect(waiting).rejects.toThrow(
      /without any crash it did not come to rest \(nothing goes on.*the agent's error was StepFailedError/,
    )
  })

  test('only after a crash is told by its error', async () => {
    let runs = 0
    const frail = agent(info, async function* () {
      yield working('at it')
      if (++runs > 1) throw new Error('I was here before')
      return 'done'
    })
    const reset = () => {
      runs = 0
    }
    const { diverged } = await crashEverywhere(frail, quote, { reset })
    expect(diverged.join('\n')).toMatch(/outcome\.output was "done" and is not there.*; the agent's error was Error: I was/)
  })
})

describe('a scenario', () => {
  test('that throws only after a crash is a divergence', async () => {
    const sleeper = agent(info, async function* (task) {
      yield working('asleep')
      await task.sleep('1h')
    })
    const report = await crashEverywhere(sleeper, (t) => t.client.send('x', { resume: false }).outcome)
    expect(report.diverged.join('\n')).toMatch(/commit \d+, crash (before|after) it: the scenario threw ConnectionError/)
  })

  test('that always throws is an error', async () => {
    await expect(crashEverywhere(asker, () => Promise.reject(new Error('no such luck')))).rejects.toThrow('no such luck')
  })

  test('that waits for what never comes is an error', async () => {
    await expect(crashEverywhere(asker, () => new Promise(() => {}), { patienceMs: 50 })).rejects.toThrow(/nothing goes on that the clock/)
  })

  test('whose agent takes real time is given it, and the clock stays near', async () => {
    const slow = agent(info, async (task) => {
      await task.step('ask elsewhere', () => new Promise<null>((resolve) => setTimeout(() => resolve(null), 60)))
      return 'done'
    })
    const report = await crashEverywhere(slow, async (t) => {
      const before = t.now().getTime()
      const { state } = await t.client.send('x').outcome
      return { state, isNear: t.now().getTime() - before < 3_600_000 }
    })
    expect(report.diverged).toEqual([])
  })
})

test('wrong options are refused', async () => {
  // @ts-expect-error there is no such option
  await expect(crashEverywhere(asker, choose, { effect: () => 1 })).rejects.toThrow(/crashEverywhere has no option "effect"/)
  // @ts-expect-error true or false
  await expect(crashEverywhere(asker, choose, { mayFail: 'yes' })).rejects.toThrow(/mayFail takes true or false/)
  await expect(crashEverywhere(asker, choose, { patienceMs: 0 })).rejects.toThrow(/patienceMs takes a whole number from 1/)
})

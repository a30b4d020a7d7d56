/** How often a task is taken over from the dead before it is given up, and what counts as progress. */

import { describe, expect, test } from 'vitest'
import { chunk, inputRequired, working } from '../../src/index.js'
import { brokenLaws, type Crashable, openCrashable, type Program, resultOf } from './kit.js'

async function crashes(server: Crashable, count: number): Promise<void> {
  for (let crash = 0; crash < count; crash++) await server.crash()
}

const always = Array.from({ length: 100 }, (_, number) => number)

describe('takeovers without progress', () => {
  test('are three; the fourth fails the task, and the function is not begun again', async () => {
    const attempts: number[] = []
    const server = await openCrashable(
      ({ hold }) =>
        async function* (task) {
          attempts.push(task.attempt)
          yield working()
          await hold(...always)
        },
    )
    const id = await server.send('go')
    await server.rest()
    await crashes(server, 3)
    expect([await server.state(id), ...attempts]).toEqual(['WORKING', 1, 2, 3, 4])
    await server.crash()
    const task = await server.comesTo(id, 'FAILED')
    expect(task.status.message.parts[0].text).toMatch(/\w/)
    expect(attempts).toEqual([1, 2, 3, 4])
    expect(await server.header(id)).toMatchObject({ holder: undefined })
    expect(await brokenLaws(server, id)).toEqual([])
  })

  test('are not less for what was put out: a chunk is no record', async () => {
    const server = await openCrashable(
      ({ number, hold }) =>
        async function* () {
          yield working(`at work ${number}`)
          yield chunk('a', `${number};`)
          await hold(...always)
        },
    )
    const id = await server.send('go')
    await server.rest()
    await crashes(server, 4)
    expect(await server.state(id)).toBe('FAILED')
  })

  test('of a task whose function crashes the process at once fail it too', async () => {
    const server = await openCrashable(
      ({ hold }) =>
        () =>
          hold(...always),
    )
    const id = await server.send('go')
    await crashes(server, 5)
    expect(await server.state(id)).toBe('FAILED')
  })

  test('of one task are not those of another', async () => {
    const server = await openCrashable(({ number, hold }) => async (task) => {
      if (task.text === 'bad' || number < 5) await hold(...always)
      return 'well'
    })
    const bad = await server.send('bad')
    await server.rest()
    await crashes(server, 2)
    const good = await server.send('good')
    await server.rest()
    await crashes(server, 2)
    expect([await server.state(bad), await server.state(good)]).toEqual(['FAILED', 'COMPLETED'])
  })
})

describe('progress', () => {
  test('is a record: with one between them takeovers may go on for ever', async () => {
    const attempts: number[] = []
    const server = await openCrashable(({ number, hold }) => async (task) => {
      attempts.push(task.attempt)
      for (let step = 1; step <= 10; step++) {
        await task.step(`${step}`, () => step)
        if (step === number) await hold(...always)
      }
      return 'done'
    })
    const id = await server.send('go')
    await server.rest()
    await crashes(server, 10)
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe('done')
    expect(attempts).toEqual([1, ...Array(10).fill(2)])
  })

  test('a record that was there before does not count again', async () => {
    const server = await openCrashable(({ hold }) => async (task) => {
      await task.step('s', () => 1)
      await hold(...always)
    })
    const id = await server.send('go')
    await server.rest()
    await crashes(server, 3)
    expect(await server.state(id)).toBe('WORKING')
    await server.crash()
    expect(await server.state(id)).toBe('FAILED')
  })

  test('an answer and a new turn are progress', async () => {
    const attempts: string[] = []
    const server = await openCrashable(({ number, hold }) => async (task) => {
      attempts.push(`${task.turn}/${task.attempt}`)
      if (task.turn === 2) {
        if (number < 7) await hold(...always)
        return 'done'
      }
      if (number < 3) await hold(...always)
      await task.ask('A?')
      if (number < 5) await hold(...always)
      return inputRequired('B?')
    })
    const id = await server.send('go')
    await server.rest()
    await crashes(server, 2)
    await server.comesTo(id, 'INPUT_REQUIRED', /A/)
    await server.say(id, 'yes')
    await server.rest()
    await crashes(server, 2)
    await server.comesTo(id, 'INPUT_REQUIRED', /B/)
    await server.say(id, 'on')
    await server.rest()
    await crashes(server, 2)
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe('done')
    expect(attempts).toEqual(['1/1', '1/2', '1/3', '1/2', '1/3', '2/1', '2/2', '2/3'])
  })
})

describe('a task that waits', () => {
  const waits: readonly [string, Program, (server: Crashable, id: string) => Promise<void>][] = [
    ['for an answer', () => async (task) => void (await task.ask('A?')), (server, id) => server.say(id, 'yes')],
    ['for a signal', () => async (task) => void (await task.wait('paid')), (server, id) => server.signal(id, 'paid', 1)],
    ['for a time', () => (task) => task.sleep('1h'), (server) => server.advance(3_600_000)],
    [
      'for consent',
      () => async (task) => void (await task.authorize({ callback: ({ state }) => `https://consent.example/${state}` })),
      (server, id) => server.say(id, 'no'),
    ],
    ['for its next turn', () => (task) => (task.turn === 1 ? inputRequired('more?') : undefined), (server, id) => server.say(id, 'yes')],
  ]
  test.each(waits)('%s does not count the crashes', async (_, program, goOn) => {
    const attempts: number[] = []
    const server = await openCrashable((process) => {
      const run = program(process)
      return (task) => {
        attempts.push(task.attempt)
        return run(task)
      }
    })
    const id = await server.send('go')
    await server.rest()
    await crashes(server, 10)
    await goOn(server, id)
    await server.comesTo(id, 'COMPLETED')
    expect(new Set(attempts)).toEqual(new Set([1]))
    expect(await brokenLaws(server, id)).toEqual([])
  })
})

describe("recovery: 'fail'", () => {
  const info = { recovery: 'fail' } as const

  test('fails a task at work at the next start, and begins its function no more', async () => {
    let begun = 0
    const server = await openCrashable(
      ({ hold }) =>
        async (task) => {
          begun++
          await task.step('s', () => 1)
          await hold(...always)
        },
      { info },
    )
    const id = await server.send('go')
    await server.rest()
    await server.crash()
    const task = await server.comesTo(id, 'FAILED')
    expect(task.status.message.parts[0].text).toMatch(/\w/)
    expect(begun).toBe(1)
    expect(await brokenLaws(server, id)).toEqual([])
  })

  test('leaves a task that waits for its next turn answerable', async () => {
    const server = await openCrashable(() => (task) => (task.turn === 1 ? inputRequired('more?') : 'thanks'), { info })
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED')
    await server.crash()
    await server.say(id, 'yes')
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe('thanks')
  })

  test('leaves a task that has an open question answerable', async () => {
    const server = await openCrashable(() => async (task) => (await task.ask('A?')).text, { info })
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED')
    await server.crash()
    expect(await server.state(id)).toBe('INPUT_REQUIRED')
    await server.say(id, 'yes')
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe('yes')
  })

  test('begins a task that never was at work', async () => {
    const server = await openCrashable(
      ({ number, hold }) =>
        async (task) => {
          if (number === 1) await hold(1)
          return task.text
        },
      { info, concurrency: 1 },
    )
    const [atWork, waiting] = [await server.send('first'), await server.send('second')]
    await server.rest()
    expect(await server.state(waiting)).toBe('SUBMITTED')
    await server.crash()
    expect([await server.state(atWork), await server.state(waiting)]).toEqual(['FAILED', 'COMPLETED'])
  })
})

describe('inactivity', () => {
  const info = { inactivity: '10m' } as const
  const minuteMs = 60_000

  test('fails a run that puts nothing out for so long, and tells it why', async () => {
    const reasons: unknown[] = []
    const server = await openCrashable(
      () => async (task) => {
        task.signal.addEventListener('abort', () => reasons.push(task.signal.reason.why))
        await new Promise(() => {})
      },
      { info },
    )
    const id = await server.send('go')
    await server.advance(10 * minuteMs - 1_000)
    expect(['SUBMITTED', 'WORKING']).toContain(await server.state(id))
    await server.advance(2_000)
    expect(await server.state(id)).toBe('FAILED')
    expect(reasons).toEqual(['inactive'])
    expect(await brokenLaws(server, id)).toEqual([])
  })

  test('begins anew with each output', async () => {
    const server = await openCrashable(
      ({ wait }) =>
        async function* () {
          for (let count = 0; count < 5; count++) {
            await wait(9 * minuteMs)
            yield chunk('a', `${count};`)
          }
          await wait(11 * minuteMs)
        },
      { info },
    )
    const id = await server.send('go')
    await server.advance(50 * minuteMs)
    expect(await server.state(id)).toBe('WORKING')
    await server.advance(10 * minuteMs)
    expect(await server.state(id)).toBe('FAILED')
  })

  test.each<[string, Program, (server: Crashable, id: string) => Promise<void>]>([
    ['an answer', () => async (task) => void (await task.ask('A?')), (server, id) => server.say(id, 'yes')],
    ['a signal', () => async (task) => void (await task.wait('paid')), (server, id) => server.signal(id, 'paid', 1)],
    ['a time', () => (task) => task.sleep('3d'), (server) => server.advance(2 * 1_440 * minuteMs)],
  ])('does not count while the run waits for %s', async (_, program, goOn) => {
    const server = await openCrashable(program, { info })
    const id = await server.send('go')
    await server.advance(1_440 * minuteMs)
    expect(['WORKING', 'INPUT_REQUIRED']).toContain(await server.state(id))
    await goOn(server, id)
    await server.comesTo(id, 'COMPLETED')
  })

  test('is off by default', async () => {
    const server = await openCrashable(() => () => new Promise<never>(() => {}))
    const id = await server.send('go')
    await server.advance(30 * 1_440 * minuteMs)
    // The function has put nothing out, so nothing says that it is at work.
    expect(['SUBMITTED', 'WORKING']).toContain(await server.state(id))
  })
})

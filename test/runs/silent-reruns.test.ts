/** A rerun is silent until it has called what the turn has recorded; then it tells each artifact as this attempt made it. */

import { describe, expect, test } from 'vitest'
import { artifact, chunk, completed, inputRequired, working } from '../../src/index.js'
import { artifactsOf, brokenLaws, historyOf, openCrashable, type Program, resultOf } from './kit.js'

/** Runs `program` until it holds in its first start, crashes there, and gives the log before and after. */
async function crashed(program: Program, next?: Program) {
  const server = await openCrashable(program)
  const id = await server.send('go')
  await server.rest()
  const before = await server.outline(id)
  await server.crash(next)
  const after = (await server.outline(id)).slice(before.length)
  expect(await brokenLaws(server, id)).toEqual([])
  return { server, id, before, after, task: await server.get(id) }
}

describe('a crash between two chunks', () => {
  test('before any step: the artifact begins anew, all of it by the run that goes on', async () => {
    const { before, after } = await crashed(
      ({ number, hold }) =>
        async function* (task) {
          yield chunk('a', `${number}a;`)
          await hold(1)
          yield chunk('a', `${number}b;`)
          await task.step('s', () => 1)
          yield chunk('a', `${number}c;`, { last: true })
        },
    )
    expect(before).toEqual(['SUBMITTED', 'WORKING', 'a=1a;'])
    expect(after).toEqual(['a=2a;', 'a+2b;', 'a+2c;', 'COMPLETED'])
  })

  test('after a step: the first chunk that goes out brings all that the run made before it', async () => {
    const { before, after } = await crashed(
      ({ number, hold }) =>
        async function* (task) {
          yield chunk('a', `${number}a;`)
          await task.step('s', () => 1)
          yield chunk('a', `${number}b;`)
          await hold(1)
          yield chunk('a', `${number}c;`, { last: true })
        },
    )
    expect(before).toEqual(['SUBMITTED', 'WORKING', 'a=1a;', 'a+1b;'])
    expect(after).toEqual(['a=2a;2b;', 'a+2c;', 'COMPLETED'])
  })

  test('around a step: what came before its record is not told again until there is more of it', async () => {
    const { before, after } = await crashed(
      ({ number, hold }) =>
        async function* (task) {
          yield chunk('a', `${number}a;`)
          await task.step('s', () => 1)
          await hold(1)
          yield chunk('b', `${number}b;`)
          yield chunk('a', `${number}c;`)
        },
    )
    expect(before).toEqual(['SUBMITTED', 'WORKING', 'a=1a;'])
    expect(after).toEqual(['b=2b;', 'a=2a;2c;', 'COMPLETED'])
  })

  test('between two steps: the run is silent until it has called the second', async () => {
    const { after, task } = await crashed(
      ({ number, hold }) =>
        async function* (task) {
          await task.step('one', () => 1)
          yield chunk('a', `${number}a;`)
          await task.step('two', () => 2)
          await hold(1)
          yield chunk('a', `${number}b;`)
        },
    )
    expect(after).toEqual(['a=2a;2b;', 'COMPLETED'])
    expect(artifactsOf(task)).toEqual({ a: '2a;2b;' })
  })

  test('in the second turn: the artifact of the first turn is begun anew by it, once', async () => {
    const server = await openCrashable(
      ({ number, hold }) =>
        async function* (task) {
          yield chunk('a', `${task.turn}.${number}a;`)
          await task.step('s', () => 1)
          if (task.turn === 1) return inputRequired('more?')
          yield chunk('a', `${task.turn}.${number}b;`)
          await hold(1)
          yield chunk('a', `${task.turn}.${number}c;`)
          return undefined
        },
    )
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED')
    await server.say(id, 'yes')
    await server.rest()
    await server.crash()
    expect(artifactsOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ a: '2.2a;2.2b;2.2c;' })
    expect((await server.outline(id)).slice(-3)).toEqual(['a=2.2a;2.2b;', 'a+2.2c;', 'COMPLETED'])
    expect(await brokenLaws(server, id)).toEqual([])
  })
})

test('text that differs between attempts is never torn: every reader sees the one or the other', async () => {
  const { server, id, task } = await crashed(
    ({ number, hold }) =>
      async function* (task) {
        for (let line = 0; line < 20; line++) {
          yield chunk('poem', `${number}:${line};`)
          if (line % 5 === 4) await task.step(`save ${line}`, () => line)
          if (line === 12) await hold(1)
        }
      },
  )
  let text = ''
  for (const word of await server.outline(id)) {
    if (word.startsWith('poem=')) text = word.slice(5)
    else if (word.startsWith('poem+')) text += word.slice(5)
    const authors = new Set(text.split(';').map((line) => line.split(':')[0]))
    authors.delete('')
    expect([...authors].length, text).toBeLessThanOrEqual(1)
  }
  expect(artifactsOf(task)['poem']).toBe(Array.from({ length: 20 }, (_, line) => `2:${line};`).join(''))
})

test('notes that were told before a record are not told again', async () => {
  const { server, id } = await crashed(
    ({ number, hold }) =>
      async function* (task) {
        yield working(`looking ${number}`)
        await task.step('s', () => 1)
        yield working(`found ${number}`)
        await task.step('t', () => 1)
        await hold(1)
        yield working(`done ${number}`)
      },
  )
  const notes = (await server.outline(id)).filter((word) => word.startsWith('WORKING: '))
  expect(notes).toEqual(['WORKING: looking 1', 'WORKING: found 1', 'WORKING: done 2'])
})

test('a whole artifact that was put out before a record is there once', async () => {
  const { server, id } = await crashed(
    ({ number, hold }) =>
      async function* (task) {
        yield artifact('report', `by ${number}`)
        await task.step('s', () => 1)
        await hold(1)
      },
  )
  expect(await server.outline(id)).toEqual(['SUBMITTED', 'WORKING', 'report=by 1', 'COMPLETED'])
})

test('WORKING is written once, however often the turn is run', async () => {
  const { server, id } = await crashed(({ hold }) => async (task) => {
    await task.step('s', () => 1)
    await hold(1, 2)
  })
  await server.crash()
  expect(await server.outline(id)).toEqual(['SUBMITTED', 'WORKING', 'COMPLETED'])
})

test('a function that returns while it is still silent first sends each artifact whole', async () => {
  const { after, task } = await crashed(
    ({ number, hold }) =>
      async function* (task) {
        yield chunk('a', `${number}a;`)
        await task.step('s', () => 1)
        await hold(1)
      },
    ({ number }) =>
      async function* () {
        yield working('not told')
        yield chunk('a', `${number}a;`)
        yield chunk('a', `${number}b;`)
        yield artifact('b', `${number}c;`)
        return completed('done', 'r')
      },
  )
  expect(after.toSorted()).toEqual(['COMPLETED: done', 'a=2a;2b;', 'b=2c;', 'result=r'])
  expect(after.at(-1)).toBe('COMPLETED: done')
  expect(artifactsOf(task)).toEqual({ a: '2a;2b;', b: '2c;', result: 'r' })
})

test('a function that throws while it is still silent fails the task', async () => {
  const { task } = await crashed(
    ({ hold }) =>
      async (task) => {
        await task.step('s', () => 1)
        await hold(1)
      },
    () => () => {
      throw new Error('changed its mind')
    },
  )
  expect(task.status.state).toBe('TASK_STATE_FAILED')
})

test('history is what it was when the turn began, on a rerun too', async () => {
  const seen: unknown[] = []
  const server = await openCrashable(({ hold }) => async (task) => {
    seen.push(task.history.map(({ parts }) => parts[0] && 'text' in parts[0] && parts[0].text))
    await task.step('s', () => 1)
    await hold(1)
  })
  const id = await server.send('go')
  await server.rest()
  await server.say(id, 'and this')
  await server.crash()
  expect(seen).toEqual([['go'], ['go']])
  expect(historyOf(await server.get(id))).toEqual(['> go', '> and this'])
})

test('what a run knows of its turn is the same on a rerun', async () => {
  const seen: unknown[] = []
  const server = await openCrashable(({ hold }) => async (task) => {
    const { id, contextId, turn, text, user, message, acceptedOutputModes, extensions } = task
    seen.push({ id, contextId, turn, text, user, message, acceptedOutputModes, extensions })
    await task.step('s', () => 1)
    await hold(1)
  })
  await server.send('go', { metadata: { colour: 'blue' } })
  await server.rest()
  await server.crash()
  expect(seen).toHaveLength(2)
  expect(seen[1]).toEqual(seen[0])
})

describe('a stream', () => {
  const written: string[] = []
  const writing: Program = ({ number, hold }) =>
    async function* (task) {
      const text = yield* task.stream('story.md', async function* () {
        written.push(`${number}`)
        yield `${number}x;`
        yield `${number}y;`
        if (task.text === 'hold inside') await hold(1)
        yield `${number}z;`
      })
      if (task.text === 'hold after') await hold(1)
      return { story: text }
    }
  const storyOf = (words: readonly string[]) => words.filter((word) => /^story\.md[=+]./.test(word))

  test('that is not recorded begins its artifact anew', async () => {
    written.length = 0
    const server = await openCrashable(writing)
    const id = await server.send('hold inside')
    await server.rest()
    const before = await server.outline(id)
    expect(storyOf(before)[0]).toMatch(/^story\.md=1x;/)
    await server.crash()
    const task = await server.comesTo(id, 'COMPLETED')
    expect(storyOf((await server.outline(id)).slice(before.length))[0]).toMatch(/^story\.md=2x;/)
    expect(artifactsOf(task)['story.md']).toBe('2x;2y;2z;')
    expect(resultOf(task)).toEqual({ story: '2x;2y;2z;' })
    expect(written).toEqual(['1', '2'])
    expect(await brokenLaws(server, id)).toEqual([])
  })

  test('that is recorded is not run again, puts nothing out, and gives its text', async () => {
    written.length = 0
    const server = await openCrashable(writing)
    const id = await server.send('hold after')
    await server.rest()
    const before = await server.outline(id)
    await server.crash()
    const task = await server.comesTo(id, 'COMPLETED')
    expect(storyOf((await server.outline(id)).slice(before.length))).toEqual([])
    expect(artifactsOf(task)['story.md']).toBe('1x;1y;1z;')
    expect(resultOf(task)).toEqual({ story: '1x;1y;1z;' })
    expect(written).toEqual(['1'])
  })

  test('two of one artifact in a turn: the second begins it anew, and a crash between them changes nothing', async () => {
    const { task, server, id } = await crashed(
      ({ number, hold }) =>
        async function* (task) {
          const one = yield* task.stream('s', () => [`${number}a;`, `${number}b;`])
          await hold(1)
          const two = yield* task.stream('s', () => [`${number}c;`])
          return [one, two]
        },
    )
    expect(artifactsOf(task)['s']).toBe('2c;')
    expect(resultOf(task)).toEqual(['1a;1b;', '2c;'])
    expect(await brokenLaws(server, id)).toEqual([])
  })
})

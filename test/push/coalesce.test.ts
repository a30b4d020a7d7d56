/** `push: { coalesce: 'chunks' }`: fewer posts for artifacts that grow by the word. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { agent, artifact, chunk, completed, sqlite, working } from '../../src/index.js'
import { chunksAhead, mergedBody } from '../../src/push/coalesce.js'
import type { TaskEvent } from '../../src/task/event.js'
import { fold } from '../../src/task/fold.js'
import { artifact as artifactEvent, created, moved, newTask } from '../laws/kit.js'
import { gate } from '../runtime/kit.js'
import { freshFile } from '../store/sqlite/watched.js'
import { numbersOf, openPushing, saysOf, send } from './kit.js'

const typist = agent({ name: 'Typist', description: 'Types.' }, async function* (task) {
  const words = Number(task.text)
  for (let n = 0; n < words; n++) yield chunk('page', `${n};`, { last: n === words - 1 })
  yield working('that was the page')
  yield artifact('cover', 'blue')
  return completed('done')
})

test('F067 a webhook for each word: chunks go out together, and each status by itself', async () => {
  const plain = await openPushing(typist)
  await send(plain, '500')
  await plain.world.advance(0)
  expect(plain.posts).toHaveLength(504)
  const pushing = await openPushing(typist, { push: { coalesce: 'chunks' } })
  await send(pushing, '500')
  await pushing.world.advance(0)
  expect(pushing.posts.length).toBeLessThan(30)
  expect(saysOf(pushing.posts[0] as never)).toBe('WORKING')
  const [page, others] = [pushing.posts.slice(1, -3), pushing.posts.slice(-3)]
  expect(page.flatMap(saysOf)).toEqual(Array.from({ length: 500 }, (_, n) => ({ text: `${n};` })))
  expect(page.map(({ event }) => event.artifactUpdate.append)).toEqual(page.map((_, i) => i > 0))
  expect(page.map(({ event }) => event.artifactUpdate.lastChunk)).toEqual(page.map((_, i) => i === page.length - 1))
  expect(others.map(saysOf)).toEqual(['WORKING', [{ text: 'blue' }], 'COMPLETED'])
})

test('what is made one while the receiver is slow goes out under one key, however often', async () => {
  const [began, rest] = [gate(), gate()]
  const slow = agent({ name: 'Slow', description: 'Types in two goes.' }, async function* (task) {
    yield chunk('page', 'a')
    await task.step('wait', async () => {
      began.open()
      await rest.opened
    })
    for (const letter of 'bcd') yield chunk('page', letter)
    return completed('done')
  })
  const pushing = await openPushing(slow, { push: { coalesce: 'chunks' } })
  const first = gate()
  let failures = 2
  pushing.answer = async ({ number }) => {
    if (number === 3) await first.opened
    return number === 6 && failures-- > 0 ? 503 : 204
  }
  const sending = send(pushing, 'go')
  await pushing.world.advance(0)
  await began.opened
  rest.open()
  await sending
  first.open()
  await pushing.world.advance(60_000)
  const texts = pushing.posts.map(saysOf)
  expect(texts.slice(0, 2)).toEqual(['WORKING', [{ text: 'a' }]])
  expect(numbersOf(pushing.posts)).toEqual([2, 3, 6, 6, 6, 7])
  expect(new Set(pushing.posts.slice(2, 5).map(({ body }) => body)).size).toBe(1)
  expect(texts[2]).toEqual([{ text: 'b' }, { text: 'c' }, { text: 'd' }])
})

test('whatever is merged, the task is the same', () => {
  const line = fc.oneof(
    fc.record({
      artifactId: fc.constantFrom('a', 'b'),
      text: fc.string(),
      append: fc.boolean(),
      lastChunk: fc.boolean(),
      metadata: fc.option(fc.dictionary(fc.constantFrom('x', 'y'), fc.integer(), { minKeys: 1 }), { nil: undefined }),
      name: fc.option(fc.constantFrom('one', 'two'), { nil: undefined }),
    }),
    fc.constant('status' as const),
  )
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      const task = newTask()
      const opened = new Set<string>()
      const events = lines.map((one, i): TaskEvent => {
        const seq = i + 2
        if (one === 'status') return { seq, ...moved(task, 'TASK_STATE_WORKING', 2_000 + i) }
        const { artifactId, text, lastChunk } = one
        // As agents' outputs are: nothing is appended to what is not there, or is closed.
        const append = one.append && opened.has(artifactId)
        lastChunk ? opened.delete(artifactId) : opened.add(artifactId)
        const event = JSON.parse(artifactEvent(task, { artifactId, parts: [{ text }], append, lastChunk }).body)
        if (one.metadata) event.artifactUpdate.artifact.metadata = one.metadata
        if (one.name) event.artifactUpdate.artifact.name = one.name
        return { seq, kind: 'artifact', body: JSON.stringify(event) }
      })
      const merged: TaskEvent[] = []
      for (let rest: readonly TaskEvent[] = events; rest.length > 0; ) {
        const chunks = chunksAhead(rest)
        const [first, last] = [chunks[0] as TaskEvent, chunks.at(-1) as TaskEvent]
        if (first.kind === 'status') expect(chunks).toHaveLength(1)
        merged.push({ ...first, seq: last.seq, body: mergedBody(chunks) })
        rest = rest.slice(chunks.length)
      }
      const start = { seq: 1, ...created(task, 1_000, 'go') }
      expect(fold(undefined, [start, ...merged])).toEqual(fold(undefined, [start, ...events]))
    }),
    { numRuns: 500 },
  )
})

test('what went out and was not answered is the same when it is made again by another process, whatever was appended meanwhile', async () => {
  const go = gate()
  const typing = agent({ name: 'Typing', description: 'Types in two goes.' }, async function* (task) {
    yield chunk('page', 'a')
    await task.step('wait', () => go.opened)
    for (const letter of 'bcd') yield chunk('page', letter)
    return completed('done')
  })
  const store = sqlite(freshFile())
  const push = { coalesce: 'chunks' } as const
  const first = await openPushing(typing, { store, push })
  first.answer = ({ number }) => (number === 2 ? 204 : 'hang')
  const sending = send(first, 'go')
  await first.world.advance(0)
  expect(numbersOf(first.posts)).toEqual([2, 3])
  go.open()
  await sending
  const closing = first.server.close()
  await first.world.advance(10_000)
  await closing
  const second = await openPushing(typing, { store, push })
  await second.world.advance(1_000)
  expect(second.posts[0]?.body).toBe(first.posts[1]?.body)
  expect(second.posts[0]?.headers['idempotency-key']).toBe(first.posts[1]?.headers['idempotency-key'])
  expect(numbersOf(second.posts)).toEqual([3, 6, 7])
})

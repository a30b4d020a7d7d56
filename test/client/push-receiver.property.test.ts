/** Whatever comes, in whatever order: each event of a target's own task at most once, in order, and nothing else. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PushReceiver, PushTarget } from '../../src/client.js'
import { brief, chunk, gather, openReceiver, postOf, shows, status } from './push-kit.js'

/** A target, and what a reader of it should see. */
function open(receiver: PushReceiver, taskId: string) {
  const expected: string[] = []
  const boundTo: string | undefined = undefined
  return { target: receiver.target(), taskId, expected, boundTo: boundTo as string | undefined, newest: 0 }
}

const three = fc.nat(2)
const attempt = fc.record({
  /** Whose credential is shown. */
  by: three,
  /** Whose task the event is of. */
  of: three,
  number: fc.integer({ min: 1, max: 12 }),
  forgery: fc.constantFrom('none', 'none', 'none', 'no credential', 'one bit', 'another token'),
})
const last = 12

test('posts in any order, repeated, of foreign tasks and with forged credentials', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(attempt, { maxLength: 60 }), fc.uniqueArray(three), async (attempts, withLoop) => {
      const { receiver, world } = openReceiver()
      const all = gather(receiver)
      const opened = ['t', 'u', 'v'].map((taskId, i) => {
        const one = open(receiver, taskId)
        return { ...one, loop: withLoop.includes(i) ? gather(one.target) : undefined }
      })
      const at = (i: number) => opened.at(i % opened.length) as (typeof opened)[number]
      for (const { by, of, number, forgery } of attempts) {
        const mine = at(by)
        const { taskId } = at(of)
        const headers = { ...shows(mine.target, `${taskId}:p:${number}`), ...forged(forgery, mine.target, at(by + 1).target) }
        const body = number === last ? status(taskId, 'COMPLETED') : chunk(taskId, `${number}`)
        const answer = await receiver.fetch(postOf(body, headers))
        const isForeign = mine.boundTo !== undefined && mine.boundTo !== taskId
        const expected = forgery !== 'none' ? 401 : isForeign ? 403 : 200
        expect([answer.status, await answer.text()]).toEqual([expected, ''])
        if (expected !== 200) continue
        mine.boundTo = taskId
        if (number > mine.newest) mine.expected.push(number === last ? `${taskId} COMPLETED` : `${taskId} ${number}`)
        mine.newest = Math.max(mine.newest, number)
      }
      await world.advance(0)
      let count = all.seen.length
      for (const { target, expected, loop, newest } of opened) {
        const seen = loop?.seen ?? all.seen.filter(({ targetId }) => targetId === target.id)
        expect(seen.map(brief)).toEqual(expected)
        count += loop ? loop.seen.length - expected.length : -expected.length
        if (loop && newest === last) expect(await loop.ended).toBe('ended')
      }
      expect(count).toBe(0)
    }),
    { numRuns: 100 },
  )
})

function forged(forgery: string, { token = '' }: PushTarget, other: PushTarget): Record<string, string> {
  if (forgery === 'no credential') return { authorization: 'Bearer' }
  if (forgery === 'one bit') return { authorization: `Bearer ${token.replace(/.$/, (end) => (end === 'A' ? 'B' : 'A'))}` }
  return forgery === 'another token' ? { 'x-a2a-notification-token': `${other.token}` } : {}
}

test('bodies of any bytes: each is an event or a refusal, and the receiver goes on', async () => {
  const whole = new TextEncoder().encode(JSON.stringify(chunk('t', 'a text with an é '.repeat(12), { metadata: { a: [1, { b: null }] } })))
  const mutation = fc.record({
    at: fc.nat(whole.length - 1),
    byte: fc.oneof(fc.nat(255), fc.integer({ min: 0x61, max: 0x7a })),
    cut: fc.constantFrom(1, 1, 0, 4),
    twice: fc.boolean(),
  })
  const changed = fc.array(mutation, { minLength: 1, maxLength: 2 }).map((changes) => {
    let bytes = Uint8Array.from(whole)
    for (const { at, byte, cut, twice } of changes) {
      const place = at % Math.max(1, bytes.length)
      bytes = Uint8Array.from([...bytes.slice(0, place), ...(twice ? [byte, byte] : [byte]), ...bytes.slice(place + cut)])
    }
    return bytes
  })
  const made = fc
    .tuple(fc.json({ maxDepth: 3 }), fc.boolean())
    .map(([text, isMember]) => new TextEncoder().encode(isMember ? `{"task":${text}}` : text))
  const body = fc.oneof({ weight: 4, arbitrary: changed }, made, fc.uint8Array({ maxLength: 50 }))
  const counts = { taken: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(body, fc.nat(7), async (bytes, pieces) => {
      const { receiver, post, world } = openReceiver()
      const target = receiver.target()
      const { seen } = gather(receiver)
      const answered = await post(inPieces(bytes, pieces + 1), shows(target))
      expect([200, 400]).toContain(answered)
      counts[answered === 200 ? 'taken' : 'refused']++
      // A change may have made another task of it.
      const { taskId = 't' } = seen[0] ?? {}
      expect(await post(status(taskId, 'COMPLETED'), shows(target))).toBe(200)
      await world.advance(0)
      expect(seen).toHaveLength(answered === 200 ? 2 : 1)
    }),
    { numRuns: 400 },
  )
  expect(counts.taken).toBeGreaterThan(20)
  expect(counts.refused).toBeGreaterThan(100)
})

function inPieces(bytes: Uint8Array, count: number): ReadableStream<Uint8Array> {
  const size = Math.ceil(bytes.length / count) || 1
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size))
      controller.close()
    },
  })
}

/** The card is asked for no more often than its agent wants, and never shown to somebody it was not meant for. RFC 9111. */

import { expect, test } from 'vitest'
import { type ConnectOptions, connect, InvalidAgentResponseError } from '../../src/client.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { cardOf, json, openScript } from './kit.js'

type Headers = Readonly<Record<string, string>>

/** Addresses at which this card is, with these headers, and what was asked of them. */
function published(headers: Headers | (() => Headers), card: unknown = cardOf()) {
  const asked: string[] = []
  const world = virtualWorld()
  const fetch = async (request: Request): Promise<Response> => {
    const known = request.headers.get('if-none-match')
    const now = typeof headers === 'function' ? headers() : headers
    const isSame = known !== null && known === now['etag']
    asked.push(`${new URL(request.url).hostname}${known === null ? '' : ` not ${known}`}${isSame ? ', the same' : ''}`)
    return isSame ? new Response(null, { status: 304, headers: now }) : json(card, { headers: now })
  }
  const again = (options: ConnectOptions = {}, url = 'https://x.test') => connect(url, { fetch, world, ...options })
  return { asked, world, fetch, again }
}

test('a card that is good for a minute is asked for once in it, and each connection has one of its own', async () => {
  const { asked, world, again } = published({ 'cache-control': 'public, max-age=60' })
  const { card } = await again()
  expect((await again()).card).toEqual(card)
  expect((await again()).card).not.toBe(card)
  await world.advance(59_999)
  await again()
  expect(asked).toEqual(['x.test'])
  await world.advance(1)
  await again()
  expect(asked).toEqual(['x.test', 'x.test'])
})

test('a card with a tag is asked for by it, and the answer that it is the same makes it good again', async () => {
  let etag = '"one"'
  const { asked, world, again } = published(() => ({ 'cache-control': 'max-age=60', etag }))
  await again()
  await world.advance(60_000)
  expect((await again()).card).toMatchObject({ name: 'Bytes' })
  await world.advance(30_000)
  await again()
  await world.advance(30_000)
  etag = '"two"'
  await again()
  expect(asked).toEqual(['x.test', 'x.test not "one", the same', 'x.test not "one"'])
})

test.each<[string, Headers]>([
  ['says nothing about it', {}],
  ['forbids it', { 'cache-control': 'no-store, max-age=60', etag: '"a"' }],
  ['is for one user', { 'cache-control': 'Private, max-age=60', etag: '"a"' }],
  ['depends on everything', { 'cache-control': 'max-age=60', vary: '*' }],
  ['depends on cookies', { 'cache-control': 'max-age=60', vary: 'Origin, Cookie' }],
  ['was old when it came', { 'cache-control': 'max-age=60', age: '60' }],
  ['gives a time that is none', { 'cache-control': 'max-age=soon' }],
])('a card whose answer %s is asked for each time', async (_, headers) => {
  const { asked, again } = published(headers)
  await again()
  await again()
  expect(asked).toEqual(['x.test', 'x.test'])
})

test('a card that is good only when it is asked for is asked for by its tag', async () => {
  const { asked, again } = published({ 'cache-control': 'no-cache, max-age=60', etag: '"a"' })
  await again()
  await again()
  expect(asked).toEqual(['x.test', 'x.test not "a", the same'])
})

test.each<[string, Headers, ConnectOptions, number]>([
  ['is for everybody', { 'cache-control': 'public, max-age=60' }, { auth: 'secret' }, 1],
  ['does not say for whom it is', { 'cache-control': 'max-age=60' }, { auth: 'secret' }, 2],
  ['depends on the credential', { 'cache-control': 'public, max-age=60', vary: 'Authorization' }, { auth: 'secret' }, 2],
  [
    'depends on a header with the credential',
    { 'cache-control': 'public, max-age=60', vary: 'x-api-key' },
    { auth: { 'X-API-Key': 'k' } },
    2,
  ],
  ['depends on a header that a proxy adds', { 'cache-control': 'public, max-age=60', vary: 'x-forwarded-host' }, { auth: 'secret' }, 1],
])('with a credential, a card that %s', async (_, headers, options, times) => {
  const { asked, again } = published(headers)
  await again(options)
  await again(options)
  expect(asked).toHaveLength(times)
})

test('what was had without a credential is not for those who show one', async () => {
  const { asked, again } = published({ 'cache-control': 'public, max-age=60', vary: 'authorization' })
  await again()
  await again({ auth: 'secret' })
  expect(asked).toHaveLength(2)
})

test('a card that is of no use is not kept: it may be mended the next moment', async () => {
  const { asked, again } = published({ 'cache-control': 'max-age=60' }, { name: 'X' })
  for (let i = 0; i < 2; i++) await expect(again()).rejects.toThrow(/interfaces \(none\)/)
  expect(asked).toHaveLength(2)
  const good = published({ 'cache-control': 'max-age=60' })
  const verifyCard = () => {
    throw new Error('a stranger')
  }
  for (let i = 0; i < 2; i++) await expect(good.again({ verifyCard })).rejects.toThrow('a stranger')
  expect(good.asked).toHaveLength(2)
})

test('a kept card is verified by each caller anew, and changed by none of them', async () => {
  const { asked, again } = published({ 'cache-control': 'max-age=60' })
  const verified: unknown[] = []
  const verifyCard = (card: any) => {
    verified.push(card.name)
    card.name = 'Changed'
  }
  await again({ verifyCard })
  await again({ verifyCard })
  expect(verified).toEqual(['Bytes', 'Bytes'])
  expect(asked).toHaveLength(1)
})

test('as many cards are kept as there is room for, and none that is huge', async () => {
  const { asked, again } = published({ 'cache-control': 'max-age=60' })
  for (let i = 0; i <= 64; i++) await again({}, `https://x${i}.test`)
  await again({}, 'https://x64.test')
  await again({}, 'https://x1.test')
  expect(asked).toHaveLength(65)
  await again({}, 'https://x0.test')
  expect(asked).toHaveLength(66)
  const huge = published({ 'cache-control': 'max-age=60' }, cardOf({ description: 'x'.repeat(300_000) }))
  await huge.again()
  await huge.again()
  expect(huge.asked).toHaveLength(2)
})

test('an answer of 304 that nobody asked for is no card', async () => {
  const fetch = async () => new Response(null, { status: 304 })
  await expect(connect('https://x.test', { fetch })).rejects.toThrow(InvalidAgentResponseError)
})

test('a clock that is behind the one by which a card was kept does not make it last', async () => {
  const { asked, again } = published({ 'cache-control': 'max-age=60' })
  await again()
  await again({ world: virtualWorld({ now: 0 }) })
  expect(asked).toHaveLength(2)
})

test('of our own server the card is asked for once in five minutes, and then by its tag', async () => {
  const server = await openScript()
  const statuses: number[] = []
  const world = virtualWorld()
  const fetch = async (request: Request) => {
    const response = await server.fetch(request)
    statuses.push(response.status)
    return response
  }
  for (let minutes = 0; minutes <= 10; minutes++) {
    await connect('http://agent.test', { fetch, world, auth: 'alice' })
    await world.advance(60_000)
  }
  expect(statuses).toEqual([200, 304, 304])
})

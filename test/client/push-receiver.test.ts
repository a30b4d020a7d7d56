/** The receiver of pushes takes what the agent was told to post, and nothing from anybody else. Spec §4.3, §13.2. */

import { describe, expect, test, vi } from 'vitest'
import { type PushReceiverOptions, pushReceiver } from '../../src/client.js'
import { brief, chunk, gather, openReceiver, postOf, publicUrl, secret, shows, status } from './push-kit.js'

describe('what an agent posts', () => {
  test('is an event of the kind of its member, as it was posted', async () => {
    const { receiver, post } = openReceiver()
    const target = receiver.target()
    const { seen } = gather(receiver)
    const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Soon.' }] }
    const task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } }
    const bodies = [
      { task },
      status('t', 'WORKING', { message, timestamp: '2026-01-01T00:00:00.000Z' }),
      chunk('t', 'one', { append: false, metadata: { a: 1 } }),
      chunk('t', 'two', { lastChunk: true }),
      { message: { ...message, taskId: 't' } },
    ]
    for (const body of bodies) expect(await post(body, shows(target))).toBe(200)
    const from = { targetId: target.id, taskId: 't' }
    expect(seen).toEqual(
      [
        { ...from, kind: 'task', task },
        { ...from, kind: 'status', state: 'TASK_STATE_WORKING', message, timestamp: '2026-01-01T00:00:00.000Z' },
        {
          ...from,
          kind: 'artifact',
          artifact: { artifactId: 'a' },
          delta: [{ text: 'one' }],
          append: false,
          last: false,
          metadata: { a: 1 },
        },
        { ...from, kind: 'artifact', artifact: { artifactId: 'a' }, delta: [{ text: 'two' }], append: true, last: true },
        { ...from, kind: 'message', message: { ...message, taskId: 't' } },
      ].map((one) => expect.objectContaining(one)),
    )
  })

  test('is taken whatever of the protocol its agent sends: either header, any case, application/json', async () => {
    const { receiver, post } = openReceiver()
    const ways = (target: ReturnType<typeof receiver.target>) => [
      { authorization: `Bearer ${target.token}` },
      { authorization: `bearer  ${target.token}` },
      { 'x-a2a-notification-token': `${target.token}` },
      { ...shows(target), 'content-type': 'application/json; charset=utf-8' },
      { ...shows(target), 'content-type': 'Application/A2A+JSON' },
    ]
    const target = receiver.target()
    for (const headers of ways(target)) expect(await post(status('t'), headers)).toBe(200)
  })

  test('is answered before anybody has read it', async () => {
    const { receiver, post } = openReceiver()
    const target = receiver.target()
    expect(await post(status('t'), shows(target))).toBe(200)
    expect(await post(status('t', 'COMPLETED'), shows(target))).toBe(200)
    const { seen, ended } = gather(target)
    expect(await ended).toBe('ended')
    expect(seen.map(brief)).toEqual(['t WORKING', 't COMPLETED'])
  })

  test.each(['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED'])('ends with %s; what comes again is known, and no event', async (state) => {
    const { receiver, post } = openReceiver()
    const target = receiver.target()
    const { seen, ended } = gather(target)
    expect(await post(status('t', state), shows(target))).toBe(200)
    expect(await ended).toBe('ended')
    expect(await post(status('t', state), shows(target))).toBe(200)
    expect(await post(status('t', 'WORKING'), shows(target))).toBe(200)
    expect(seen.map(brief)).toEqual([`t ${state}`])
  })

  test('goes on after a state that waits for the caller', async () => {
    const { receiver, post } = openReceiver()
    const target = receiver.target()
    const { seen, ended } = gather(target)
    for (const state of ['INPUT_REQUIRED', 'WORKING', 'AUTH_REQUIRED', 'COMPLETED']) await post(status('t', state), shows(target))
    expect(await ended).toBe('ended')
    expect(seen).toHaveLength(4)
  })
})

describe('a credential', () => {
  test('is a fresh one for each target, and the whole of its configuration', () => {
    const { receiver } = openReceiver()
    const one = receiver.target()
    const { id, token } = one
    expect(JSON.parse(JSON.stringify(one))).toEqual({ id, url: publicUrl, token, authentication: { scheme: 'Bearer', credentials: token } })
    expect(receiver.target().token).not.toBe(token)
    expect(receiver.target().id).not.toBe(id)
  })

  test('is bound to the first task that uses it, which nobody has told; another task is refused and seen by nobody', async () => {
    const { receiver, post } = openReceiver()
    const [target, other] = [receiver.target(), receiver.target()]
    const { seen } = gather(receiver)
    expect(await post(status('mine'), shows(target))).toBe(200)
    expect(await post(status('theirs'), shows(target))).toBe(403)
    expect(await post({ task: { id: 'theirs', status: { state: 'TASK_STATE_COMPLETED' } } }, shows(target))).toBe(403)
    expect(await post(chunk('theirs', 'x'), shows(target))).toBe(403)
    expect(await post({ message: { messageId: 'm', taskId: 'theirs', role: 'ROLE_AGENT', parts: [] } }, shows(target))).toBe(403)
    expect(await post(status('theirs'), shows(other))).toBe(200)
    expect(await post(status('mine', 'COMPLETED'), shows(target))).toBe(200)
    expect(await post(status('theirs', 'COMPLETED'), shows(target))).toBe(403)
    expect(seen.map((event) => [event.targetId === target.id, brief(event)])).toEqual([
      [true, 'mine WORKING'],
      [false, 'theirs WORKING'],
      [true, 'mine COMPLETED'],
    ])
  })

  test('is not bound by a message that names no task, nor by what was refused', async () => {
    const { receiver, post } = openReceiver()
    const target = receiver.target()
    const { seen } = gather(receiver)
    const message = { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [] } }
    expect(await post(message, shows(target))).toBe(200)
    expect(await post({ statusUpdate: { taskId: 'other' } }, shows(target))).toBe(400)
    expect(await post(status('t'), shows(target))).toBe(200)
    expect(await post(message, shows(target))).toBe(200)
    expect(seen.map(({ taskId }) => taskId)).toEqual([undefined, 't', undefined])
  })

  test('is known to a receiver that starts anew with the same secret, and to no other', async () => {
    const target = openReceiver().receiver.target()
    const again = openReceiver()
    const { seen } = gather(again.receiver)
    expect(await again.post(status('t'), shows(target))).toBe(200)
    expect(seen).toMatchObject([{ targetId: target.id, taskId: 't' }])
    expect(await openReceiver({ secret: `${secret}!` }).post(status('t'), shows(target))).toBe(401)
  })

  test('that is missing, forged or doubtful is refused in the same few words, and the body is left unread', async () => {
    const { receiver } = openReceiver()
    const [target, other] = [receiver.target(), receiver.target()]
    const token = `${target.token}`
    const [id, proof] = token.split('.')
    const forged = [
      {},
      { authorization: '' },
      { authorization: 'Bearer ' },
      { authorization: 'Bearer x' },
      { authorization: `Basic ${token}` },
      { authorization: `Bearer ${token}, Bearer ${token}` },
      { authorization: `Bearer ${id}` },
      { authorization: `Bearer ${id}.` },
      { authorization: `Bearer ${proof}.${id}` },
      { authorization: `Bearer ${token}=` },
      { authorization: `Bearer ${token}.${proof}` },
      { authorization: `Bearer ${(token[0] === 'A' ? 'B' : 'A') + token.slice(1)}` },
      { authorization: `Bearer ${token.slice(0, -1)}` },
      { authorization: `Bearer ${'A'.repeat(22)}.${proof}` },
      { authorization: `Bearer ${'A'.repeat(10_000)}` },
      { 'x-a2a-notification-token': 'x' },
      { 'x-a2a-notification-token': '' },
      { authorization: `Bearer ${token}`, 'x-a2a-notification-token': 'x' },
      { authorization: 'Bearer x', 'x-a2a-notification-token': token },
      { authorization: `Bearer ${token}`, 'x-a2a-notification-token': `${other.token}` },
    ]
    for (const headers of forged) {
      const body = new ReadableStream({ pull: () => Promise.reject(new Error('somebody reads it')) }, { highWaterMark: 0 })
      const answer = await receiver.fetch(postOf(body, headers))
      expect([answer.status, [...answer.headers], await answer.text()]).toEqual([401, [['www-authenticate', 'Bearer']], ''])
    }
  })

  test('is compared in whole, wherever it differs', () => {
    const { receiver, world } = openReceiver()
    expect(receiver.target().token).toHaveLength(22 + 1 + 43)
    // A receiver draws from its world: equal chance gives equal ids, and the secret makes the difference.
    const same = (given: string) =>
      pushReceiver({ publicUrl, secret: given, world: { ...world, randomBytes: (n) => new Uint8Array(n) } }).target()
    expect(same(secret).token).toBe(same(secret).token)
    expect(same(secret).token).not.toBe(same(`${secret}!`).token)
  })
})

describe('what comes twice', () => {
  test('is dropped by its key, and answered like the first', async () => {
    const { receiver, post } = openReceiver()
    const target = receiver.target()
    const { seen } = gather(receiver)
    for (const key of ['t:p:3', 't:p:3', 't:p:4', 't:p:3', 't:other:4', 't:p:5']) {
      expect(await post(chunk('t', key), shows(target, key))).toBe(200)
    }
    expect(seen.map(brief)).toEqual(['t t:p:3', 't t:p:4', 't t:p:5'])
  })

  test('is known by any key of another agent, and not by a key that only looks like ours', async () => {
    const { receiver, post } = openReceiver()
    const target = receiver.target()
    const { seen } = gather(receiver)
    const long = 'k'.repeat(5000)
    for (const key of ['9', '3', '9', long, long, 'u:p:7', 'u:p:6', 'u:p:7', 't:p:x', 't:p:x', 't:p:9', 't:p:8']) {
      expect(await post(chunk('t', key.slice(0, 9)), shows(target, key))).toBe(200)
    }
    expect(seen.map(brief)).toEqual(['9', '3', 'kkkkkkkkk', 'u:p:7', 'u:p:6', 't:p:x', 't:p:9'].map((key) => `t ${key}`))
  })

  test('is remembered for the last thousand keys', async () => {
    const { receiver, post } = openReceiver({ limits: { postsPerSecond: 10_000 } })
    const target = receiver.target()
    const { seen } = gather(receiver)
    for (let i = 0; i <= 1000; i++) await post(chunk('t', ''), shows(target, `key ${i}`))
    await post(chunk('t', 'again'), shows(target, 'key 1000'))
    await post(chunk('t', 'again'), shows(target, 'key 1'))
    expect(seen).toHaveLength(1001)
    await post(chunk('t', 'again'), shows(target, 'key 0'))
    expect(seen).toHaveLength(1002)
  })

  test('without a key, counts as two', async () => {
    const { receiver, post } = openReceiver()
    const target = receiver.target()
    const { seen } = gather(receiver)
    await post(chunk('t', 'x'), shows(target))
    await post(chunk('t', 'x'), shows(target))
    expect(seen).toHaveLength(2)
  })
})

describe('order', () => {
  test('is that in which the posts of a target began, however slowly their bodies come', async () => {
    const { receiver, post } = openReceiver()
    const target = receiver.target()
    const { seen } = gather(receiver)
    let send: (bytes: Uint8Array) => void = () => {}
    const slow = new ReadableStream<Uint8Array>({
      start(controller) {
        send = (bytes) => {
          controller.enqueue(bytes)
          controller.close()
        }
      },
    })
    const first = post(slow, shows(target))
    const second = post(chunk('t', 'second'), shows(target))
    const other = receiver.target()
    // Nobody else waits for it.
    expect(await post(chunk('u', 'other'), shows(other))).toBe(200)
    send(new TextEncoder().encode(JSON.stringify(chunk('t', 'first'))))
    expect(await Promise.all([first, second])).toEqual([200, 200])
    expect(seen.map(brief)).toEqual(['u other', 't first', 't second'])
  })

  test('targets take turns, and keep each to its own order', async () => {
    const { receiver, post } = openReceiver()
    const [busy, quiet] = [receiver.target(), receiver.target()]
    for (const text of ['1', '2', '3']) await post(chunk('busy', text), shows(busy))
    await post(chunk('quiet', '1'), shows(quiet))
    const { seen } = gather(receiver)
    await vi.waitFor(() => expect(seen).toHaveLength(4))
    expect(seen.map(brief)).toEqual(['busy 1', 'quiet 1', 'busy 2', 'busy 3'])
  })
})

describe('limits', () => {
  test('a body that is too large is refused as soon as it is, whatever its length was said to be', async () => {
    const { receiver, post } = openReceiver({ limits: { bodyBytes: 1000 } })
    const target = receiver.target()
    let pulled = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++
        controller.enqueue(new Uint8Array(100).fill(32))
      },
    })
    expect(await post(endless, shows(target))).toBe(413)
    expect(pulled).toBeLessThan(15)
    const body = JSON.stringify(status('t'))
    expect(await post(body.padEnd(1001), shows(target))).toBe(413)
    expect(await post(body.padEnd(1000), shows(target))).toBe(200)
  })

  test('a body that does not end in time is given up, and its connection let go', async () => {
    const { receiver, post, world } = openReceiver()
    const target = receiver.target()
    const cancel = vi.fn()
    const waits = post(new ReadableStream({ cancel }), shows(target))
    const next = post(status('t'), shows(target))
    await world.advance(9_999)
    expect(cancel).not.toHaveBeenCalled()
    await world.advance(1)
    expect(await waits).toBe(408)
    expect(cancel).toHaveBeenCalledOnce()
    expect(await next).toBe(200)
    expect(world.nextDue()).toBeUndefined()
  })

  test('a body that breaks off is no event', async () => {
    const { receiver, post } = openReceiver()
    const target = receiver.target()
    const { seen } = gather(receiver)
    const breaks = new ReadableStream({ start: (controller) => controller.error(new Error('reset')) })
    expect(await post(breaks, shows(target))).toBe(400)
    expect(await post(status('t'), shows(target))).toBe(200)
    expect(seen).toHaveLength(1)
  })

  test('posts beyond the rate of a target are put off, and those of others are not', async () => {
    const { receiver, post, world } = openReceiver({ limits: { postsPerSecond: 5 } })
    const [target, other] = [receiver.target(), receiver.target()]
    for (let i = 0; i < 5; i++) expect(await post(status('t'), shows(target))).toBe(200)
    const answer = await receiver.fetch(postOf(status('t'), shows(target)))
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await post(status('o'), shows(other))).toBe(200)
    await world.advance(200)
    expect(await post(status('t'), shows(target))).toBe(200)
    expect(await post(status('t'), shows(target))).toBe(429)
    await world.advance(3_600_000)
    for (let i = 0; i < 5; i++) expect(await post(status('t'), shows(target))).toBe(200)
    expect(await post(status('t'), shows(target))).toBe(429)
  })

  test('no more than 32 posts of one target are under way', async () => {
    const { receiver, post } = openReceiver()
    const target = receiver.target()
    const stuck = Array.from({ length: 32 }, () => post(new ReadableStream(), shows(target)))
    expect(await post(status('t'), shows(target))).toBe(429)
    expect(await post(status('o'), shows(receiver.target()))).toBe(200)
    expect(stuck).toHaveLength(32)
  })

  test('what nobody reads is held up to a limit; beyond it the agent is to try again, and loses nothing', async () => {
    const { receiver, post } = openReceiver({ limits: { waitingEvents: 2 } })
    const [target, other] = [receiver.target(), receiver.target()]
    for (const number of [1, 2]) expect(await post(chunk('t', `${number}`), shows(target, `t:p:${number}`))).toBe(200)
    const answer = await receiver.fetch(postOf(chunk('t', '3'), shows(target, 't:p:3')))
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await post(chunk('t', '2'), shows(target, 't:p:2'))).toBe(200)
    expect(await post(status('o'), shows(other))).toBe(200)
    const { seen } = gather(target)
    await vi.waitFor(() => expect(seen).toHaveLength(2))
    expect(await post(chunk('t', '3'), shows(target, 't:p:3'))).toBe(200)
    expect(seen.map(brief)).toEqual(['t 1', 't 2', 't 3'])
  })

  test('what nobody reads has a size, too; a single event always fits', async () => {
    const { receiver, post } = openReceiver({ limits: { waitingLength: 5000 } })
    const target = receiver.target()
    expect(await post(chunk('t', 'x'.repeat(10_000)), shows(target))).toBe(200)
    expect(await post(status('t'), shows(target))).toBe(503)
    const loop = target[Symbol.asyncIterator]()
    await loop.next()
    expect(await post(status('t'), shows(target))).toBe(200)
    expect(await post(status('t'), shows(target))).toBe(200)
  })

  test('of targets nobody reads from, the one that was silent for longest is forgotten', async () => {
    const { receiver, post } = openReceiver({ limits: { targets: 2 } })
    const [a, b, c] = [receiver.target(), receiver.target(), receiver.target()]
    gather(receiver)
    await post(status('a'), shows(a))
    await post(status('b'), shows(b))
    await post(status('a'), shows(a))
    await post(status('c'), shows(c))
    expect(await post(status('x'), shows(a))).toBe(403)
    expect(await post(status('x'), shows(b))).toBe(200)
  })

  test('where every target has something that waits, a further one is put off', async () => {
    const { receiver, post } = openReceiver({ limits: { targets: 2 } })
    const [a, b, c] = [receiver.target(), receiver.target(), receiver.target()]
    await post(status('a'), shows(a))
    gather(b)
    expect(await post(status('c'), shows(c))).toBe(503)
    expect(() => c[Symbol.asyncIterator]()).toThrow('2 push targets wait for their readers: read them, or raise limits.targets')
    gather(a)
    await vi.waitFor(async () => expect(await post(status('b', 'COMPLETED'), shows(b))).toBe(200))
    expect(await post(status('c'), shows(c))).toBe(200)
  })
})

describe('loops', () => {
  test('a target with a loop of its own keeps its events from the loop over all', async () => {
    const { receiver, post } = openReceiver()
    const [own, other] = [receiver.target(), receiver.target()]
    for (const text of ['1', '2', '3']) await post(chunk('own', text), shows(own))
    const one = gather(own)
    const all = gather(receiver)
    await post(status('other'), shows(other))
    await post(status('own', 'COMPLETED'), shows(own))
    await one.ended
    expect(one.seen.map(brief)).toEqual(['own 1', 'own 2', 'own 3', 'own COMPLETED'])
    expect(all.seen.map(brief)).toEqual(['other WORKING'])
  })

  test('to leave the loop of a target early ends its configuration', async () => {
    const { receiver, post } = openReceiver()
    const target = receiver.target()
    await post(status('t'), shows(target))
    await post(status('t'), shows(target))
    for await (const _ of target) break
    expect(await post(status('t'), shows(target))).toBe(410)
    expect(() => target[Symbol.asyncIterator]()).toThrow('one loop, once')
  })

  test('a signal ends the loop of its target, a waiting one too, and the configuration', async () => {
    const { receiver, post } = openReceiver()
    const controller = new AbortController()
    const target = receiver.target({ signal: controller.signal })
    const { ended } = gather(target)
    await post(status('t'), shows(target))
    controller.abort(new Error('enough'))
    expect(await ended).toMatchObject({ message: 'enough' })
    expect(await post(status('t'), shows(target))).toBe(410)
  })

  test('a post whose body was on its way when its loop was left is not taken', async () => {
    const { receiver, post } = openReceiver()
    const target = receiver.target()
    const { seen } = gather(receiver)
    const loop = target[Symbol.asyncIterator]()
    await post(status('t'), shows(target))
    await loop.next()
    let send = () => {}
    const slow = new ReadableStream<Uint8Array>({
      start(controller) {
        send = () => {
          controller.enqueue(new TextEncoder().encode(JSON.stringify(status('t'))))
          controller.close()
        }
      },
    })
    const late = post(slow, shows(target))
    await loop.return?.()
    send()
    expect(await late).toBe(410)
    expect(seen).toEqual([])
  })

  test('the signal of the receiver ends all loops, and agents are to try again later', async () => {
    const controller = new AbortController()
    const { receiver, post } = openReceiver({ signal: controller.signal })
    const target = receiver.target()
    const loops = [gather(receiver), gather(target)]
    controller.abort(new Error('stopping'))
    for (const { ended } of loops) expect(await ended).toMatchObject({ message: 'stopping' })
    expect(await post(status('t'), shows(target))).toBe(503)
    expect(await post(status('t'), {})).toBe(401)
  })

  test('are one at a time', async () => {
    const { receiver } = openReceiver()
    const target = receiver.target()
    gather(target)
    gather(receiver)
    expect(() => target[Symbol.asyncIterator]()).toThrow('the events of a push target are read by one loop, once')
    expect(() => receiver[Symbol.asyncIterator]()).toThrow('the events of a push receiver are read by one loop at a time')
  })

  test('over all may be left and begun again; what came in between waits', async () => {
    const { receiver, post } = openReceiver()
    const target = receiver.target()
    await post(chunk('t', '1'), shows(target))
    for await (const event of receiver) {
      expect(brief(event)).toBe('t 1')
      break
    }
    await post(chunk('t', '2'), shows(target))
    for await (const event of receiver) {
      expect(brief(event)).toBe('t 2')
      break
    }
  })
})

describe('bad input', () => {
  test.each(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])('%s is no post', async (method) => {
    const { receiver } = openReceiver()
    const answer = await receiver.fetch(new Request(publicUrl, { method, headers: shows(receiver.target()) }))
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', '', 'application/jsonx', 'text/html, application/json'])(
    'the content type %j is refused',
    async (type) => {
      const { receiver, post } = openReceiver()
      expect(await post(status('t'), { ...shows(receiver.target()), 'content-type': type })).toBe(415)
    },
  )

  test.each([
    ['', 'The body is no JSON.'],
    ['{', 'The body is no JSON.'],
    [new Uint8Array([0x22, 0xff, 0x22]), 'The body is no UTF-8.'],
    ['null', 'the StreamResponse is no object'],
    ['[]', 'the StreamResponse is no object'],
    ['{}', 'has not exactly one of task, message, statusUpdate, artifactUpdate'],
    [{ ...status('t'), ...chunk('t', 'x') }, 'has not exactly one of'],
    [{ jsonrpc: '2.0', id: 1, result: status('t') }, 'has not exactly one of'],
    [{ statusUpdate: { status: { state: 'TASK_STATE_WORKING' } } }, 'statusUpdate.taskId is missing'],
    [status(''), 'statusUpdate.taskId is empty'],
    [status('t', 'DONE'), 'statusUpdate.status.state is no state'],
    [{ task: { id: 't' } }, 'task.status is missing'],
    [chunk('t', 'x', { artifact: {} }), 'artifactUpdate.artifact.artifactId is missing'],
    [chunk('t', 'x', { artifact: { artifactId: 'a', parts: [{}] } }), 'has not exactly one of text, raw, url, data'],
  ])('%j is no event; whoever has the credential is told why', async (body, reason) => {
    const { receiver } = openReceiver()
    const target = receiver.target()
    const { seen } = gather(receiver)
    const answer = await receiver.fetch(postOf(body, shows(target)))
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain(reason)
    expect(seen).toEqual([])
  })

  test('nothing that is nested without end is an event, so that whoever walks through it comes back', async () => {
    const { receiver, post } = openReceiver()
    const target = receiver.target()
    const nested = (levels: number) =>
      `{"statusUpdate":{"metadata":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)},${JSON.stringify(status('t').statusUpdate).slice(1)}}`
    const answer = await receiver.fetch(postOf(nested(100_000), shows(target)))
    expect([answer.status, await answer.text()]).toEqual([400, 'The body is nested deeper than 64 levels.'])
    expect(await post(nested(63), shows(target))).toBe(400)
    expect(await post(nested(62), shows(target))).toBe(200)
  })

  test.each<[object, string]>([
    [{ secret }, 'pushReceiver() needs the option publicUrl'],
    [{ publicUrl }, 'pushReceiver() needs the option secret'],
    [{ publicUrl: 'me.example', secret }, 'option publicUrl takes'],
    [{ publicUrl: 'https://me.example/?a=1', secret }, 'option publicUrl takes'],
    [{ publicUrl, secret: 'too short to be one' }, 'option secret takes a text of at least 32 characters'],
    [{ publicUrl, secret: ' '.repeat(40) }, 'it got a string'],
    [{ publicUrl, secret, onEvent: () => {} }, 'pushReceiver() has no option "onEvent"'],
    [{ publicUrl, secret, limits: { bodyBytes: 0 } }, 'option bodyBytes takes a whole number above 0'],
    [{ publicUrl, secret, limits: { bytes: 1 } }, 'pushReceiver() limits has no option "bytes"'],
  ])('the options %j are refused', (options, reason) => {
    expect(() => pushReceiver(options as PushReceiverOptions)).toThrow(reason)
    expect(() => pushReceiver(options as PushReceiverOptions)).not.toThrow('too short to be one')
  })

  test('options of a target are checked', () => {
    expect(() => openReceiver().receiver.target({ taskId: 't' } as object)).toThrow('target() has no option "taskId"')
  })
})

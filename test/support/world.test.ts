/** Time, chance and the event loop, as the real world gives them and as the helpers on top use them. */

import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { sleep, systemWorld, uuid, type World } from '../../src/support/world.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'

const at = (now: number, byte?: number): World => ({
  ...systemWorld,
  now: () => now,
  ...(byte === undefined ? {} : { randomBytes: (length: number) => new Uint8Array(length).fill(byte) }),
})

// What 48 bits hold.
const time = fc.integer({ min: 0, max: 2 ** 48 - 1 })

describe('uuid', () => {
  test('it is a UUID of version 7 and variant 10, whatever the time and the chance (RFC 9562 §5.7)', () => {
    fc.assert(
      fc.property(time, fc.integer({ min: 0, max: 255 }), (now, byte) => {
        expect(uuid(at(now, byte))).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      }),
    )
  })

  test('its first 48 bits are the time in milliseconds', () => {
    fc.assert(
      fc.property(time, (now) => {
        expect(Number.parseInt(uuid(at(now)).replaceAll('-', '').slice(0, 12), 16)).toBe(now)
      }),
    )
  })

  test('it is as in the example of RFC 9562, appendix A.6', () => {
    const random = Uint8Array.from([0, 0, 0, 0, 0, 0, 0x0c, 0xc3, 0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f])
    const world = { ...at(1_645_557_742_000), randomBytes: () => random }
    expect(uuid(world)).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')
  })

  test('a later one sorts after an earlier one', () => {
    fc.assert(
      fc.property(time, time, (one, other) => {
        fc.pre(one < other)
        expect(uuid(at(one)) < uuid(at(other))).toBe(true)
      }),
    )
  })

  test('all 74 bits that are neither time, version nor variant come from the random source', () => {
    const zeros = uuid(at(0, 0x00))
    const ones = uuid(at(0, 0xff))
    expect(zeros).toBe('00000000-0000-7000-8000-000000000000')
    expect(ones).toBe('00000000-0000-7fff-bfff-ffffffffffff')
  })

  test('ten thousand of one moment differ', () => {
    const world = at(systemWorld.now())
    expect(new Set(Array.from({ length: 10_000 }, () => uuid(world))).size).toBe(10_000)
  })
})

describe('sleep', () => {
  test('it ends when the time is over and not before', async () => {
    const world = virtualWorld()
    let isOver = false
    void sleep(world, 1_000).then(() => {
      isOver = true
    })
    await world.advance(999)
    expect(isOver).toBe(false)
    await world.advance(1)
    expect(isOver).toBe(true)
  })

  test('an abort ends it at once, with the reason of the signal', async () => {
    const reason = new Error('the task was canceled')
    const abort = new AbortController()
    const sleeping = sleep(virtualWorld(), 1_000, abort.signal)
    abort.abort(reason)
    await expect(sleeping).rejects.toBe(reason)
  })

  test('an abort takes the timer back', async () => {
    const takenBack = vi.fn()
    const world: World = { ...virtualWorld(), timer: () => takenBack }
    const abort = new AbortController()
    const sleeping = sleep(world, 1_000, abort.signal)
    abort.abort('enough')
    await expect(sleeping).rejects.toBe('enough')
    expect(takenBack).toHaveBeenCalledOnce()
  })

  test('a signal that is aborted already starts no timer', async () => {
    const timer = vi.fn()
    await expect(sleep({ ...virtualWorld(), timer }, 1_000, AbortSignal.abort('too late'))).rejects.toBe('too late')
    expect(timer).not.toHaveBeenCalled()
  })

  test('it leaves no listener on the signal', async () => {
    const world = virtualWorld()
    const abort = new AbortController()
    const added = vi.spyOn(abort.signal, 'addEventListener')
    const removed = vi.spyOn(abort.signal, 'removeEventListener')
    const sleeping = sleep(world, 10, abort.signal)
    await world.advance(10)
    await sleeping
    expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(added.mock.calls.map(([, listener]) => listener))
  })
})

describe('systemWorld', () => {
  test('what is deferred runs after every promise that settles in this turn', async () => {
    const order: string[] = []
    const deferred = new Promise<void>((resolve) =>
      systemWorld.defer(() => {
        order.push('deferred')
        resolve()
      }),
    )
    void Promise.resolve()
      .then(() => order.push('promise'))
      .then(() => order.push('promise of a promise'))
    queueMicrotask(() => order.push('microtask'))
    order.push('this turn')
    await deferred
    expect(order).toEqual(['this turn', 'promise', 'microtask', 'promise of a promise', 'deferred'])
  })

  test('what is deferred runs in the order in which it was', async () => {
    const order: number[] = []
    await new Promise<void>((resolve) => {
      for (let i = 0; i < 5; i++) systemWorld.defer(() => order.push(i))
      systemWorld.defer(resolve)
    })
    expect(order).toEqual([0, 1, 2, 3, 4])
  })

  test('a timer fires once, and one that was taken back never does', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const kept = vi.fn()
      const dropped = vi.fn()
      systemWorld.timer(10, kept)
      systemWorld.timer(10, dropped)()
      await vi.advanceTimersByTimeAsync(100)
      expect(kept).toHaveBeenCalledOnce()
      expect(dropped).not.toHaveBeenCalled()
    } finally {
      vi.useRealTimers()
    }
  })

  test('random bytes are as many as asked for, and new each time', () => {
    expect(systemWorld.randomBytes(32)).toHaveLength(32)
    expect(systemWorld.randomBytes(32)).not.toEqual(systemWorld.randomBytes(32))
  })
})

test('random bytes have the length that was asked for, and none is given out twice', () => {
  const seen = new Set<string>()
  for (const length of [0, 1, 16, 16, 1023, 1024, 1025, 5000, ...Array.from({ length: 2000 }, () => 16)]) {
    const bytes = systemWorld.randomBytes(length)
    expect(bytes).toHaveLength(length)
    if (length < 16) continue
    const text = Buffer.from(bytes).toString('hex')
    expect(seen.has(text)).toBe(false)
    expect(text).not.toMatch(/^0+$/)
    seen.add(text)
  }
})

test('bytes that were given out are the receiver’s own', () => {
  const mine = systemWorld.randomBytes(16)
  const copy = mine.slice()
  for (let i = 0; i < 1000; i++) systemWorld.randomBytes(16).fill(1)
  expect(mine).toEqual(copy)
})

test('a timer of more than 24.8 days waits for its day', () => {
  vi.useFakeTimers()
  try {
    const fire = vi.fn()
    systemWorld.timer(60 * 86_400_000, fire)
    vi.advanceTimersByTime(60 * 86_400_000 - 1)
    expect(fire).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(fire).toHaveBeenCalledTimes(1)
  } finally {
    vi.useRealTimers()
  }
})

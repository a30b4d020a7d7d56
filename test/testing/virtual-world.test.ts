/** The virtual world keeps the promises that tests build on. */

import { describe, expect, test } from 'vitest'
import { sleep, uuid } from '../../src/support/world.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'

describe('virtualWorld', () => {
  test('the clock stands still until it is moved', async () => {
    const world = virtualWorld({ now: 1000 })
    await world.advance(0)
    expect(world.now()).toBe(1000)
    await world.advance(250)
    expect(world.now()).toBe(1250)
  })

  test('timers fire in the order of their times, the older first at equal times', async () => {
    const world = virtualWorld({ now: 0 })
    const fired: string[] = []
    world.timer(20, () => fired.push(`b at ${world.now()}`))
    world.timer(10, () => fired.push(`a at ${world.now()}`))
    world.timer(20, () => fired.push(`c at ${world.now()}`))
    world.timer(31, () => fired.push('late'))
    await world.advance(30)
    expect(fired).toEqual(['a at 10', 'b at 20', 'c at 20'])
    expect(world.now()).toBe(30)
  })

  test('a timer that is due exactly at the end fires, one millisecond later it does not', async () => {
    const world = virtualWorld()
    const fired: number[] = []
    for (const ms of [30, 31]) world.timer(ms, () => fired.push(ms))
    await world.advance(30)
    expect(fired).toEqual([30])
  })

  test('a timer that was taken back never fires', async () => {
    const world = virtualWorld()
    let fired = 0
    const takeBack = world.timer(10, () => fired++)
    takeBack()
    takeBack()
    await world.advance(100)
    expect(fired).toBe(0)
  })

  test('promises settle between two timers', async () => {
    const world = virtualWorld({ now: 0 })
    const woken: number[] = []
    const walk = async () => {
      for (let i = 0; i < 3; i++) {
        await sleep(world, 10)
        await new Promise<void>((resolve) => world.defer(resolve))
        woken.push(world.now())
      }
    }
    const walking = walk()
    await world.advance(100)
    await walking
    expect(woken).toEqual([10, 20, 30])
  })

  test('what was deferred runs after the promises of its turn and before the clock moves', async () => {
    const world = virtualWorld({ now: 0 })
    const order: string[] = []
    world.timer(1, () => order.push('timer'))
    world.defer(() => {
      order.push('deferred')
      world.defer(() => order.push('deferred again'))
    })
    void Promise.resolve().then(() => order.push('promise'))
    await world.advance(5)
    expect(order).toEqual(['promise', 'deferred', 'deferred again', 'timer'])
  })

  test('equal seeds give equal bytes, other seeds give others', () => {
    const bytes = (seed: number) => virtualWorld({ seed }).randomBytes(32)
    expect(bytes(7)).toEqual(bytes(7))
    expect(bytes(7)).not.toEqual(bytes(8))
    expect(bytes(0)).not.toEqual(bytes(1))
  })

  test('ten thousand identifiers of one world differ', () => {
    const world = virtualWorld()
    const ids = new Set(Array.from({ length: 10_000 }, () => uuid(world)))
    expect(ids.size).toBe(10_000)
  })

  test('the clock refuses to go back and to be moved twice at once', async () => {
    const world = virtualWorld()
    await expect(world.advance(-1)).rejects.toThrow(TypeError)
    const moving = world.advance(1)
    await expect(world.advance(1)).rejects.toThrow(TypeError)
    await moving
  })
})

describe('work outside of the event loop', () => {
  const digest = () => crypto.subtle.digest('SHA-256', new Uint8Array(1 << 20))

  test('has ended, and what came of it, when the world has settled', async () => {
    const world = virtualWorld()
    const order: string[] = []
    const work = async () => {
      await world.outside(digest)
      order.push('one')
      for (let hops = 0; hops < 50; hops++) await undefined
      await world.outside(digest)
      order.push('two')
      await new Promise<void>((resolve) => world.defer(resolve))
      order.push('three')
    }
    void work()
    await world.advance(0)
    expect(order).toEqual(['one', 'two', 'three'])
  })

  test('comes one by one and before whatever was deferred, so that one seed gives one history', async () => {
    const world = virtualWorld()
    const order: string[] = []
    const quick = async () => 1
    for (const [name, work] of [
      ['slow', digest],
      ['quick', quick],
    ] as const)
      void world.outside<unknown>(work).then(() => order.push(name))
    world.defer(() => order.push('deferred'))
    await world.advance(0)
    expect(order).toEqual(['slow', 'quick', 'deferred'])
  })

  test('that fails tells only the one who asked', async () => {
    const world = virtualWorld()
    const failing = world.outside(() => Promise.reject(new Error('no key')))
    await expect(failing).rejects.toThrow('no key')
    expect(await world.outside(async () => 'next')).toBe('next')
    await world.advance(0)
  })
})

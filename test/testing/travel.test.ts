/** The travel agent in the sandbox: what its author would test, and that it books exactly once wherever it crashes. */

import { crashEverywhere, type Sandbox, testAgent } from 'errand/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { hotel, travel } from './travel-agent.js'

afterEach(() => hotel.reset())

type Travel = Sandbox<typeof travel>

/** A stay from the first word to the confirmation. */
async function stay(t: Travel) {
  const asked = await t.client.skill('book').send({ city: 'Oslo', nights: 2 }).outcome
  if (asked.state !== 'input-required') return asked
  const told = await asked.reply({ data: { yes: true } }).outcome
  if (told.state !== 'auth-required') return told
  await t.grant(told.task.id, 'secret')
  return told.follow().outcome
}

describe('the travel agent', () => {
  test('asks, then gives up after three days, a crash among them', async () => {
    await using t = await testAgent(travel, { now: '2026-12-01T00:00:00Z' })
    const out = await t.client.skill('book').send({ city: 'Oslo' }).outcome
    if (out.state !== 'input-required') throw new Error(out.state)
    await t.advance('2d')
    await t.crash()
    expect(await t.client.task(out.task.id).get()).toMatchObject({ status: { state: 'TASK_STATE_INPUT_REQUIRED' } })
    await t.advance('1d')
    expect(await t.client.task(out.task.id).get()).toMatchObject({ status: { state: 'TASK_STATE_FAILED' } })
    expect(hotel.effects().bookings).toEqual({})
  })

  test('books with the token that was granted, and shows it to nobody', async () => {
    await using t = await testAgent(travel)
    const out = await stay(t)
    if (out.state !== 'completed') throw new Error(out.state)
    expect(out.output.confirmation).toBe('COslo-2')
    expect(Object.values(hotel.effects().bookings)).toEqual([{ quote: 'Oslo-2', token: 'secret', confirmation: 'COslo-2' }])
    expect(JSON.stringify([out, await t.events(out.task.id)])).not.toContain('secret')
  })

  test('does the same to the letter where the seed is the same', async () => {
    const log = async (seed: number) => {
      await using t = await testAgent(travel, { seed })
      const out = await stay(t)
      return JSON.stringify('task' in out && (await t.events(out.task.id)))
    }
    const first = await log(5)
    expect(await log(5)).toBe(first)
    expect(await log(6)).not.toBe(first)
  })

  test('leads the person to a page of the server', async () => {
    await using t = await testAgent(travel)
    const asked = await t.client.skill('book').send({ city: 'Oslo' }).outcome
    if (asked.state !== 'input-required') throw new Error(asked.state)
    const told = await asked.reply({ data: { yes: true } }).outcome
    expect(told).toMatchObject({ state: 'auth-required', links: [expect.stringMatching(/^http:\/\/agent\.test\/consent\//)] })
  })

  test('does not book against the will of the traveller', async () => {
    await using t = await testAgent(travel)
    const asked = await t.client.skill('book').send({ city: 'Oslo' }).outcome
    if (asked.state !== 'input-required') throw new Error(asked.state)
    expect(await asked.reply({ data: { yes: false } }).outcome).toMatchObject({ state: 'completed' })
    expect(hotel.effects().bookings).toEqual({})
  })

  test('tries a busy hotel again as time goes on', async () => {
    await using t = await testAgent(travel)
    hotel.refusals = 2
    const going = stay(t)
    await t.advance('1m')
    expect(await going).toMatchObject({ state: 'completed' })
    expect(Object.keys(hotel.effects().bookings)).toHaveLength(1)
  })

  test('goes on from where it was after a crash at each stop', async () => {
    await using t = await testAgent(travel)
    const asked = await t.client.skill('book').send({ city: 'Oslo' }).outcome
    if (asked.state !== 'input-required') throw new Error(asked.state)
    await t.crash()
    const told = await asked.reply({ data: { yes: true } }).outcome
    if (told.state !== 'auth-required') throw new Error(told.state)
    await t.crash()
    await t.grant(told.task.id, 'secret')
    await t.crash()
    expect(await told.follow().outcome).toMatchObject({ state: 'completed', output: { confirmation: 'COslo-1', price: 90 } })
    expect(Object.keys(hotel.effects().quotes)).toHaveLength(1)
  })
})

describe('wherever it crashes, the travel agent', () => {
  const options = { reset: () => hotel.reset(), effects: hotel.effects }

  test('books exactly once', async () => {
    const { points, diverged } = await crashEverywhere(travel, stay, options)
    expect(diverged).toEqual([])
    expect(points).toBeGreaterThan(20)
  })

  test('books exactly once at a hotel that is busy at first', async () => {
    const { diverged } = await crashEverywhere(travel, stay, {
      ...options,
      reset() {
        hotel.reset()
        hotel.refusals = 2
      },
    })
    expect(diverged).toEqual([])
  })

  test('books nothing without consent', async () => {
    const { diverged } = await crashEverywhere(
      travel,
      async (t) => {
        const asked = await t.client.skill('book').send({ city: 'Oslo' }).outcome
        const told = asked.state === 'input-required' ? await asked.reply({ data: { yes: true } }).outcome : asked
        return told.state === 'auth-required' ? told.reply('No, thank you.').outcome : told
      },
      { ...options, mayFail: true },
    )
    expect(diverged).toEqual([])
  })
})

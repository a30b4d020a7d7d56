/** A booking as a conversation: what is asked, what changes it, and that nothing is booked without consent. */

import { describe, expect, test } from 'vitest'
import { linkOf, openBooking, saidBy, walk } from './booking-kit.js'

const wish = 'book the second one for 12 May'

test('what is allowed is booked once, and confirmed for people and programs', async () => {
  const { searchAndSay, ended, booked } = await openBooking()
  const asked = await searchAndSay(wish)
  expect(asked.status.state).toBe('TASK_STATE_AUTH_REQUIRED')
  expect(saidBy(asked)).toMatch(/^Allow one booking of Sala Azulejo, Lisbon, from 12 May 2027 for 2 days, 40 people\?\n/)
  expect((await walk(linkOf(asked), 'allow')).status).toBe(200)
  const task = await ended(asked.id)
  expect(task.status.state).toBe('TASK_STATE_COMPLETED')
  const [booking, ...others] = await booked()
  expect(others).toEqual([])
  expect(booking).toMatchObject({ venue: 'Sala Azulejo, Lisbon', from: '2027-05-12', days: 2, people: 40 })
  const confirmation = task.artifacts.find(({ name }: any) => name === 'confirmation')
  expect(confirmation.parts).toEqual([
    { text: expect.stringContaining(booking.confirmation) },
    { data: booking, mediaType: 'application/json' },
  ])
})

test('what is denied at the calendar is not booked', async () => {
  const { searchAndSay, ended, booked } = await openBooking()
  const asked = await searchAndSay(wish)
  await walk(linkOf(asked), 'deny')
  const task = await ended(asked.id)
  expect([task.status.state, saidBy(task)]).toEqual(['TASK_STATE_COMPLETED', 'It was not allowed, so nothing is booked.'])
  expect(task.artifacts).toBeUndefined()
  expect(await booked()).toEqual([])
})

test.each(["no, don't", 'No.', 'never mind', 'please cancel that', 'do not book it', "I don't want it any more"])(
  '“%s” instead of consent books nothing, and the link leads nowhere any more',
  async (text) => {
    const { searchAndSay, say, booked } = await openBooking()
    const asked = await searchAndSay(wish)
    const task = await say(text, { taskId: asked.id })
    expect([task.status.state, saidBy(task)]).toEqual(['TASK_STATE_COMPLETED', 'All right, nothing is booked.'])
    expect((await fetch(linkOf(asked))).status).toBeGreaterThanOrEqual(400)
    expect(await booked()).toEqual([])
  },
)

test('anything else instead of consent is told where consent is given, by a new link', async () => {
  const { searchAndSay, say, ended, booked } = await openBooking()
  const first = await searchAndSay(wish)
  const second = await say('yes, of course', { taskId: first.id })
  expect(second.status.state).toBe('TASK_STATE_AUTH_REQUIRED')
  expect(saidBy(second)).toMatch(/^I can take your consent only at the link\. Allow one booking of Sala Azulejo/)
  expect(linkOf(second)).not.toBe(linkOf(first))
  await walk(linkOf(second), 'allow')
  expect((await ended(first.id)).status.state).toBe('TASK_STATE_COMPLETED')
  expect(await booked()).toHaveLength(1)
})

test('a correction instead of consent is asked for anew', async () => {
  const { searchAndSay, say, ended, booked } = await openBooking()
  const first = await searchAndSay(wish)
  const second = await say('no, the third one', { taskId: first.id })
  expect(saidBy(second)).toMatch(/^Allow one booking of Pátio da Âncora, Lisbon, from 12 May 2027 /)
  const third = await say('and from 20 May for 3 days', { taskId: first.id })
  expect(saidBy(third)).toMatch(/^Allow one booking of Pátio da Âncora, Lisbon, from 20 May 2027 for 3 days/)
  await walk(linkOf(third), 'allow')
  await ended(first.id)
  expect(await booked()).toMatchObject([{ venue: 'Pátio da Âncora, Lisbon', from: '2027-05-20', days: 3 }])
})

describe('what is missing is asked for', () => {
  test('the day', async () => {
    const { searchAndSay, say } = await openBooking()
    const asked = await searchAndSay('book Sala Azulejo')
    expect([asked.status.state, saidBy(asked)]).toEqual(['TASK_STATE_INPUT_REQUIRED', 'From which day shall I book Sala Azulejo?'])
    const again = await say('hm, let me see', { taskId: asked.id })
    expect(saidBy(again)).toBe('I could not make a booking of that. From which day shall I book Sala Azulejo?')
    const task = await say('tomorrow', { taskId: asked.id })
    expect(saidBy(task)).toMatch(/^Allow one booking of Sala Azulejo, Lisbon, from 12 May 2027 /)
  })
  test('not where the search had it', async () => {
    const { searchAndSay } = await openBooking()
    const asked = await searchAndSay('book the first one', 'A place in Lisbon for 40 people, 14 to 16 June')
    expect(saidBy(asked)).toMatch(/^Allow one booking of Armazém das Gaivotas, Lisbon, from 14 June 2027 for 3 days, /)
  })
  test('which one, and a number answers', async () => {
    const { searchAndSay, say } = await openBooking()
    const asked = await searchAndSay('please book it for 12 May')
    expect(saidBy(asked)).toMatch(/^Which one shall I book\? 1\. Armazém/)
    expect(saidBy(await say('9', { taskId: asked.id }))).toMatch(/^There are 4 venues on your list\. Which one/)
    expect(saidBy(await say('2', { taskId: asked.id }))).toMatch(/^Allow one booking of Sala Azulejo, /)
  })
  test('until it is called off', async () => {
    const { searchAndSay, say } = await openBooking()
    const asked = await searchAndSay('book the second one')
    const task = await say('forget it', { taskId: asked.id })
    expect([task.status.state, saidBy(task)]).toEqual(['TASK_STATE_COMPLETED', 'All right, nothing is booked.'])
  })
})

test('what stood second is booked, also after a list of cheaper ones', async () => {
  const { say } = await openBooking()
  await say('A place in Lisbon for 40 people for two days with a stage')
  const cheaper = await say('and cheaper ones?')
  expect(saidBy(cheaper)).toMatch(/^Armazém das Gaivotas is the only one that costs less/)
  expect(saidBy(await say('book it for 12 May'))).toMatch(/^Allow one booking of Armazém das Gaivotas, /)
})

test('without a list, a search is offered, and then booked from', async () => {
  const { say } = await openBooking()
  const asked = await say('book the second one')
  expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
  expect(saidBy(asked)).toMatch(/^I have no list of venues yet to book from\. Please tell me which city/)
  const found = await say('Lisbon, 40 people, 2 days', { taskId: asked.id })
  expect(found.status.state).toBe('TASK_STATE_COMPLETED')
  expect(saidBy(await say(wish))).toMatch(/^Allow one booking of Sala Azulejo, /)
})

test('nobody books from the list of another conversation', async () => {
  const { searchAndSay, say } = await openBooking()
  await searchAndSay('thanks')
  expect(saidBy(await say(wish, { contextId: 'another' }))).toMatch(/^I have no list of venues yet/)
})

describe('a calendar that fails', () => {
  test('is asked again under the same key, and books once', async () => {
    const keys: string[] = []
    const { searchAndSay, ended, booked, world } = await openBooking({
      around: (calendar) => ({
        async book(order, permission) {
          keys.push(permission.idempotencyKey)
          const answer = await calendar.book(order, permission)
          // Booked, but the answer is lost.
          if (keys.length < 3) throw new Error('the connection was lost')
          return answer
        },
      }),
    })
    const asked = await searchAndSay(wish)
    await walk(linkOf(asked), 'allow')
    const end = ended(asked.id)
    while (keys.length < 3) await world.advance(1_000)
    expect((await end).status.state).toBe('TASK_STATE_COMPLETED')
    expect(new Set(keys).size).toBe(1)
    expect(await booked()).toHaveLength(1)
  })
  test('is given up after three more tries, and nobody is told that it was booked', async () => {
    let tries = 0
    const { searchAndSay, ended, world } = await openBooking({
      around: () => ({
        async book() {
          tries++
          throw new Error('out of order')
        },
      }),
    })
    const asked = await searchAndSay(wish)
    await walk(linkOf(asked), 'allow')
    const end = ended(asked.id)
    while (tries < 4) await world.advance(1_000)
    const task = await end
    expect([task.status.state, saidBy(task)]).toEqual([
      'TASK_STATE_FAILED',
      'The calendar did not answer, so I cannot say whether Sala Azulejo, Lisbon is booked. Look there before you ask again.',
    ])
    expect(task.artifacts).toBeUndefined()
  })
  test('or refuses is told so', async () => {
    const { searchAndSay, ended } = await openBooking({
      around: (calendar) => ({ book: (order, permission) => calendar.book(order, { ...permission, token: 'worthless' }) }),
    })
    const asked = await searchAndSay(wish)
    await walk(linkOf(asked), 'allow')
    const task = await ended(asked.id)
    expect([task.status.state, saidBy(task)]).toEqual([
      'TASK_STATE_FAILED',
      'The calendar did not take the booking: the permission does not cover it, or no longer does. Nothing is booked.',
    ])
  })
})

test('a request that nobody answers expires after a day', async () => {
  const { searchAndSay, world, task: taskOf, booked } = await openBooking()
  const asked = await searchAndSay(wish)
  await world.advance(24 * 3_600_000)
  const task = await taskOf(asked.id)
  expect([task.status.state, saidBy(task)]).toEqual(['TASK_STATE_FAILED', 'Nobody allowed it in time, so nothing is booked.'])
  expect(await booked()).toEqual([])
})

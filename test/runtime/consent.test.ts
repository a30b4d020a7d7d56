/** Requests for consent in the store: each state is good for one opening of one question, once and in time. */

import { describe, expect, test } from 'vitest'
import { createConsents } from '../../src/runtime/consent.js'
import { fromBase64url, toBase64url } from '../../src/support/crypto.js'
import { statusEvent } from '../../src/task/make-event.js'
import {
  type AskedTask,
  askAgain,
  askConsent,
  headerOf,
  hourMs,
  type OpenedConsents,
  openConsents,
  recordOf,
  stateOfTask,
} from '../server/consent-kit.js'

const grant = { token: 'tok-1', scopes: ['calendar.book'] }

async function statesOf({ store }: OpenedConsents, { ref }: AskedTask): Promise<unknown[]> {
  return (await store.events(ref, 0)).map(({ state }) => state)
}

/** The last line of the log, which must not hold a state or a credential. */
function refusalIn({ lines }: OpenedConsents): unknown {
  return lines.at(-1)?.fields['reason']
}

test('a grant closes the question: WORKING, the credential recorded and sealed, and nothing waited for', async () => {
  const opened = await openConsents()
  const asked = await askConsent(opened)
  expect(await opened.consents.find(asked.state)).toMatchObject({
    header: { id: asked.id },
    asked: { prompt: 'May I enter the room into your calendar?', scopes: ['calendar.book'] },
    due: opened.world.now() + hourMs,
  })
  expect(await opened.consents.grant(asked.state, grant)).toBe('done')
  expect(await statesOf(opened, asked)).toEqual(['TASK_STATE_SUBMITTED', 'TASK_STATE_AUTH_REQUIRED', 'TASK_STATE_WORKING'])
  expect(await recordOf(opened, asked)).toEqual({ granted: grant })
  expect(await headerOf(opened.store, asked.ref)).toMatchObject({ waiting: undefined, attempt: 0 })
  expect(await opened.store.runnable(10)).toEqual([asked.ref])
  const [record] = await opened.store.records(asked.ref, 1)
  expect(record).not.toHaveProperty('n')
  expect(record?.body).not.toContain('tok-1')
})

test('a denial closes the question too, with its reason for the agent', async () => {
  const opened = await openConsents()
  const asked = await askConsent(opened)
  expect(await opened.consents.deny(asked.state, 'no')).toBe('done')
  expect(await recordOf(opened, asked)).toEqual({ denied: 'no' })
  expect(await headerOf(opened.store, asked.ref)).toMatchObject({ waiting: undefined, state: 'TASK_STATE_WORKING' })
})

test('a run that holds the task keeps it', async () => {
  const opened = await openConsents()
  const asked = await askConsent(opened)
  await opened.store.update(asked.ref, () => ({ result: undefined, write: { events: [], holder: 'p1' } }))
  await opened.consents.grant(asked.state, grant)
  expect(await headerOf(opened.store, asked.ref)).toMatchObject({ holder: 'p1' })
  expect(await opened.store.runnable(10)).toEqual([])
})

describe('a state is refused, and the task unchanged,', () => {
  async function expectRefused(opened: OpenedConsents, state: string, asked: AskedTask, reason: string) {
    const before = await stateOfTask(opened, asked)
    expect(await opened.consents.find(state)).toBeUndefined()
    expect(await opened.consents.grant(state, grant)).toBe('gone')
    expect(await opened.consents.deny(state, 'no')).toBe('gone')
    expect(refusalIn(opened)).toBe(reason)
    expect(await stateOfTask(opened, asked)).toEqual(before)
  }

  test('when it has been used', async () => {
    const opened = await openConsents()
    const asked = await askConsent(opened)
    await opened.consents.grant(asked.state, grant)
    await expectRefused(opened, asked.state, asked, 'the question is closed')
  })

  test('when the person has declined', async () => {
    const opened = await openConsents()
    const asked = await askConsent(opened)
    await opened.consents.deny(asked.state, 'no')
    await expectRefused(opened, asked.state, asked, 'the question is closed')
  })

  test('when it is put together from those of two tasks', async () => {
    const opened = await openConsents()
    const [one, two] = [await askConsent(opened), await askConsent(opened, { owner: 'bob' })]
    const [a, b] = [one, two].map(({ state }) => fromBase64url(state) ?? new Uint8Array())
    for (let cut = 1; a && b && cut < Math.min(a.length, b.length); cut++) {
      const mixed = toBase64url(Uint8Array.of(...a.subarray(0, cut), ...b.subarray(cut)))
      for (const asked of [one, two]) await expectRefused(opened, mixed, asked, 'no state of this server')
    }
  })

  test('when another question of the same task is open, under the same key or not', async () => {
    const opened = await openConsents()
    const first = await askConsent(opened, { key: 'book' })
    await opened.consents.deny(first.state, 'no')
    const second = await askAgain(opened, first.ref, { key: 'book' })
    await expectRefused(opened, first.state, second, 'the question is closed')
    expect(await opened.consents.grant(second.state, grant)).toBe('done')
  })

  test('from the moment at which it expires', async () => {
    const opened = await openConsents()
    const asked = await askConsent(opened)
    await opened.world.advance(hourMs - 1)
    expect(await opened.consents.find(asked.state)).toBeDefined()
    await opened.world.advance(1)
    await expectRefused(opened, asked.state, asked, 'the question has expired')
  })

  test('when the task is over', async () => {
    const opened = await openConsents()
    const asked = await askConsent(opened)
    await opened.store.update(asked.ref, (header) => ({
      result: undefined,
      write: { events: [statusEvent(header, 'TASK_STATE_CANCELED', opened.world.now() + 1)] },
    }))
    await expectRefused(opened, asked.state, asked, 'the task is over')
  })

  test('when the task asks something else than for consent', async () => {
    const opened = await openConsents()
    const asked = await askConsent(opened, { question: 'q-a' })
    await opened.store.update(asked.ref, () => ({
      result: undefined,
      write: { events: [], waiting: { kind: 'ask', key: asked.key, question: 'q-a' } },
    }))
    await expectRefused(opened, asked.state, asked, 'the question is closed')
  })

  test('when it was made up, or changed in any character', async () => {
    const opened = await openConsents()
    const asked = await askConsent(opened)
    for (const state of ['', 'callback', 'AAAA', toBase64url(new Uint8Array(64)), 'no state', '../x', `${asked.state}=`]) {
      await expectRefused(opened, state, asked, 'no state of this server')
    }
    const bytes = fromBase64url(asked.state) ?? new Uint8Array()
    for (let i = 0; i < bytes.length; i++) {
      const changed = new Uint8Array(bytes)
      changed[i] = (changed[i] ?? 0) ^ 1
      expect(await opened.consents.grant(toBase64url(changed), grant)).toBe('gone')
    }
    expect(await opened.consents.find(asked.state)).toBeDefined()
  })

  test('when another server made it', async () => {
    const opened = await openConsents()
    const asked = await askConsent(opened)
    const { store, vault, world, log } = opened
    const other = createConsents({ store, vault, world, log, secret: new Uint8Array(32).fill(7) })
    await expectRefused(opened, other.state(asked.ref, 'q-1'), asked, 'no state of this server')
  })
})

test('a state of another task closes its own question and no other', async () => {
  const opened = await openConsents()
  const [one, two] = [await askConsent(opened), await askConsent(opened, { owner: 'bob' })]
  const before = await stateOfTask(opened, one)
  expect(await opened.consents.grant(two.state, grant)).toBe('done')
  expect(await stateOfTask(opened, one)).toEqual(before)
  expect(one.state).not.toBe(two.state)
})

test('of two who close a question at once, one does', async () => {
  const opened = await openConsents()
  const asked = await askConsent(opened)
  const { consents } = opened
  const outcomes = await Promise.all([
    consents.grant(asked.state, grant),
    consents.deny(asked.state, 'no'),
    consents.grant(asked.state, grant),
  ])
  expect(outcomes.sort()).toEqual(['done', 'gone', 'gone'])
  expect((await statesOf(opened, asked)).filter((state) => state === 'TASK_STATE_WORKING')).toHaveLength(1)
})

test('a question that expires or is canceled while its answer is being sealed is not closed by it', async () => {
  let between: () => Promise<void> = async () => {}
  const opened = await openConsents((store) => ({
    update: async (ref, decide, inbound) => {
      await between()
      return store.update(ref, decide, inbound)
    },
  }))
  const asked = await askConsent(opened)
  between = () => opened.world.advance(hourMs)
  expect(await opened.consents.grant(asked.state, grant)).toBe('gone')
  expect(await recordOf(opened, asked)).toHaveProperty('asked')
})

test('what stays open without a limit is answered a year later', async () => {
  const opened = await openConsents()
  const asked = await askConsent(opened, { timeoutMs: undefined })
  await opened.world.advance(365 * 24 * hourMs)
  expect(await opened.consents.grant(asked.state, grant)).toBe('done')
})

test('the log tells of grants, denials and refusals, and holds no state, reason of a person, or credential', async () => {
  const opened = await openConsents()
  const [one, two] = [await askConsent(opened), await askConsent(opened)]
  await opened.consents.grant(one.state, grant)
  await opened.consents.grant(one.state, grant)
  await opened.consents.deny(two.state, 'because of SECRET')
  await opened.consents.find('forged')
  expect(opened.lines).toEqual([
    { level: 'info', message: 'consent was given', fields: { taskId: one.id } },
    { level: 'info', message: 'a consent was refused', fields: { reason: 'the question is closed', taskId: one.id } },
    { level: 'info', message: 'consent was denied', fields: { taskId: two.id } },
    { level: 'info', message: 'a consent was refused', fields: { reason: 'no state of this server' } },
  ])
})

test('what is derived from a state differs by purpose and state, and cannot be told from it', async () => {
  const { consents } = await openConsents()
  const made = [consents.derive('pkce', 'a'), consents.derive('pkce', 'b'), consents.derive('browser', 'a')].map(toBase64url)
  expect(new Set(made).size).toBe(3)
  expect(toBase64url(consents.derive('pkce', 'a'))).toBe(made[0])
  expect(made[0]).toHaveLength(43)
})

/** P30–: what is delivered to webhooks. Spec §4.3.3, §13.2. */

import { check } from '../check.js'
import { kindOf } from '../event-stream.js'
import { at, brief, isMembers, type Members, parsed, textAt } from '../json.js'
import { faultsOf } from '../shape.js'
import type { Trial } from '../trial.js'
import { NotProvoked } from '../verdict.js'
import type { Delivery, Webhook } from '../webhooks.js'

const needs = ['push', 'webhook'] as const
const once = { needs, messages: 1 } as const

const stateOf = ({ body }: Delivery) => {
  const told = parsed(body)
  return textAt(told, 'statusUpdate.status.state') || textAt(told, 'task.status.state')
}
const isEnd = (delivery: Delivery) => /COMPLETED|FAILED|CANCELED|REJECTED/.test(stateOf(delivery))
const header = ({ headers }: Delivery, name: string) => headers.find(([one]) => one.toLowerCase() === name)?.[1]

/** A task at work with a webhook in the send that made it. */
async function begun(t: Trial, webhook: Webhook, more: Members = {}) {
  const configuration = { returnImmediately: true, taskPushNotificationConfig: { url: webhook.url, ...more } }
  const result = await t.ready('SendMessage', { message: t.prompt('delayed'), configuration })
  const id = textAt(result, 'task.id')
  if (id === '') throw new NotProvoked('no task was made')
  return id
}

/** What has come by the time that the end of a task has, and nothing more comes. */
async function delivered(t: Trial, webhook: Webhook, patienceMs = 30_000): Promise<readonly Delivery[]> {
  await t.until(
    async () => webhook.deliveries,
    (all) => all.some(isEnd),
    patienceMs,
  )
  await t.pause(500)
  return webhook.deliveries
}

async function some(t: Trial, webhook: Webhook): Promise<readonly Delivery[]> {
  const all = await delivered(t, webhook)
  if (all.length === 0) throw new NotProvoked('nothing was delivered')
  return all
}

export const pushChecks = [
  check('P30', ['MUST', '4.3.3'], 'The end of a task is delivered to the webhook of its send.', once, async (t) => {
    const webhook = t.webhooks().open()
    await begun(t, webhook)
    const all = await delivered(t, webhook)
    t.want(all.some(isEnd), 'a final state', brief(all.map(stateOf)))
  }),
  check('P31', ['MUST', '4.3.3'], 'A delivery carries the credentials of its configuration.', once, async (t) => {
    const webhook = t.webhooks().open()
    await begun(t, webhook, { authentication: { scheme: 'Bearer', credentials: 'for-the-webhook' } })
    for (const one of await some(t, webhook)) {
      t.want(
        header(one, 'authorization') === 'Bearer for-the-webhook',
        'Authorization: Bearer for-the-webhook',
        header(one, 'authorization') ?? 'none',
      )
    }
  }),
  check('P32', ['MUST', '4.3.3'], 'A delivery is a POST of JSON.', once, async (t) => {
    const webhook = t.webhooks().open()
    await begun(t, webhook)
    for (const one of await some(t, webhook)) {
      t.want(
        one.method === 'POST' && /^application\/(a2a\+)?json\b/.test(header(one, 'content-type') ?? ''),
        'a POST of application/a2a+json',
        `${one.method} ${header(one, 'content-type')}`,
      )
    }
  }),
  check('P33', ['MUST', '4.3.3'], 'A delivery is a task, a message, a status or an artifact, and only one of them.', once, async (t) => {
    const webhook = t.webhooks().open()
    await begun(t, webhook)
    for (const { body } of await some(t, webhook)) {
      const told = parsed(body)
      t.want(
        isMembers(told) && kindOf(told) !== undefined && faultsOf('StreamResponse', told).length === 0,
        'a valid StreamResponse',
        brief(body),
      )
    }
  }),
  check('P34', ['SHOULD', '3.5.2'], 'Deliveries come in the order of what they tell.', once, async (t) => {
    const webhook = t.webhooks().open()
    await begun(t, webhook)
    const all = await some(t, webhook)
    const end = all.findIndex(isEnd)
    if (end < 0) throw new NotProvoked('the end of the task was not delivered')
    t.want(end === all.length - 1, 'the end of the task at last', brief(all.map(({ body }) => Object.keys(parsed(body) ?? {})[0])))
  }),
  check('P35', ['SHOULD', '13.2'], 'A delivery that failed is tried again.', once, async (t) => {
    const webhook = t.webhooks().open([503, 200])
    await begun(t, webhook)
    await delivered(t, webhook)
    const [first] = webhook.deliveries
    if (!first) throw new NotProvoked('nothing was delivered')
    const again = await t.until(
      async () => webhook.deliveries.slice(1).filter(({ body }) => body === first.body),
      (all) => all.length > 0,
      60_000,
    )
    t.want(again.length > 0, 'the same delivery again', `${webhook.deliveries.length} deliveries, each other than the first`)
  }),
  check('P36', ['MUST', '3.1.7'], 'A webhook that is made for a task at work is told what follows.', once, async (t) => {
    const webhook = t.webhooks().open()
    const { id } = await t.begin('delayed')
    await t.ready('CreateTaskPushNotificationConfig', { taskId: id, url: webhook.url })
    const all = await delivered(t, webhook)
    t.want(all.some(isEnd), 'a final state', brief(all.map(stateOf)))
  }),
  check('P37', ['MUST', '3.1.10'], 'A webhook that was deleted is told nothing more.', once, async (t) => {
    const webhook = t.webhooks().open()
    const { id } = await t.begin('working')
    const config = await t.ready('CreateTaskPushNotificationConfig', { taskId: id, url: webhook.url })
    await t.ready('DeleteTaskPushNotificationConfig', { taskId: id, id: textAt(config, 'id') })
    await t.pause(1_000)
    const before = webhook.deliveries.length
    await t.ready('CancelTask', { id })
    await t.pause(10_000)
    t.want(webhook.deliveries.length === before, 'no further delivery', brief(webhook.deliveries.slice(before).map(({ body }) => body)))
  }),
  check('P38', ['MUST', '3.5.2'], 'A webhook that is down is no harm to its task.', once, async (t) => {
    const id = await begun(t, t.webhooks().open([503]))
    const task = await t.until(
      () => t.task(id),
      (one) => /COMPLETED|FAILED/.test(textAt(one, 'status.state')),
      30_000,
    )
    t.want(textAt(task, 'status.state') === 'TASK_STATE_COMPLETED', 'COMPLETED', textAt(task, 'status.state'))
  }),
  check('P39', ['SHOULD', '13.2'], 'A webhook that redirects is not followed.', once, async (t) => {
    const elsewhere = t.webhooks().open()
    const webhook = t.webhooks().open([307], [['Location', elsewhere.url]])
    await begun(t, webhook)
    await t.until(
      async () => webhook.deliveries,
      (all) => all.length > 0,
      30_000,
    )
    await t.pause(10_000)
    t.want(elsewhere.deliveries.length === 0, 'nothing at the other address', brief(elsewhere.deliveries.map(({ body }) => body)))
  }),
  check('P40', ['MUST', '4.3.3'], 'Each webhook of a task is told of its end.', once, async (t) => {
    const [one, two] = [t.webhooks().open(), t.webhooks().open()]
    const { id } = await t.begin('delayed')
    for (const { url } of [one, two]) await t.ready('CreateTaskPushNotificationConfig', { taskId: id, url })
    for (const webhook of [one, two])
      t.want((await delivered(t, webhook)).some(isEnd), 'a final state at both', brief(webhook.deliveries.map(stateOf)))
  }),
  check('P41', ['MUST', '4.3.3'], 'What is delivered is about the task that the webhook was made for.', once, async (t) => {
    const webhook = t.webhooks().open()
    const id = await begun(t, webhook)
    for (const { body } of await some(t, webhook)) {
      const told = parsed(body)
      const about = textAt(told, 'task.id') || textAt(told, 'statusUpdate.taskId') || textAt(told, 'artifactUpdate.taskId')
      t.want(about === id, `task ${id}`, about)
    }
  }),
  check('P42', ['MAY', '4.3.3'], 'A token goes with the deliveries of its configuration.', once, async (t) => {
    const webhook = t.webhooks().open()
    await begun(t, webhook, { token: 'token-for-the-webhook' })
    for (const one of await some(t, webhook)) {
      const found = one.headers.find(([, value]) => value.includes('token-for-the-webhook'))
      t.want(found !== undefined, 'the token in a header', brief(one.headers))
      t.reading('the header of the token', found?.[0].toLowerCase() ?? '')
    }
  }),
  check('P43', ['MUST', '4.3.3'], 'A final state is delivered once where it was taken.', once, async (t) => {
    const webhook = t.webhooks().open()
    await begun(t, webhook)
    const all = await some(t, webhook)
    const ends = all.filter((one) => isEnd(one) && at(parsed(one.body), 'statusUpdate') !== undefined)
    if (ends.length === 0) throw new NotProvoked('the end of the task was not delivered')
    t.want(ends.length === 1, 'one final status', ends.length)
  }),
]

/** A: who may see what. Spec §3.3.2, §7.4, §13.1, §13.3. */

import type { OperationName } from '../../protocol/operations.js'
import { check, type Need } from '../check.js'
import { type Exchange, headerOf } from '../exchange.js'
import { at, brief, listAt, type Members, parsed, put, same, textAt } from '../json.js'
import type { Trial } from '../trial.js'
import { NotProvoked } from '../verdict.js'
import { type Answer, tell } from '../wire.js'

const secured: readonly Need[] = ['authentication']
const shared: readonly Need[] = ['second identity']

/** Headers in which two answers to the same question may differ. */
const passing = new Set(['date', 'content-length', 'connection', 'keep-alive', 'x-request-id', 'traceparent', 'server-timing', 'etag'])

/** What of an answer must be the same for a task that is somebody else's and one that is not there, but for its id. */
function seenOf(exchange: Exchange, id: string): string {
  const headers = exchange.headers
    .map(([name, value]) => `${name.toLowerCase()}: ${value}`)
    .filter((line) => !passing.has(line.split(':')[0] ?? ''))
  const body = parsed(exchange.body)
  const masked = JSON.stringify(put(body, 'id', undefined)).replaceAll(id, '<id>')
  return [`HTTP ${exchange.status}`, ...headers.sort(), masked].join('\n')
}

/** An id of the same form that nobody has. */
function likeness(id: string): string {
  return id.replace(/[0-9a-f](?=[^0-9a-f]*$)/i, (digit) => (digit === '0' ? '1' : '0'))
}

type Ask = (t: Trial, id: string) => Promise<Answer>

const asks: Readonly<Record<string, Ask>> = {
  GetTask: (t, id) => t.call('GetTask', { id }, { as: 'b' }),
  CancelTask: (t, id) => t.call('CancelTask', { id }, { as: 'b' }),
  SubscribeToTask: (t, id) => plain(t, 'SubscribeToTask', { id }),
  SendMessage: (t, id) => t.call('SendMessage', { message: t.message('And for me?', { taskId: id }) }, { as: 'b' }),
  CreateTaskPushNotificationConfig: (t, id) =>
    t.call('CreateTaskPushNotificationConfig', { taskId: id, url: 'https://example.com/hook' }, { as: 'b' }),
  GetTaskPushNotificationConfig: (t, id) => t.call('GetTaskPushNotificationConfig', { taskId: id, id: 'hook' }, { as: 'b' }),
  ListTaskPushNotificationConfigs: (t, id) => t.call('ListTaskPushNotificationConfigs', { taskId: id }, { as: 'b' }),
  DeleteTaskPushNotificationConfig: (t, id) => t.call('DeleteTaskPushNotificationConfig', { taskId: id, id: 'hook' }, { as: 'b' }),
}

async function plain(t: Trial, operation: OperationName, params: Members): Promise<Answer> {
  const opened = await t.open(operation, params, { as: 'b' })
  if (!('next' in opened)) return opened
  opened.close()
  return { kind: 'unreadable', why: 'an event stream', exchange: opened.exchange }
}

function hides(id: string, section: string, operation: keyof typeof asks, needs: readonly Need[], what: string) {
  return check(
    id,
    ['MUST', section],
    `To ${what} somebody else’s task is answered exactly like one that is not there.`,
    { needs: [...shared, ...needs], messages: 3 },
    async (t) => {
      const ask = asks[operation]
      const theirs = String((await t.begin('working'))['id'])
      const missing = likeness(theirs)
      if (!ask || missing === theirs) throw new NotProvoked('the ids of tasks have no digits')
      const [hidden, absent] = [await ask(t, theirs), await ask(t, missing)]
      t.want(hidden.kind === 'error', 'an error', tell(t.binding, hidden))
      const [one, other] = [seenOf(hidden.exchange, theirs), seenOf(absent.exchange, missing)]
      t.want(one === other, `as for a task that is not there: ${other}`, one)
    },
  )
}

/** Every operation as somebody without credentials would call it. */
const calls: readonly (readonly [OperationName, (t: Trial) => Members, readonly Need[]])[] = [
  ['SendMessage', (t) => ({ message: t.prompt('complete') }), []],
  ['SendStreamingMessage', (t) => ({ message: t.prompt('complete') }), ['streaming']],
  ['GetTask', () => ({ id: 'x' }), []],
  ['ListTasks', () => ({}), []],
  ['CancelTask', () => ({ id: 'x' }), []],
  ['SubscribeToTask', () => ({ id: 'x' }), ['streaming']],
  ['GetExtendedAgentCard', () => ({}), ['extended card']],
]

const secret = 'Lisbon, 120 people, on the ninth of May'

export const accessChecks = [
  ...calls.map(([operation, params, needs], i) =>
    check(
      `A${20 + i}`,
      ['MUST', operation === 'GetExtendedAgentCard' ? '13.3' : '7.4'],
      `${operation} without credentials is refused with 401.`,
      { needs: [...secured, ...needs], messages: operation.startsWith('Send') ? 1 : 0 },
      async (t) => {
        const answer = await t.open(operation, params(t), { as: 'nobody', headers: { Authorization: undefined } })
        if ('next' in answer) answer.close()
        t.want(answer.exchange.status === 401, 'HTTP 401', 'next' in answer ? 'an event stream' : tell(t.binding, answer))
      },
    ),
  ),
  check('A1', ['MUST', '7.4'], 'A credential that does not hold is refused with 401.', { needs: secured }, async (t) => {
    const answer = await t.call('ListTasks', {}, { as: 'nobody', headers: { Authorization: `Bearer wrong-${t.fresh()}` } })
    t.want(answer.exchange.status === 401, 'HTTP 401', tell(t.binding, answer))
  }),
  check('A2', ['SHOULD', '3.3.2'], 'A refusal with 401 says by WWW-Authenticate how to do better.', { needs: secured }, async (t) => {
    const { exchange } = await t.call('ListTasks', {}, { as: 'nobody' })
    if (exchange.status !== 401) throw new NotProvoked(`HTTP ${exchange.status} without credentials`)
    const challenge = headerOf(exchange, 'www-authenticate')
    t.want(/^[A-Za-z]+/.test(challenge ?? ''), 'WWW-Authenticate with a scheme', challenge ?? 'none')
  }),
  check(
    'A3',
    ['MUST', '3.3.2'],
    'What is refused for want of credentials has done nothing.',
    { needs: secured, messages: 1 },
    async (t) => {
      const before = at(await t.ready('ListTasks', { pageSize: 1 }), 'totalSize')
      await t.call('SendMessage', { message: t.prompt('complete') }, { as: 'nobody' })
      const after = at(await t.ready('ListTasks', { pageSize: 1 }), 'totalSize')
      t.want(before === after, `${before} tasks`, after)
    },
  ),
  hides('A4', '13.1', 'GetTask', [], 'read'),
  hides('A5', '13.1', 'CancelTask', [], 'cancel'),
  hides('A6', '13.1', 'SubscribeToTask', ['streaming'], 'subscribe to'),
  hides('A7', '13.1', 'SendMessage', [], 'send to'),
  hides('A8', '13.1', 'CreateTaskPushNotificationConfig', ['push'], 'have webhooks called for'),
  hides('A9', '13.1', 'GetTaskPushNotificationConfig', ['push'], 'read a webhook of'),
  hides('A10', '13.1', 'ListTaskPushNotificationConfigs', ['push'], 'list the webhooks of'),
  hides('A11', '13.1', 'DeleteTaskPushNotificationConfig', ['push'], 'delete a webhook of'),
  check('A12', ['MUST', '13.1'], 'A list without any filter has tasks of its caller only.', { needs: shared, messages: 1 }, async (t) => {
    const { id } = await t.begin('complete')
    const page = await t.must('ListTasks', { pageSize: 100 }, { as: 'b' })
    const ids = listAt(page, 'tasks').map((task) => at(task, 'id'))
    t.want(!ids.includes(id), 'a list without the task of somebody else', ids.length)
  }),
  check(
    'A13',
    ['MUST', '13.1'],
    'A list of somebody else’s context is like one of a context that is not there.',
    { needs: shared, messages: 1 },
    async (t) => {
      const { contextId } = await t.begin('complete')
      const [hidden, absent] = [
        await t.call('ListTasks', { contextId }, { as: 'b' }),
        await t.call('ListTasks', { contextId: likeness(String(contextId)) }, { as: 'b' }),
      ]
      const [one, other] = [seenOf(hidden.exchange, String(contextId)), seenOf(absent.exchange, likeness(String(contextId)))]
      t.want(one === other, `as for a context that is not there: ${other}`, one)
    },
  ),
  check(
    'A14',
    ['MUST', '13.1'],
    'A message in somebody else’s context shows nothing of what was said there.',
    { needs: shared, messages: 3 },
    async (t) => {
      const asked = t.prompt('complete')
      const { contextId } = await t.begin('complete', { parts: [...listAt(asked, 'parts'), { text: `A venue in ${secret}, please.` }] })
      const mine = await t.call('SendMessage', { message: t.prompt('complete', { contextId }) }, { as: 'b' })
      const { body } = mine.exchange
      const told = secret.split(/, | on /).filter((detail) => body.includes(detail))
      t.want(told.length === 0, 'an answer that shows nothing of it', `${told.join(', ')} in ${brief(body)}`)
      if (mine.kind !== 'result') return
      const whole = JSON.stringify(await t.ready('GetTask', { id: textAt(mine.result, 'task.id') }, { as: 'b' }))
      t.want(!whole.includes('Lisbon'), 'a task that shows nothing of it', brief(whole))
    },
  ),
  check('A15', ['MUST', '13.1'], 'A page token is of no use to somebody else.', { needs: shared, messages: 2 }, async (t) => {
    const { contextId } = await t.begin('complete')
    await t.begin('complete', { contextId })
    const pageToken = textAt(await t.ready('ListTasks', { pageSize: 1 }), 'nextPageToken')
    if (pageToken === '') throw new NotProvoked('there is one page only')
    const answer = await t.call('ListTasks', { pageSize: 1, pageToken }, { as: 'b' })
    const ids = answer.kind === 'result' ? listAt(answer.result, 'tasks') : []
    t.want(ids.length === 0, 'an error, or nothing of the other’s', tell(t.binding, answer))
  }),
  check(
    'A16',
    ['MUST', '13.1'],
    'A message id that somebody else has used before makes a task of one’s own.',
    { needs: shared, messages: 2 },
    async (t) => {
      const message = t.prompt('complete')
      const theirs = textAt(await t.ready('SendMessage', { message }), 'task.id')
      const answer = await t.call('SendMessage', { message }, { as: 'b' })
      t.want(answer.kind === 'result' && textAt(answer.result, 'task.id') !== theirs, 'a task of one’s own', tell(t.binding, answer))
    },
  ),
  check(
    'A17',
    ['SHOULD', '3.3.2'],
    'Somebody without credentials is not told what is wrong with the rest of the request.',
    { needs: secured, on: 'JSONRPC' },
    async (t) => {
      const exchange = await t.send({ method: 'POST', url: t.door.url, headers: [['Content-Type', 'application/json']], body: '{ no JSON' })
      t.want(exchange.status === 401, 'HTTP 401', `HTTP ${exchange.status}: ${brief(exchange.body)}`)
    },
  ),
  check('A18', ['MUST', '13.4'], 'No answer repeats a credential.', { needs: secured }, async (t) => {
    const credential = `wrong-${t.fresh()}`
    const { exchange } = await t.call('ListTasks', {}, { as: 'nobody', headers: { Authorization: `Bearer ${credential}` } })
    const whole = exchange.body + JSON.stringify(exchange.headers)
    t.want(!whole.includes(credential), 'an answer without the credential', brief(whole))
  }),
  check(
    'A19',
    ['MUST', '13.1'],
    'Nobody can tell by the time of an answer whether a task is there.',
    { needs: shared, messages: 1, timing: true },
    async (t) => {
      const theirs = String((await t.begin('working'))['id'])
      const missing = likeness(theirs)
      const [hidden, absent]: [number[], number[]] = [[], []]
      // Turn by turn, so that a slow moment of the network meets both.
      for (let i = 0; i < samples; i++) {
        hidden.push((await t.call('GetTask', { id: theirs }, { as: 'b' })).exchange.durationMs)
        absent.push((await t.call('GetTask', { id: missing }, { as: 'b' })).exchange.durationMs)
      }
      const gap = Math.abs(median(hidden) - median(absent))
      const isClear = gap > 2 && Math.abs(rankScore(hidden, absent)) > 4
      t.want(!isClear, 'times that do not differ', `${median(hidden)} ms for somebody else’s, ${median(absent)} ms for none`)
    },
  ),
  check(
    'A27',
    ['MUST', '13.3'],
    'Everybody gets the extended card that is meant for them.',
    { needs: [...shared, 'extended card'] },
    async (t) => {
      const [mine, again] = [await t.ready('GetExtendedAgentCard', {}), await t.ready('GetExtendedAgentCard', {}, { as: 'b' })]
      const third = await t.ready('GetExtendedAgentCard', {})
      t.want(same(put(mine, 'signatures', undefined), put(third, 'signatures', undefined)), 'the same card as before', brief(third))
      t.reading('the extended card', same(mine, again) ? 'is the same for both callers' : 'differs by caller')
    },
  ),
]

const samples = 40

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

/** Standard score of the rank sum (Mann and Whitney): beyond 4 the two lists differ by more than chance. */
function rankScore(a: readonly number[], b: readonly number[]): number {
  let wins = 0
  for (const x of a) for (const y of b) wins += x > y ? 1 : x === y ? 0.5 : 0
  const deviation = Math.sqrt((a.length * b.length * (a.length + b.length + 1)) / 12)
  return (wins - (a.length * b.length) / 2) / deviation
}

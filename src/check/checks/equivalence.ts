/** Q: all bindings of an agent are the same agent. Spec §5.1. */

import { check } from '../check.js'
import { kindOf, stateOf } from '../event-stream.js'
import { at, brief, isMembers, listAt, type Members, same, textAt } from '../json.js'
import type { Trial } from '../trial.js'
import { NotProvoked } from '../verdict.js'
import { type Answer, nameOf } from '../wire.js'

const needs = ['two bindings'] as const
const once = { on: 'agent', needs } as const

const each = (t: Trial) => t.doors.map((door) => t.over(door))

/** A value in which ids and times, which differ each time, are named by the order in which they come. */
function masked(value: unknown): unknown {
  const names = new Map<string, string>()
  const nameFor = (kind: string, text: string) => {
    const known = names.get(text) ?? `<${kind} ${names.size + 1}>`
    names.set(text, known)
    return known
  }
  const mask = (one: unknown, member: string): unknown => {
    if (Array.isArray(one)) return one.map((inside) => mask(inside, member))
    if (isMembers(one)) return Object.fromEntries(Object.entries(one).map(([name, inside]) => [name, mask(inside, name)]))
    if (typeof one !== 'string') return one
    if (/timestamp/i.test(member)) return '<time>'
    if (/^(id|taskId|contextId|messageId|artifactId)$/.test(member)) return nameFor(member, one)
    return one.replace(/\b[0-9a-f]{8}\b/g, '<chance>')
  }
  return mask(value, '')
}

function told(t: Trial, answer: Answer): unknown {
  if (answer.kind === 'result') return masked(answer.result)
  return answer.kind === 'error' ? nameOf(t.binding, answer).split(' ')[0] : answer.why
}

/** That what `ask` gives is the same on every binding. */
async function sameOnEach(t: Trial, ask: (trial: Trial) => Promise<unknown>): Promise<void> {
  const [first, ...others] = each(t)
  if (!first) return
  const wanted = await ask(first)
  for (const other of others) {
    const got = await ask(other)
    t.want(same(wanted, got), `as on ${first.binding}: ${brief(wanted, 600)}`, `on ${other.binding}: ${brief(got, 600)}`)
  }
}

export const equivalenceChecks = [
  check('Q1', ['MUST', '5.1'], 'The same sequence of calls has the same outcome on every binding.', { ...once, messages: 6 }, (t) =>
    sameOnEach(t, async (trial) => {
      const asked = await trial.call('SendMessage', { message: trial.prompt('inputRequired') })
      const task = asked.kind === 'result' ? at(asked.result, 'task') : undefined
      const id = textAt(task, 'id')
      if (id === '') throw new NotProvoked('no task was made')
      const answered = await trial.call('SendMessage', { message: trial.prompt('answer', { taskId: id }) })
      const read = await trial.call('GetTask', { id })
      const listed = await trial.call('ListTasks', { contextId: textAt(task, 'contextId') })
      const canceled = await trial.call('CancelTask', { id })
      const more = await trial.call('SendMessage', { message: trial.message('One more thing.', { taskId: id }) })
      return [asked, answered, read, listed, canceled, more].map((answer) => told(trial, answer))
    }),
  ),
  check('Q2', ['MUST', '5.1'], 'A task that was made on one binding is read on the others.', { ...once, messages: 1 }, async (t) => {
    const { id } = await t.begin('artifact')
    await sameOnEach(t, (trial) => trial.must('GetTask', { id }))
  }),
  check('Q3', ['MUST', '5.1'], 'A list is the same on every binding.', { ...once, messages: 2 }, async (t) => {
    const { contextId } = await t.begin('complete')
    await t.begin('artifact', { contextId })
    await sameOnEach(t, (trial) => trial.must('ListTasks', { contextId, includeArtifacts: true }))
  }),
  check('Q4', ['MUST', '5.1'], 'What is wrong with a request is the same on every binding.', { ...once, messages: 2 }, (t) =>
    sameOnEach(t, async (trial) => {
      const id = `not-there-${'0'.repeat(8)}`
      const answers = [
        await trial.call('GetTask', { id }),
        await trial.call('CancelTask', { id }),
        await trial.call('ListTasks', { pageSize: -1 }),
        await trial.call('SendMessage', { message: { messageId: trial.fresh(), role: 'ROLE_USER', parts: [] } }),
        await trial.call('ListTasks', {}, { headers: { 'A2A-Version': '99.0' } }),
      ]
      return answers.map((answer) => told(trial, answer))
    }),
  ),
  check(
    'Q5',
    ['MUST', '5.1'],
    'Who watches a task sees the same on every binding.',
    { ...once, needs: ['two bindings', 'streaming'], messages: 1 },
    async (t) => {
      const { id } = await t.begin('delayed')
      const streams = []
      for (const trial of each(t)) streams.push(await trial.readyOpen('SubscribeToTask', { id }))
      const [first = [], ...others] = await Promise.all(streams.map((stream) => stream.rest()))
      const bodies = (frames: typeof first) => frames.filter(({ body }) => kindOf(body) !== 'task').map(({ body }) => body)
      for (const other of others) t.want(same(bodies(first), bodies(other)), brief(bodies(first), 600), brief(bodies(other), 600))
      t.want(
        first.some((frame) => stateOf(frame) !== ''),
        'the states of the task',
        'none',
      )
    },
  ),
  check(
    'Q6',
    ['MUST', '5.1'],
    'The extended card is the same on every binding.',
    { ...once, needs: ['two bindings', 'extended card'] },
    (t) =>
      sameOnEach(t, async (trial) => {
        const card = await trial.must('GetExtendedAgentCard', {})
        // Signatures differ each time.
        const { signatures: _, ...rest } = isMembers(card) ? card : {}
        return rest
      }),
  ),
  check(
    'Q7',
    ['MUST', '5.1'],
    'A push configuration that was made on one binding is read on the others.',
    { ...once, needs: ['two bindings', 'push'] },
    async (t) => {
      const taskId = (await t.finished())['id']
      const made = await t.ready('CreateTaskPushNotificationConfig', { taskId, url: `https://example.com/${t.fresh()}` })
      await sameOnEach(t, (trial) => trial.must('GetTaskPushNotificationConfig', { taskId, id: textAt(made, 'id') }))
    },
  ),
  check(
    'Q8',
    ['MUST', '5.1'],
    'Credentials that do not hold are refused in the same way on every binding.',
    { ...once, needs: ['two bindings', 'authentication'] },
    (t) =>
      sameOnEach(
        t,
        async (trial) =>
          (await trial.call('ListTasks', {}, { as: 'nobody', headers: { Authorization: 'Bearer wrong-for-all' } })).exchange.status,
      ),
  ),
  check('Q9', ['MUST', '4'], 'The numbers and flags of a query mean the same as those of a body.', { ...once, messages: 2 }, async (t) => {
    const { contextId } = await t.begin('artifact')
    await t.begin('complete', { contextId })
    for (const params of [
      { pageSize: 1 },
      { includeArtifacts: true },
      { historyLength: 0 },
      { status: 'TASK_STATE_FAILED' },
    ] satisfies Members[]) {
      await sameOnEach(t, async (trial) => {
        const page = await trial.must('ListTasks', { contextId, ...params })
        return [at(page, 'totalSize'), at(page, 'pageSize'), listAt(page, 'tasks')]
      })
    }
  }),
]

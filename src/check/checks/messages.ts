/** M: which messages are taken, and what becomes of them. Spec §4.1.4, §4.1.6, §5.5–5.7. */

import { check } from '../check.js'
import { at, brief, listAt, type Members, parsed, put, same, textAt } from '../json.js'
import { faultsOf } from '../shape.js'
import type { Trial } from '../trial.js'
import { NotApplicable, NotProvoked } from '../verdict.js'
import { tell } from '../wire.js'

const one = { messages: 1 } as const

/** A message that lacks something or has too much is refused. */
async function refusesMessage(t: Trial, change: (message: Members) => unknown): Promise<void> {
  await t.refuses('SendMessage', { message: change(t.prompt('complete')) }, ['InvalidParamsError'])
}

/** Sends parts, and gives those that the history of the task shows of them. */
async function keptParts(t: Trial, parts: readonly unknown[]): Promise<unknown> {
  const message = t.prompt('complete')
  const sent: Members = { ...message, parts: [...listAt(message, 'parts'), ...parts] }
  const answer = await t.call('SendMessage', { message: sent })
  if (answer.kind === 'error' && /CONTENT_TYPE|INVALID_PARAMS/.test(answer.reason)) throw new NotApplicable('the agent takes no such parts')
  const id = answer.kind === 'result' ? textAt(answer.result, 'task.id') : ''
  if (id === '') throw new NotProvoked(`no task of it: ${tell(t.binding, answer)}`)
  const found = listAt(await t.task(id), 'history').find((entry) => at(entry, 'messageId') === sent['messageId'])
  if (!found) throw new NotProvoked('the agent keeps no history')
  return listAt(found, 'parts').slice(listAt(message, 'parts').length)
}

async function keeps(t: Trial, part: Members): Promise<void> {
  const kept = await keptParts(t, [part])
  const members = Object.fromEntries(Object.keys(part).map((name) => [name, at(kept, `0.${name}`)]))
  t.want(same(members, part), `the part ${brief(part)}`, brief(kept))
}

/** What is another way to write the same is taken as the same. */
async function takes(t: Trial, change: (params: Members) => unknown): Promise<void> {
  // A copy of an object.
  const answer = await t.call('SendMessage', change({ message: t.prompt('complete') }) as Members)
  t.want(answer.kind === 'result' && textAt(answer.result, 'task.id') !== '', 'a task', tell(t.binding, answer))
}

export const messageChecks = [
  check('M1', ['MUST', '5.7'], 'A message without parts is refused.', one, (t) =>
    refusesMessage(t, (message) => put(message, 'parts', [])),
  ),
  check('M2', ['MUST', '5.7'], 'A message without an id is refused.', one, (t) =>
    refusesMessage(t, (message) => put(message, 'messageId', undefined)),
  ),
  check('M3', ['MUST', '5.7'], 'A message without a role is refused.', one, (t) =>
    refusesMessage(t, (message) => put(message, 'role', undefined)),
  ),
  check('M4', ['SHOULD', '4.1.4'], 'A message of a client that says it is the agent’s is refused.', one, (t) =>
    refusesMessage(t, (message) => put(message, 'role', 'ROLE_AGENT')),
  ),
  check('M5', ['MUST', '4.1.6'], 'A part with two kinds of content is refused.', one, (t) =>
    refusesMessage(t, (message) => put(message, 'parts.0.url', 'https://example.com/brief.pdf')),
  ),
  check('M6', ['MUST', '4.1.6'], 'A part without content is refused.', one, (t) =>
    refusesMessage(t, (message) => put(message, 'parts', [{ mediaType: 'text/plain' }])),
  ),
  check('M7', ['MUST', '5.7'], 'A send without a message is refused.', one, async (t) => {
    await t.refuses('SendMessage', { configuration: {} }, ['InvalidParamsError'])
  }),
  check('M8', ['SHOULD', '5.7'], 'Members that the protocol does not know are passed over.', one, (t) =>
    takes(t, (params) => put(put(params, 'message.someDay', { a: 1 }), 'someDay', true)),
  ),
  check('M9', ['MUST', '3.2.4'], 'A send with historyLength 0 is answered without history.', one, async (t) => {
    const result = await t.ready('SendMessage', { message: t.prompt('complete'), configuration: { historyLength: 0 } })
    t.want(listAt(result, 'task.history').length === 0, 'no history', brief(at(result, 'task.history')))
  }),
  check('M10', ['MUST', '3.2.4'], 'GetTask with historyLength 0 is answered without history.', {}, async (t) => {
    const task = await t.ready('GetTask', { id: (await t.finished())['id'], historyLength: 0 })
    t.want(listAt(task, 'history').length === 0, 'no history', brief(at(task, 'history')))
  }),
  check('M11', ['MUST', '3.2.4'], 'GetTask with historyLength 1 gives the newest message alone.', { messages: 2 }, async (t) => {
    const { id } = await t.begin('inputRequired')
    await t.ready('SendMessage', { message: t.prompt('answer', { taskId: id }) })
    const whole = listAt(await t.task(String(id)), 'history')
    if (whole.length < 2) throw new NotProvoked('the agent keeps no history')
    const cut = listAt(await t.must('GetTask', { id, historyLength: 1 }), 'history')
    t.want(same(cut, whole.slice(-1)), `the last of ${whole.length} messages`, brief(cut))
  }),
  check('M12', ['MUST', '3.2.4'], 'A negative historyLength is refused.', {}, async (t) => {
    await t.refuses('GetTask', { id: (await t.finished())['id'], historyLength: -1 }, ['InvalidParamsError'])
  }),
  check(
    'M13',
    ['SHOULD', '3.7'],
    'The history has the messages of the user in the order in which they came.',
    { messages: 2 },
    async (t) => {
      const first = t.prompt('inputRequired')
      const id = textAt(await t.ready('SendMessage', { message: first }), 'task.id')
      const second = t.prompt('answer', { taskId: id })
      await t.ready('SendMessage', { message: second })
      const ids = listAt(await t.task(id), 'history')
        .filter((entry) => at(entry, 'role') === 'ROLE_USER')
        .map((entry) => at(entry, 'messageId'))
      if (ids.length < 2) throw new NotProvoked('the agent keeps no history')
      t.want(same(ids, [first['messageId'], second['messageId']]), `${first['messageId']}, ${second['messageId']}`, ids)
    },
  ),
  check('M14', ['MUST', '4.1.6'], 'Texts are kept as they are, whatever they are written in.', one, (t) =>
    keeps(t, { text: 'žluťoučký 馬 🐎 \u0000 "quoted" <b>&amp;\r\n\t end ' }),
  ),
  check('M15', ['MUST', '4.1.6'], 'Bytes are kept as they are.', one, (t) => keeps(t, { raw: 'AP/+gA==', filename: 'four.bin' })),
  check('M16', ['MUST', '4.1.6'], 'Data is kept as it is.', one, (t) =>
    keeps(t, { data: { a: null, b: [1, 2.5, null], c: { d: false, e: '' }, n: 1e15 } }),
  ),
  check('M17', ['MUST', '4.1.6'], 'Addresses of files are kept as they are.', one, (t) =>
    keeps(t, { url: 'https://example.com/a%20file?x=1&y=%2F#part', filename: 'a file' }),
  ),
  check('M18', ['SHOULD', '5.5'], 'Bytes in the alphabet of URLs are taken too.', one, (t) =>
    takes(t, (params) => put(params, 'message.parts', [...listAt(params, 'message.parts'), { raw: '-_8' }])),
  ),
  check('M19', ['SHOULD', '5.5'], 'Members named as in the .proto file are taken too.', one, (t) =>
    takes(t, ({ message }) => {
      const { messageId, ...rest } = message as Members
      return { message: { message_id: messageId, ...rest } }
    }),
  ),
  check('M20', ['MAY', '5.5'], 'Numbers of enums are taken too.', one, (t) => takes(t, (params) => put(params, 'message.role', 1))),
  check('M21', ['MUST', '3.3.2'], 'A part of a media type that the agent does not take is ContentTypeNotSupported.', one, async (t) => {
    const modes = listAt(t.card, 'defaultInputModes')
    if (modes.some((mode) => typeof mode === 'string' && mode.startsWith('*'))) throw new NotApplicable('the agent takes everything')
    const message = t.prompt('complete', { parts: [{ raw: 'AAAA', mediaType: 'application/x-unsupported-tck-type' }] })
    await t.refuses('SendMessage', { message }, ['ContentTypeNotSupportedError'])
  }),
  check('M22', ['MUST', '3.3.2'], 'A message that is refused makes no task.', one, async (t) => {
    const before = at(await t.ready('ListTasks', { pageSize: 1 }), 'totalSize')
    const answer = await t.call('SendMessage', { message: put(t.prompt('complete'), 'parts', []) })
    if (answer.kind !== 'error') throw new NotProvoked('the message was not refused')
    const after = at(await t.ready('ListTasks', { pageSize: 1 }), 'totalSize')
    t.want(before === after, `${before} tasks`, after)
  }),
  check('M23', ['MUST', '3.4.1'], 'A contextId of the caller’s own is kept or refused, never replaced.', one, async (t) => {
    const contextId = `a name of my own ${t.fresh()}`
    const answer = await t.call('SendMessage', { message: t.prompt('complete', { contextId }) })
    if (answer.kind === 'result')
      t.want(textAt(answer.result, 'task.contextId') === contextId, contextId, textAt(answer.result, 'task.contextId'))
    else t.want(answer.kind === 'error', 'a task in that context, or an error', tell(t.binding, answer))
    t.reading('a contextId of the caller’s own (§3.4.1)', answer.kind === 'result' ? 'is kept' : 'is refused')
  }),
  check('M24', ['MUST', '3.4.1'], 'A message without a context gets one, and its task names it.', one, async (t) => {
    const params = { message: t.prompt('complete'), configuration: { historyLength: 10 } }
    const task = at(await t.ready('SendMessage', params), 'task')
    t.want(textAt(task, 'contextId') !== '', 'a contextId', brief(task))
  }),
  check('M25', ['MUST', '3.4.3'], 'A message with a taskId alone is one of the task’s context.', { messages: 2 }, async (t) => {
    const { id, contextId } = await t.begin('inputRequired')
    const result = await t.must('SendMessage', { message: t.prompt('answer', { taskId: id }) })
    t.want(textAt(result, 'task.contextId') === contextId, String(contextId), textAt(result, 'task.contextId'))
  }),
  check('M26', ['MUST', '3.4.3'], 'A message whose context is not that of its task is refused.', { messages: 2 }, async (t) => {
    const { id } = await t.begin('inputRequired')
    const message = t.prompt('answer', { taskId: id, contextId: `another ${t.fresh()}` })
    const answer = await t.call('SendMessage', { message })
    t.want(answer.kind === 'error', 'an error', tell(t.binding, answer))
  }),
  check('M27', ['MUST', '3.1.1'], 'A direct message is one of the agent, with an id and parts.', one, async (t) => {
    const message = await t.begin('message')
    const faults = faultsOf('Message', message)
    t.want(faults.length === 0, 'a valid Message', faults.join('; '))
    t.want(message['role'] === 'ROLE_AGENT', 'ROLE_AGENT', message['role'])
  }),
  check('M28', ['MUST', '3.1.1'], 'A send is answered with a task or a message, and only one of them.', one, async (t) => {
    const result = await t.must('SendMessage', { message: t.prompt('complete') })
    const given = ['task', 'message'].filter((name) => at(result, name) !== undefined)
    t.want(given.length === 1, 'a task or a message', given.join(' and ') || brief(result))
  }),
  check('M29', ['MUST', '5.7'], 'Artifacts have an id and parts.', one, async (t) => {
    const { id } = await t.begin('artifact')
    const artifacts = listAt(await t.task(String(id)), 'artifacts')
    if (artifacts.length === 0) throw new NotProvoked('the task has no artifact')
    const faults = artifacts.flatMap((artifact) => [
      ...faultsOf('Artifact', artifact),
      ...(listAt(artifact, 'parts').length > 0 ? [] : ['no parts']),
    ])
    t.want(faults.length === 0, 'valid artifacts', faults.join('; '))
  }),
  check('M30', ['MUST', '5.7'], 'The task in an answer to a send has its members, each of its kind.', one, async (t) => {
    const faults = faultsOf('SendMessageResponse', await t.must('SendMessage', { message: t.prompt('complete') }))
    t.want(faults.length === 0, 'a valid SendMessageResponse', faults.join('; '))
  }),
  check('M31', ['MUST', '5.5'], 'Members are named in camelCase, and enums by their full names.', {}, async (t) => {
    const task = await t.task(String((await t.finished())['id']))
    const names = namesIn(task).filter((name) => name.includes('_'))
    t.want(names.length === 0, 'members in camelCase', names.join(', '))
    t.want(/^TASK_STATE_[A-Z_]+$/.test(textAt(task, 'status.state')), 'a state by its full name', at(task, 'status.state'))
  }),
  check('M32', ['MAY', '3.3.1'], 'The same message sent again does no harm: the same task, or another one.', { messages: 2 }, async (t) => {
    const message = t.prompt('complete')
    const first = textAt(await t.ready('SendMessage', { message }), 'task.id')
    const again = await t.call('SendMessage', { message })
    t.want(again.kind === 'result', 'a task', tell(t.binding, again))
    const isSame = again.kind === 'result' && textAt(again.result, 'task.id') === first
    t.reading('the same message again (§3.3.1)', isSame ? 'gives the same task' : 'makes another task')
  }),
  check('M33', ['MUST', '4.1.4'], 'A message may refer to other tasks.', one, async (t) => {
    const { id } = await t.finished()
    await takes(t, (params) => put(params, 'message.referenceTaskIds', [id]))
  }),
  check('M34', ['SHOULD', '5.7'], 'Empty texts where an id may stand mean that there is none.', one, (t) =>
    takes(t, (params) => put(put(params, 'message.taskId', ''), 'message.contextId', '')),
  ),
  check('M35', ['SHOULD', '5.5'], 'Members that are null are taken as absent.', one, (t) =>
    takes(t, (params) => put(put(params, 'message.metadata', null), 'configuration', null)),
  ),
  check('M36', ['MUST', '3.2.2'], 'An empty configuration changes nothing.', one, (t) =>
    takes(t, (params) => put(params, 'configuration', {})),
  ),
  check('M37', ['SHOULD', '4.1.4'], 'What else a message carries is kept with it.', one, async (t) => {
    const message = t.prompt('complete', { metadata: { 'urn:example:note': { n: 1, list: ['a'] } } })
    const id = textAt(await t.ready('SendMessage', { message }), 'task.id')
    const kept = listAt(await t.task(id), 'history').find((entry) => at(entry, 'messageId') === message['messageId'])
    if (!kept) throw new NotProvoked('the agent keeps no history')
    t.want(same(at(kept, 'metadata'), message['metadata']), brief(message['metadata']), brief(at(kept, 'metadata')))
  }),
  check('M38', ['MUST', '5.7'], 'The message of a status has its members, each of its kind.', one, async (t) => {
    const { id } = await t.begin('inputRequired')
    const message = at(await t.task(String(id)), 'status.message')
    if (message === undefined) throw new NotProvoked('the status has no message')
    const faults = faultsOf('Message', message)
    t.want(faults.length === 0, 'a valid Message', faults.join('; '))
  }),
  check('M39', ['MUST', '3.2.4'], 'A negative historyLength in a send is refused.', one, async (t) => {
    await t.refuses('SendMessage', { message: t.prompt('complete'), configuration: { historyLength: -1 } }, ['InvalidParamsError'])
  }),
  check('M40', ['MUST', '5.5'], 'An answer is JSON that says each member once.', {}, async (t) => {
    await t.ready('GetTask', { id: (await t.finished())['id'] })
    const answer = await t.call('GetTask', { id: (await t.finished())['id'] })
    const { body } = answer.exchange
    t.want(parsed(body) !== undefined && body.split('"status":').length <= 2, 'each member once', brief(body))
  }),
]

function namesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inside]) => (name === 'data' || name === 'metadata' ? [] : [name, ...namesIn(inside)]))
}

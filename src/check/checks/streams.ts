/** R: streams, and coming back to them. Spec §3.1.2, §3.1.6, §3.5, §9.4.2, §11.7. */

import { check } from '../check.js'
import { artifactsOf, type EventStream, type Frame, kindOf, stateOf, taskIdOf } from '../event-stream.js'
import { headerOf } from '../exchange.js'
import { at, brief, isMembers, listAt, same, textAt } from '../json.js'
import type { Prompt } from '../scenario.js'
import { faultsOf } from '../shape.js'
import type { Trial } from '../trial.js'
import { NotApplicable, NotProvoked } from '../verdict.js'
import { encode, tell } from '../wire.js'

const needs = ['streaming'] as const
const once = { needs, messages: 1 } as const

const isFinal = (state: string) => /COMPLETED|FAILED|CANCELED|REJECTED/.test(state)

/** The stream of a new message, from its first frame to its end. */
async function life(t: Trial, prompt: Prompt): Promise<{ readonly stream: EventStream; readonly frames: readonly Frame[] }> {
  const stream = await t.readyOpen('SendStreamingMessage', { message: t.prompt(prompt) })
  const frames = await stream.rest()
  if (frames.length === 0) throw new NotProvoked('the stream had no frame')
  return { stream, frames }
}

/** A task at work, and who watches it. */
async function watched(t: Trial, prompt: Prompt = 'delayed', watchers = 1) {
  const { id } = await t.begin(prompt)
  const streams: EventStream[] = []
  while (streams.length < watchers) streams.push(await t.readyOpen('SubscribeToTask', { id }))
  return { id: String(id), streams }
}

async function next(stream: EventStream | undefined): Promise<Frame> {
  const frame = await stream?.next()
  if (frame === undefined || frame === 'silent') throw new NotProvoked('the stream had no frame')
  return frame
}

const bodies = (frames: readonly Frame[]) => frames.map(({ body }) => body)

export const streamChecks = [
  check('R1', ['MUST', '9.4.2'], 'A stream is one of server-sent events.', once, async (t) => {
    const opened = await t.openRaw(encode(t.door, 'SendStreamingMessage', { message: t.prompt('complete') }, t.headersOf()))
    opened.close()
    const type = headerOf(opened.exchange, 'content-type')
    t.want(/^text\/event-stream\b/i.test(type ?? ''), 'text/event-stream', type ?? 'none')
  }),
  check('R2', ['MUST', '3.1.2'], 'The stream of a new task begins with the task.', once, async (t) => {
    const { frames } = await life(t, 'complete')
    t.want(kindOf(frames[0]?.body) === 'task', 'a task first', brief(frames[0]?.body))
  }),
  check('R3', ['MUST', '3.1.2'], 'The stream of a task ends with its final state.', once, async (t) => {
    const { stream, frames } = await life(t, 'complete')
    const states = frames.map(stateOf).filter((state) => state !== '')
    t.want(isFinal(states[states.length - 1] ?? ''), 'a final state at last', states.join(', '))
    t.want(stream.isEnded(), 'an end of the stream', 'silence')
  }),
  check('R4', ['MUST', '3.1.2'], 'Each frame is a task, a message, a status or an artifact, and only one of them.', once, async (t) => {
    const { frames } = await life(t, 'artifact')
    const wrong = frames.find(({ body, error }) => !error && kindOf(body) === undefined)
    t.want(wrong === undefined, 'frames of one kind', wrong?.event.data)
  }),
  check(
    'R5',
    ['MUST', '9.4.2'],
    'Each frame is a response of JSON-RPC with the id of the request.',
    { ...once, on: 'JSONRPC' },
    async (t) => {
      const opened = await t.readyOpen('SendStreamingMessage', { message: t.prompt('complete') })
      const frames = await opened.rest()
      const id = at(JSON.parse(String(opened.exchange.sent.body)), 'id')
      for (const { data, event } of frames) {
        t.want(
          at(data, 'jsonrpc') === '2.0' && at(data, 'id') === id && at(data, 'result') !== undefined,
          `a response with id ${id}`,
          event.data,
        )
      }
    },
  ),
  check('R6', ['MUST', '4.1.3'], 'Nothing comes after a final state.', once, async (t) => {
    const { frames } = await life(t, 'artifact')
    const end = frames.findIndex((frame) => isFinal(stateOf(frame)))
    t.want(end < 0 || end === frames.length - 1, 'nothing after the end', brief(bodies(frames.slice(end))))
  }),
  check('R7', ['MUST', '3.1.2'], 'The stream of a direct message is that message alone.', once, async (t) => {
    const { stream, frames } = await life(t, 'message')
    if (kindOf(frames[0]?.body) === 'task') throw new NotProvoked('the agent made a task of it')
    t.want(
      frames.length === 1 && kindOf(frames[0]?.body) === 'message' && stream.isEnded(),
      'one message, and the end',
      brief(bodies(frames)),
    )
  }),
  check('R8', ['MUST', '3.1.6'], 'A subscription begins with the task as it is.', once, async (t) => {
    const { id, streams } = await watched(t)
    const { body } = await next(streams[0])
    t.want(kindOf(body) === 'task' && textAt(body, 'task.id') === id, `task ${id} first`, brief(body))
  }),
  check('R9', ['MUST', '3.1.6'], 'A subscription to a task that is over is UnsupportedOperation, and no stream.', { needs }, async (t) => {
    await t.refuses('SubscribeToTask', { id: (await t.finished())['id'] }, ['UnsupportedOperationError'])
  }),
  check('R10', ['MUST', '3.1.6'], 'A subscription to a task that is not there is TaskNotFound, and no stream.', { needs }, async (t) => {
    await t.refuses('SubscribeToTask', { id: `not-there-${t.fresh()}` }, ['TaskNotFoundError'])
  }),
  check('R11', ['MUST', '3.3.2'], 'A streaming send that is refused opens no stream.', once, async (t) => {
    await t.refuses('SendStreamingMessage', { message: { messageId: t.fresh(), role: 'ROLE_USER', parts: [] } }, ['InvalidParamsError'])
  }),
  check('R12', ['MUST', '3.5.2'], 'Two who watch a task see the same, in the same order.', once, async (t) => {
    const { streams } = await watched(t, 'delayed', 2)
    const [one = [], two = []] = await Promise.all(streams.map((stream) => stream.rest()))
    t.want(same(bodies(one.slice(1)), bodies(two.slice(1))), brief(bodies(one.slice(1))), brief(bodies(two.slice(1))))
  }),
  check('R13', ['MUST', '3.5.2'], 'Who leaves a stream does not disturb the others.', once, async (t) => {
    const { streams } = await watched(t, 'delayed', 2)
    const [leaves, stays] = streams
    await next(leaves)
    leaves?.close()
    const frames = (await stays?.rest()) ?? []
    t.want(
      frames.some((frame) => isFinal(stateOf(frame))),
      'the end of the task',
      brief(bodies(frames)),
    )
  }),
  check('R14', ['MUST', '4.2.2'], 'The chunks of an artifact make up the artifact that the task has in the end.', once, async (t) => {
    const { frames } = await life(t, 'chunks')
    const id = frames.map(taskIdOf).find((one) => one !== '')
    const told = artifactsOf(frames)
    if (id === undefined || told.size === 0) throw new NotProvoked('there was no artifact')
    for (const artifact of listAt(await t.task(id), 'artifacts')) {
      const parts = told.get(textAt(artifact, 'artifactId'))
      t.want(textsOf(parts) === textsOf(listAt(artifact, 'parts')), textsOf(listAt(artifact, 'parts')), textsOf(parts))
    }
  }),
  check('R15', ['MUST', '4.2'], 'Each update names its task and its context.', once, async (t) => {
    const { frames } = await life(t, 'chunks')
    const faults = frames.flatMap(({ body }) => faultsOf('StreamResponse', body))
    t.want(faults.length === 0, 'valid frames', faults.join('; '))
    const ids = new Set(frames.map(taskIdOf))
    t.want(ids.size === 1, 'one task', [...ids])
  }),
  check('R16', ['MUST', '3.1.2'], 'What a task does is told while it is still at work.', once, async (t) => {
    const begun = t.world.now()
    const stream = await t.readyOpen('SendStreamingMessage', { message: t.prompt('delayed') })
    await next(stream)
    const heard = t.world.now()
    await stream.rest((frame) => isFinal(stateOf(frame)))
    const over = t.world.now()
    if (over - begun < 1_000) throw new NotProvoked(`the task was over after ${over - begun} ms`)
    t.want(over - heard > (over - begun) / 4, 'a first frame long before the last', `one after ${heard - begun} of ${over - begun} ms`)
  }),
  check('R17', ['MUST', '3.1.2'], 'A question is told in the stream, which may end with it.', once, async (t) => {
    const stream = await t.readyOpen('SendStreamingMessage', { message: t.prompt('inputRequired') })
    const frames = await stream.rest((frame) => stateOf(frame) === 'TASK_STATE_INPUT_REQUIRED')
    const isTold = frames.some((frame) => stateOf(frame) === 'TASK_STATE_INPUT_REQUIRED')
    const got = isTold ? '' : textAt(await t.task(frames.map(taskIdOf).find((id) => id !== '') ?? ''), 'status.state')
    if (!isTold && got !== 'TASK_STATE_INPUT_REQUIRED') throw new NotProvoked(`the prompt inputRequired led to ${got}`)
    t.want(isTold, 'INPUT_REQUIRED', brief(bodies(frames)))
    const after = await stream.next(2_000)
    t.reading('the stream of a send at INPUT_REQUIRED (§3.1.2, §11.7)', after === undefined ? 'ends' : 'stays open')
  }),
  check('R18', ['SHOULD', '7.6.1'], 'A stream stays open while an authorization is waited for.', once, async (t) => {
    const stream = await t.readyOpen('SendStreamingMessage', { message: t.prompt('authRequired') })
    const frames = await stream.rest((frame) => stateOf(frame) === 'TASK_STATE_AUTH_REQUIRED')
    if (!frames.some((frame) => stateOf(frame) === 'TASK_STATE_AUTH_REQUIRED')) throw new NotProvoked('it did not come to AUTH_REQUIRED')
    t.want((await stream.next(2_000)) === 'silent', 'an open stream', 'its end')
  }),
  check('R19', ['MUST', '4.1.3'], 'A task does not go back to SUBMITTED.', once, async (t) => {
    const { frames } = await life(t, 'chunks')
    const states = frames.map(stateOf).filter((state) => state !== '')
    t.want(states.lastIndexOf('TASK_STATE_SUBMITTED') <= 0, 'SUBMITTED at first only', states)
  }),
  check('R20', ['MUST', '3.1.6'], 'A subscription ends when its task is canceled.', once, async (t) => {
    const { id, streams } = await watched(t, 'working')
    await next(streams[0])
    await t.ready('CancelTask', { id })
    const frames = (await streams[0]?.rest()) ?? []
    t.want(
      frames.some((frame) => stateOf(frame) === 'TASK_STATE_CANCELED'),
      'CANCELED',
      brief(bodies(frames)),
    )
    t.want(streams[0]?.isEnded() === true, 'an end of the stream', 'silence')
  }),
  check('R21', ['MAY', '3.1.6'], 'Who comes back with Last-Event-ID gets exactly what came after it.', once, async (t) => {
    const { id, streams } = await watched(t)
    const first = await next(streams[0])
    if (first.event.id === undefined) throw new NotApplicable('the frames have no ids')
    const rest = (await streams[0]?.rest()) ?? []
    const [cut] = rest
    if (cut?.event.id === undefined || rest.length < 2) throw new NotProvoked('there was too little to come back to')
    const again = await t.open('SubscribeToTask', { id }, { headers: { 'Last-Event-ID': cut.event.id } })
    if (!('next' in again)) throw new NotApplicable(`a task that is over is not resumed: ${tell(t.binding, again)}`)
    const replayed = await again.rest()
    t.want(same(bodies(replayed), bodies(rest.slice(1))), brief(bodies(rest.slice(1))), brief(bodies(replayed)))
  }),
  check('R22', ['MAY', '9.4.2'], 'The ids of frames differ.', once, async (t) => {
    const { frames } = await life(t, 'chunks')
    const ids = frames.map(({ event }) => event.id).filter((id) => id !== undefined)
    if (ids.length === 0) throw new NotApplicable('the frames have no ids')
    t.want(new Set(ids).size === frames.length, 'an id for each frame', ids)
  }),
  check('R23', ['MUST', '11.3'], 'A subscription is opened by POST or GET.', { ...once, on: 'HTTP+JSON' }, async (t) => {
    const { id } = await t.begin('working')
    const taken: string[] = []
    for (const verb of ['POST', 'GET']) {
      const opened = await t.open('SubscribeToTask', { id }, { verb })
      if (!('next' in opened)) continue
      opened.close()
      taken.push(verb)
    }
    if (taken.length === 0 && isFinal(textAt(await t.task(String(id)), 'status.state'))) throw new NotProvoked('the task was over by then')
    t.want(taken.length > 0, 'a stream by POST or GET', 'neither')
    t.reading('the verb of SubscribeToTask (§11.3.2, .proto)', taken.join(' and '))
  }),
  check('R24', ['MUST', '3.5.2'], 'What a stream told and what the task is in the end are the same.', once, async (t) => {
    const { frames } = await life(t, 'artifact')
    const last = [...frames].reverse().find((frame) => stateOf(frame) !== '')
    const task = await t.task(frames.map(taskIdOf).find((id) => id !== '') ?? '')
    const told = at(last?.body, 'statusUpdate.status') ?? at(last?.body, 'task.status')
    t.want(same(told, at(task, 'status')), brief(at(task, 'status')), brief(told))
  }),
  check('R25', ['MUST', '4.2.2'], 'The first chunk of an artifact does not say that it adds to one.', once, async (t) => {
    const { frames } = await life(t, 'chunks')
    const seen = new Set<string>()
    for (const { body } of frames) {
      const update = at(body, 'artifactUpdate')
      if (!isMembers(update)) continue
      const id = textAt(update, 'artifact.artifactId')
      t.want(seen.has(id) || update['append'] !== true, `a first chunk of ${id} without append`, brief(update))
      seen.add(id)
    }
    if (seen.size === 0) throw new NotProvoked('there was no artifact')
  }),
  check('R26', ['MAY', '3.1.6'], 'An event id that the task does not have is refused, or passed over.', once, async (t) => {
    const { id, streams } = await watched(t, 'working')
    if ((await next(streams[0])).event.id === undefined) throw new NotApplicable('the frames have no ids')
    const opened = await t.open('SubscribeToTask', { id }, { headers: { 'Last-Event-ID': '999999999' } })
    if ('next' in opened) {
      const first = await opened.next()
      t.want(typeof first === 'object' && kindOf(first.body) === 'task', 'the task, or an error', brief(first))
      t.reading('an unknown Last-Event-ID', 'is passed over')
      return
    }
    t.want(opened.kind === 'error' && opened.http < 500, 'the task, or a refusal', tell(t.binding, opened))
    t.reading('an unknown Last-Event-ID', 'is refused')
  }),
  check('R27', ['MUST', '3.5.2'], 'A subscriber sees each state that a task comes to from there on.', once, async (t) => {
    const { id, streams } = await watched(t)
    const frames = (await streams[0]?.rest()) ?? []
    const states = frames.map(stateOf).filter((state) => state !== '')
    const end = textAt(await t.task(id), 'status.state')
    t.want(states[states.length - 1] === end && states.filter(isFinal).length === 1, `${end} once, at last`, states)
  }),
  check('R28', ['SHOULD', '3.5.2'], 'A stream is not kept by caches.', once, async (t) => {
    const { stream } = await life(t, 'complete')
    const control = headerOf(stream.exchange, 'cache-control')
    t.want(/no-(cache|store)/i.test(control ?? ''), 'Cache-Control no-cache or no-store', control ?? 'none')
  }),
]

/** Chunks may be joined or not; what they say is the same. */
function textsOf(parts: readonly unknown[] | undefined): string {
  return (parts ?? []).map((part) => (isMembers(part) && typeof part['text'] === 'string' ? part['text'] : JSON.stringify(part))).join('')
}

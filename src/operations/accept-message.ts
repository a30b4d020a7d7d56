/** What SendMessage and SendStreamingMessage share: a message becomes a direct reply, a new task, or part of a task. */

import type { Call } from '../protocol/call.js'
import { UnsupportedOperationError } from '../protocol/errors.js'
import { checkMediaTypes } from '../protocol/media-types.js'
import { answersQuestion } from '../protocol/question.js'
import { isFinal } from '../protocol/states.js'
import type { Message, SendMessageRequest } from '../protocol/wire.js'
import { toSomeParts } from '../runtime/output.js'
import type { AskBody } from '../runtime/record-bodies.js'
import { namedSkill, type Route } from '../runtime/route-skill.js'
import { keepRoute } from '../runtime/run-skills.js'
import { onlySkillId } from '../runtime/skill.js'
import type { Turn } from '../runtime/task.js'
import { textOf, turnRecord } from '../runtime/turn.js'
import type { Created, Decision, Inbound, RecordWrite, Repeated, StoredPushConfig, TaskHeader, TaskWrite } from '../store/store.js'
import { uuid } from '../support/world.js'
import { judgeContextId, makeContextId } from '../task/context-id.js'
import { createdEvent, messageEvent, nextTimestamp, statusEvent } from '../task/make-event.js'
import { checkHistoryLength, invalid } from './check-params.js'
import { callerOf, type OperationContext, userOf } from './context.js'
import { findTask } from './find-task.js'
import { contentHash } from './idempotency.js'
import { configOfSend, configToKeep, type SentConfig, storedConfig } from './push-config.js'
import { checkFollowUp } from './route-skill.js'

export type Accepted =
  | { readonly kind: 'reply'; readonly message: Message }
  | {
      readonly kind: 'task'
      /** As it was right after the message. */
      readonly header: TaskHeader
      /** Number of the event that holds the message. */
      readonly seq: number
      /** The first event of a task that this very call made. */
      readonly created?: string
    }

/** Characters of a context's name: every event of its tasks repeats it. */
const longestContextId = 1024

/** Called for a new task in the moment it is sure to be committed with what follows: the time to begin listening. */
export type OnCreated = (header: TaskHeader) => void

/** @throws every refusal of a message; nothing is written then */
export async function acceptMessage(
  context: OperationContext,
  request: SendMessageRequest,
  call: Call,
  onCreated?: OnCreated,
): Promise<Accepted> {
  const { message, configuration } = request
  const pushConfig = await configOfSend(context, configuration?.taskPushNotificationConfig)
  if (message.role !== 'ROLE_USER') throw invalid('message.role', 'must be ROLE_USER in a message to the agent')
  checkHistoryLength(configuration?.historyLength, 'configuration.historyLength')
  const { router } = context.agent
  if (!router) {
    namedSkill(message, () => [onlySkillId(context.agent.name)])
    checkMediaTypes(message.parts, context.agent.inputModes)
  }
  const turn: Turn = {
    message,
    text: textOf(message),
    user: userOf(call),
    acceptedOutputModes: configuration?.acceptedOutputModes ?? [],
    extensions: call.extensions,
  }
  if (message.taskId !== undefined) return continueTask(context, message.taskId, turn, call, pushConfig)
  const contextId = chooseContext(context, message.contextId, call)
  const inbound = inboundOf(context, message)
  const earlier = await answeredBefore(context, inbound, call)
  if (earlier) return repeated(earlier)
  const route = router && (await router.route(message))
  const reply = await context.agent.answer?.(turn)
  if (reply !== undefined)
    return {
      kind: 'reply',
      message: { messageId: uuid(context.world), contextId, role: 'ROLE_AGENT', parts: toSomeParts('answer', reply) },
    }
  return beginTask(context, contextId, turn, call, { onCreated, pushConfig, route, inbound })
}

/** Asked before the agent is: a message that made a task makes no direct reply when it comes again (D7). */
async function answeredBefore(context: OperationContext, inbound: Inbound | undefined, call: Call): Promise<Repeated | undefined> {
  // Where nobody is asked before, `create` finds the message by itself.
  if (!inbound || !(context.agent.answer || context.agent.router)) return undefined
  return context.store.accepted(callerOf(call), inbound)
}

interface Beginning {
  readonly onCreated: OnCreated | undefined
  readonly pushConfig: SentConfig | undefined
  readonly route: Route | undefined
  readonly inbound: Inbound | undefined
}

async function beginTask(
  context: OperationContext,
  contextId: string,
  turn: Turn,
  call: Call,
  { onCreated, pushConfig, route, inbound }: Beginning,
): Promise<Accepted> {
  const { store, runs, world, vault } = context
  const ids = { id: uuid(world), contextId }
  const event = createdEvent(ids, turn.message, world.now())
  const record = await turnRecord(vault, { id: ids.id, turn: 1, seq: 1 }, turn)
  const config = pushConfig && (await storedConfig(vault, ids.id, pushConfig.config))
  const first = turnIn(ids, turn)
  if (route) keepRoute(first.message, route)
  const place = runs.reserve()
  let begun: TaskHeader | undefined
  // A queued task is claimed later, but it is this call's answer all the same.
  const start = (created: Created) => {
    if (created.outcome !== 'created') return
    begun = created.header
    onCreated?.(begun)
    if (place) runs.begin(created, { turn: first, history: [first.message] })
  }
  try {
    const created = await store.create(
      {
        caller: callerOf(call),
        ...ids,
        created: event,
        ...(place && { holder: runs.holder }),
        ...(inbound && { inbound }),
        ...(config && { pushConfig: config }),
        ...(record && { records: [record] }),
      },
      start,
    )
    if (created.outcome !== 'created') return repeated(created)
    return { kind: 'task', header: created.header, seq: 1, created: event.body }
  } finally {
    if (place && !begun) runs.release()
  }
}

async function continueTask(
  context: OperationContext,
  taskId: string,
  turn: Turn,
  call: Call,
  pushConfig: SentConfig | undefined,
): Promise<Accepted> {
  const { store, world } = context
  const found = await findTask(context, call, taskId)
  const { contextId } = turn.message
  if (contextId !== undefined && contextId !== found.contextId)
    throw invalid('message.contextId', `is not the context of task ${taskId}; leave it out, or send the task's own`)
  if (context.agent.router)
    await checkFollowUp(context.agent.router, store, {
      header: found,
      message: turn.message,
      isAnswer: found.waiting?.kind === 'turn' && answersQuestion(turn.message, found.waiting.question),
    })
  const inbound = inboundOf(context, turn.message)
  const config = pushConfig && (await configToKeep(context, found, pushConfig))
  for (let known = found; ; ) {
    // Sealed before the transaction, which waits for nothing; so it says which turn and event it was made for.
    const place = { id: known.id, turn: known.turn + 1, seq: known.lastSeq + 1 }
    const record = known.waiting?.kind === 'turn' ? await turnRecord(context.vault, place, turn) : undefined
    const accepted = await store.update(
      found.ref,
      (header) => receive(header, turn.message, { now: world.now(), config, record, seq: place.seq }),
      inbound,
    )
    if (accepted.outcome !== 'updated') return repeated(accepted)
    const { header, result } = accepted
    if (result !== undefined) return { kind: 'task', header, seq: result }
    known = header
  }
}

interface Reception {
  readonly now: number
  readonly config: StoredPushConfig | undefined
  /** How the turn begins that this message may begin, if it becomes the event `seq`. */
  readonly record: RecordWrite | undefined
  readonly seq: number
}

/** What a message does, by the state it finds (D11): the number of its event; undefined where the task moved on meanwhile. */
function receive(header: TaskHeader, message: Message, { now, config, record, seq: expected }: Reception): Decision<number | undefined> {
  if (isFinal(header.state)) {
    throw new UnsupportedOperationError(
      `Task ${header.id} has ended and takes no more messages. Send the message without taskId, with contextId ${header.contextId}, to begin a new task.`,
    )
  }
  const seq = header.lastSeq + 1
  const kept = config && { pushConfig: config }
  const { waiting } = header
  if (!waiting || !answersQuestion(message, waiting.question)) {
    return { result: seq, write: { events: [messageEvent('message', header, message)], ...kept } }
  }
  const working = statusEvent(header, 'TASK_STATE_WORKING', nextTimestamp(header.statusTimestamp, now))
  const answered = { waiting: null, attempt: 0, ...kept }
  const { kind, key } = waiting
  if (kind === 'ask' || kind === 'authorize') {
    const body = JSON.stringify({ answer: seq } satisfies AskBody)
    const records = [{ kind, key: key ?? '', body }]
    return { result: seq, write: { events: [messageEvent('answer', header, message), working], records, ...answered } }
  }
  if (!record || seq !== expected) return { result: undefined }
  const write: TaskWrite = {
    events: [messageEvent('turn', header, message), working],
    turn: header.turn + 1,
    records: [record],
    ...answered,
  }
  return { result: seq, write }
}

function chooseContext({ keys, world, clientContextIds }: OperationContext, asked: string | undefined, call: Call): string {
  const caller = callerOf(call)
  if (asked === undefined) return makeContextId(keys.contextId, caller, world)
  if (asked.length > longestContextId) throw invalid('message.contextId', `must have at most ${longestContextId} characters`)
  const judged = judgeContextId(keys.contextId, caller, asked)
  if (judged === 'foreign' || (judged === 'named' && !clientContextIds)) {
    // D4: the same words whether it exists or not.
    throw invalid('message.contextId', 'is not a context of yours; leave it out to begin a new one')
  }
  return asked
}

function repeated(outcome: Repeated): Accepted {
  if (outcome.outcome === 'conflict')
    throw invalid('message.messageId', 'was used for another message before; give each message an id of its own')
  return { kind: 'task', header: outcome.header, seq: outcome.seq }
}

function inboundOf({ idempotency }: OperationContext, message: Message): Inbound | undefined {
  if (idempotency === false) return undefined
  return { messageId: message.messageId, contentHash: contentHash(message), strict: idempotency === 'strict' }
}

interface Ids {
  readonly id: string
  readonly contextId: string
}

function messageIn({ id, contextId }: Ids, message: Message): Message {
  return { ...message, taskId: id, contextId }
}

function turnIn(ids: Ids, turn: Turn): Turn {
  return { ...turn, message: messageIn(ids, turn.message) }
}

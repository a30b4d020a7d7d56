/** The client: finds an agent by its card, sends to it, and follows its tasks. */

import { A2AError, InvalidAgentResponseError } from '../protocol/errors.js'
import { questionMember } from '../protocol/question.js'
import { skillMember } from '../protocol/skill.js'
import type { Json, JsonObject, SendMessageConfiguration, Task, TaskState, TaskStatus } from '../protocol/wire.js'
import { systemWorld } from '../support/world.js'
import { assemble } from './assemble.js'
import { cardUrl, findAgent } from './card.js'
import { credentialRule } from './credentials.js'
import type { Line } from './exchange.js'
import { type Journey, travel } from './journey.js'
import { type CallOptions, type ClientAuth, type ConnectOptions, checkConnect, defaultClientLimits } from './options.js'
import { type Ended, endOfMessage, endOfTask } from './outcome.js'
import { type PartsLike, toMessage, type Written } from './parts.js'
import { createPeer, type Peer } from './peer.js'
import type { PushConfig } from './push-receiver.js'
import { beginSending, type Sending as OneSending } from './sending.js'
import type { AgentType, InputOf, OutputOf, SkillsOf, SkillType } from './skill-types.js'

export interface FollowOptions extends CallOptions {
  /** Take a cut stream up again. Default true. */
  readonly resume?: boolean
}

export interface SendOptions extends FollowOptions {
  /** Of the conversation to go on with. */
  readonly contextId?: string | undefined
  /** Of the task that the message is for: one that waits for it, or is at work. */
  readonly taskId?: string
  /** Of the message; the same one again is the same send, for agents that keep them. Default: a fresh one. */
  readonly messageId?: string
  readonly acceptedOutputModes?: readonly string[]
  /** Where the agent posts what happens to the task: a target of `pushReceiver()`, or a configuration of the caller's own. Spec §4.3. */
  readonly push?: PushConfig
  /** Of the message. */
  readonly metadata?: JsonObject
}

export type Sending<Output = Json> = OneSending<Outcome<Output>>

interface Reply<Output> {
  /** Answers the question, in the same task. */
  reply(message: PartsLike, options?: SendOptions): Sending<Output>
}

interface Follow<Output> {
  /** Waits for what comes after this state: the consent is given elsewhere, never in a message. */
  follow(options?: FollowOptions): Sending<Output>
}

/** Where a send came to rest, with what can be done from there. */
export type Outcome<Output = Json> =
  | Extract<Ended<Output>, { state: 'completed' | 'message' | 'failed' | 'rejected' | 'canceled' }>
  | (Extract<Ended, { state: 'input-required' }> & Reply<Output>)
  | (Extract<Ended, { state: 'auth-required' }> & Reply<Output> & Follow<Output>)

export interface TaskFilter extends CallOptions {
  readonly contextId?: string
  readonly state?: TaskState
  /** Tasks per request, 1 to 100. Default: the agent's. */
  readonly pageSize?: number
  readonly includeArtifacts?: boolean
}

export interface RemoteTask {
  get(options?: CallOptions & { readonly historyLength?: number }): Promise<Task>
  /** Events from the task as it is up to where it rests, and the outcome. */
  follow(options?: FollowOptions): Sending
  cancel(options?: CallOptions): Promise<Task>
}

export interface RemoteSkill<S extends SkillType> {
  /** Calls the skill with `input`, which goes out as one part: a text as text, anything else as data. */
  send(input: InputOf<S>, options?: SendOptions): Sending<OutputOf<S>>
}

export interface Client<A extends AgentType = AgentType> {
  /** The card as it came. */
  readonly card: JsonObject
  send(message: PartsLike, options?: SendOptions): Sending
  /** The skill of this id, by the types of the agent: `connect<typeof travel>(url)`. */
  skill<Id extends keyof SkillsOf<A> & string>(id: Id): RemoteSkill<SkillsOf<A>[Id]>
  task(id: string): RemoteTask
  /** The caller's tasks, newest change first; pages are asked for as the loop goes on. */
  tasks(filter?: TaskFilter): AsyncIterable<Task>
}

// Some hosts refuse a fetch that has lost its global object.
const hostFetch = (request: Request) => globalThis.fetch(request)

/**
 * `connect<typeof travel>(url)` knows the skills of an agent whose type is at hand.
 *
 * @param url of the agent, or of its card
 * @throws {TypeError} for wrong options
 * @throws {ConnectionError} when the card cannot be had
 * @throws {A2AError} for an answer that is no card, or one without an interface that this client speaks
 */
export async function connect<A extends AgentType = AgentType>(url: string, options: ConnectOptions = {}): Promise<Client<A>> {
  checkConnect(url, options)
  const { auth, trustHosts = [], extensions = [], resend = false, world = systemWorld, fetch = hostFetch } = options
  const limits = { ...defaultClientLimits, ...options.limits }
  const line: Line = { fetch, world, limits, auth, mayShow: credentialRule(cardUrl(url), trustHosts) }
  const { card, binding, address, tenant, streams } = await findAgent(line, url, options)
  // The types of skills say more than this client looks at: what an agent takes and gives is checked there.
  return createClient(createPeer(line, binding, { address, tenant, streams, resend, extensions }), card) as Client<A>
}

function createClient(peer: Peer, card: JsonObject): Client {
  const { world, limits } = peer.line

  async function cancel(id: string, options?: CallOptions): Promise<Task> {
    try {
      return await peer.call('CancelTask', { id }, options)
    } catch (error) {
      // One that was sent again may have been heard the first time.
      const isRepeated = peer.resend && error instanceof A2AError && error.name === 'TaskNotCancelableError'
      const task = isRepeated ? await peer.call('GetTask', { id }, options) : undefined
      if (task?.status.state === 'TASK_STATE_CANCELED') return task
      throw error
    }
  }

  function begin(start: Journey['start'], known: TaskStatus | undefined, options: FollowOptions): Sending {
    const { signal, auth, resume = true } = options
    const assembly = assemble({ from: peer.address, maxLength: limits.artifactsLength })
    return beginSending<Outcome>({
      assembly,
      travel: (leaving) => travel(peer, assembly, { start, known, resume }, { auth, signal: leaving }),
      toOutcome({ task, event }) {
        if (event?.kind === 'message') return endOfMessage(event.message)
        if (task) return withMore(endOfTask(task), auth)
        throw new InvalidAgentResponseError(`${peer.address} answered with neither a task nor a message.`)
      },
      cancel: (id) => cancel(id, { auth }),
      signal,
      taskId: 'taskId' in start ? start.taskId : undefined,
    })
  }

  function send(content: PartsLike, options: SendOptions = {}, known?: TaskStatus): Sending {
    const { contextId, taskId, messageId, metadata, acceptedOutputModes, push } = options
    const message = toMessage(world, content, { messageId, contextId, taskId, metadata })
    const configuration: Partial<Written<SendMessageConfiguration>> = { acceptedOutputModes, taskPushNotificationConfig: push }
    return begin({ send: { message, configuration } }, known, options)
  }

  /** What comes next is a call of the same user, under a signal of its own. */
  function withMore(ended: Ended, auth: ClientAuth | undefined): Outcome {
    if (ended.state !== 'input-required' && ended.state !== 'auth-required') return ended
    const { id: taskId, contextId, status } = ended.task
    const reply = (content: PartsLike, options: SendOptions = {}) => {
      const question = status.message && { [questionMember]: status.message.messageId }
      return send(content, { auth, ...options, taskId, contextId, metadata: { ...question, ...options.metadata } }, status)
    }
    if (ended.state === 'input-required') return { ...ended, reply }
    return { ...ended, reply, follow: (options) => begin({ taskId }, status, { auth, ...options }) }
  }

  return {
    card,
    send: (content, options) => send(content, options),
    skill: (id) => ({
      send: (input, options) =>
        send(typeof input === 'string' ? input : { data: input }, { ...options, metadata: { ...options?.metadata, [skillMember]: id } }),
    }),
    task: (id) => ({
      get: ({ historyLength, ...options } = {}) => peer.call('GetTask', { id, historyLength }, options),
      follow: (options = {}) => begin({ taskId: id }, undefined, options),
      cancel: (options) => cancel(id, options),
    }),
    async *tasks({ state, contextId, pageSize, includeArtifacts, ...options } = {}) {
      for (let pageToken: string | undefined; ; ) {
        const filter = { contextId, status: state, pageSize, includeArtifacts, pageToken }
        const { tasks, nextPageToken } = await peer.call('ListTasks', filter, options)
        yield* tasks
        if (!nextPageToken) return
        // A walk that never ends looks like this.
        if (nextPageToken === pageToken) throw new InvalidAgentResponseError(`${peer.address} says that the next page is the same one.`)
        pageToken = nextPageToken
      }
    },
  }
}

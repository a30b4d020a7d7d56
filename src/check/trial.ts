/** What a check is given: an agent behind one binding, the words to ask it, and the words to judge it. */

import type { ErrorName } from '../protocol/error-table.js'
import { type OperationName, operationTable } from '../protocol/operations.js'
import { sleep, type World } from '../support/world.js'
import type { Binding } from './check.js'
import { type EventStream, readStream } from './event-stream.js'
import { type Exchange, headerOf, type Sent } from './exchange.js'
import { at, brief, isMembers, type Members, textAt } from './json.js'
import type { OpenExchange, Probe } from './probe.js'
import { freshId, type Prompt, type Scenario } from './scenario.js'
import { Failure, NotApplicable, NotProvoked, type Reading } from './verdict.js'
import type { Webhooks } from './webhooks.js'
import { type Answer, type Door, encode, type Headers, isError, nameOf, readAnswer, tell, type WireError } from './wire.js'

/** The two callers that may be known, and the one who proves nothing. */
export type Who = 'a' | 'b' | 'nobody'

export interface CallOptions {
  /** Default `a`. */
  readonly as?: Who
  /** Beside or instead of those that every call carries; undefined takes one away. */
  readonly headers?: Headers
  /** Where an operation has several on HTTP+JSON. */
  readonly verb?: string
}

/** What all trials of a run share. */
export interface Subject {
  readonly world: World
  readonly probe: Probe
  /** The host's address, without a slash at its end. */
  readonly base: string
  readonly card: Members
  /** How the card came. */
  readonly cardExchange: Exchange
  readonly doors: readonly Door[]
  readonly identities: Readonly<Record<Who, Headers | undefined>>
  readonly scenario: Scenario
  readonly webhooks: Webhooks | undefined
  readonly timeoutMs: number
  /** Takes one message from what may be sent; false when there is none left. */
  readonly spend: () => boolean
  /** Tasks that checks which only look at them may share. */
  readonly finished: Map<string, Promise<Members>>
  /** The verb of SubscribeToTask on HTTP+JSON, once it is known. */
  subscribeVerb: string | undefined
}

export interface Trial extends Pick<Subject, 'world' | 'base' | 'card' | 'cardExchange' | 'doors'> {
  readonly binding: Binding
  readonly door: Door
  /** The same trial over another binding. */
  over(door: Door): Trial
  call(operation: OperationName, params: Members, options?: CallOptions): Promise<Answer>
  /** The result, or the check has failed. */
  must(operation: OperationName, params: Members, options?: CallOptions): Promise<unknown>
  /** The result, or there is nothing to judge. */
  ready(operation: OperationName, params: Members, options?: CallOptions): Promise<unknown>
  /** The error, which must be one of these, or the check has failed. */
  refuses(operation: OperationName, params: Members, names: readonly ErrorName[], options?: CallOptions): Promise<WireError>
  /** A stream, or the plain answer that came instead. */
  open(operation: OperationName, params: Members, options?: CallOptions): Promise<EventStream | Answer>
  /** A stream, or the check has failed. */
  mustOpen(operation: OperationName, params: Members, options?: CallOptions): Promise<EventStream>
  /** A stream, or there is nothing to judge. */
  readyOpen(operation: OperationName, params: Members, options?: CallOptions): Promise<EventStream>
  send(sent: Sent): Promise<Exchange>
  openRaw(sent: Sent): Promise<OpenExchange>
  raw(bytes: string): Promise<Exchange>
  /** The headers that a call of `who` carries. */
  headersOf(who?: Who): Headers
  fresh(): string
  /** A message of a fresh id. */
  message(text: string, more?: Members): Members
  /** The message that leads there, or there is nothing to judge. */
  prompt(prompt: Prompt, more?: Members): Members
  /** A new task in the state that the prompt leads to, or there is nothing to judge. */
  begin(prompt: Prompt, more?: Members, options?: CallOptions): Promise<Members>
  /** A task that has been completed, made once for all checks on this binding. */
  finished(): Promise<Members>
  task(id: string, more?: Members): Promise<unknown>
  want(holds: boolean, wanted: string, got: unknown): void
  fail(wanted: string, got: unknown): never
  reading(about: string, has: string): void
  pause(ms: number): Promise<void>
  /** Reads until `enough`, for `ms` at most; gives what was read last. */
  until<T>(read: () => Promise<T>, enough: (value: T) => boolean, ms?: number): Promise<T>
  webhooks(): Webhooks
}

/** What one trial leaves behind. */
export interface TrialRecord {
  readonly exchanges: Exchange[]
  readonly readings: Reading[]
  readonly opened: OpenExchange[]
  sentMessages: number
}

export function emptyRecord(): TrialRecord {
  return { exchanges: [], readings: [], opened: [], sentMessages: 0 }
}

const statesOf: Readonly<Record<Exclude<Prompt, 'message'>, readonly string[]>> = {
  complete: ['TASK_STATE_COMPLETED'],
  artifact: ['TASK_STATE_COMPLETED'],
  chunks: ['TASK_STATE_COMPLETED'],
  answer: ['TASK_STATE_COMPLETED'],
  working: ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'],
  delayed: ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'],
  inputRequired: ['TASK_STATE_INPUT_REQUIRED'],
  authRequired: ['TASK_STATE_AUTH_REQUIRED'],
  rejected: ['TASK_STATE_REJECTED'],
  failed: ['TASK_STATE_FAILED'],
}

/** Nothing was reached at all: the network's affair, not the agent's. */
export class Unreached extends Error {
  override readonly name = 'Unreached'
}

/** Exchanges of one trial that are kept. */
const mostExchanges = 40

export function createTrial(subject: Subject, door: Door, record: TrialRecord): Trial {
  const { world, probe, scenario, card } = subject
  const { binding } = door

  function keep(exchange: Exchange): Exchange {
    record.exchanges.push(exchange)
    if (record.exchanges.length > mostExchanges) record.exchanges.shift()
    if (exchange.broken === 'unreachable') throw new Unreached(`${exchange.sent.url}: ${exchange.problem}`)
    return exchange
  }

  function keepOpen(opened: OpenExchange): OpenExchange {
    record.opened.push(opened)
    keep(opened.exchange)
    return opened
  }

  function spend(operation: OperationName): void {
    if (operation !== 'SendMessage' && operation !== 'SendStreamingMessage') return
    if (!subject.spend()) throw new NotProvoked('no more messages may be sent')
    record.sentMessages++
  }

  function headersOf(who: Who = 'a'): Headers {
    const required = requiredExtensions(card)
    return {
      'A2A-Version': '1.0',
      ...subject.identities[who],
      ...(required.length > 0 && { 'A2A-Extensions': required.join(', ') }),
    }
  }

  function encoded(operation: OperationName, params: Members, { as = 'a', headers = {}, verb }: CallOptions): Sent {
    if (as === 'b' && !subject.identities.b) throw new NotApplicable('there is no second identity')
    const by = verb ?? (operation === 'SubscribeToTask' ? subject.subscribeVerb : undefined)
    return encode(door, operation, params, { ...headersOf(as), ...headers }, by)
  }

  /** Who was given no credentials cannot judge an agent that wants some. */
  function wantsCredentials({ status }: Exchange, { as = 'a', headers = {} }: CallOptions): void {
    if (status !== 401 || as !== 'a' || subject.identities.a || 'Authorization' in headers) return
    throw new NotProvoked('the agent wants credentials, and none were given')
  }

  async function call(operation: OperationName, params: Members, options: CallOptions = {}): Promise<Answer> {
    spend(operation)
    const exchange = keep(await probe.send(encoded(operation, params, options)))
    wantsCredentials(exchange, options)
    return readAnswer(binding, exchange)
  }

  async function open(operation: OperationName, params: Members, options: CallOptions = {}): Promise<EventStream | Answer> {
    spend(operation)
    const opened = keepOpen(await probe.open(encoded(operation, params, options)))
    wantsCredentials(opened.exchange, options)
    if (/^text\/event-stream\b/i.test(headerOf(opened.exchange, 'content-type') ?? '') && opened.exchange.status === 200) {
      return readStream(binding, opened)
    }
    await drain(opened)
    const answer = readAnswer(binding, opened.exchange)
    if (operation !== 'SubscribeToTask' || binding !== 'HTTP+JSON' || options.verb || subject.subscribeVerb) return answer
    // The text says POST, the .proto file GET: whichever the agent has is taken from here on.
    if (opened.exchange.status === 405 || (answer.kind !== 'result' && opened.exchange.status === 404 && !isNotFound(answer))) {
      subject.subscribeVerb = 'GET'
      return open(operation, params, options)
    }
    return answer
  }

  const isNotFound = (answer: Answer) => answer.kind === 'error' && answer.reason === 'TASK_NOT_FOUND'

  async function drain(opened: OpenExchange): Promise<void> {
    for (;;) {
      const piece = await opened.next()
      if (piece === undefined) return
      if (piece === 'timeout') return opened.close()
    }
  }

  async function begin(prompt: Prompt, more: Members = {}, options?: CallOptions): Promise<Members> {
    const wait = prompt !== 'working' && prompt !== 'delayed'
    const params = { message: trial.prompt(prompt, more), ...(!wait && { configuration: { returnImmediately: true } }) }
    const result = await trial.ready('SendMessage', params, options)
    const { task, message } = isMembers(result) ? result : {}
    const got = prompt === 'message' ? message : task
    if (!isMembers(got)) throw new NotProvoked(`the prompt ${prompt} gave ${brief(result)}`)
    const state = textAt(got, 'status.state')
    if (prompt !== 'message' && (!statesOf[prompt].includes(state) || textAt(got, 'id') === ''))
      throw new NotProvoked(`the prompt ${prompt} led to ${state || brief(got)}`)
    return got
  }

  const trial: Trial = {
    world,
    base: subject.base,
    card,
    cardExchange: subject.cardExchange,
    doors: subject.doors,
    binding,
    door,
    over: (other) => createTrial(subject, other, record),
    call,
    open,
    headersOf,
    begin,
    async must(operation, params, options) {
      const answer = await call(operation, params, options)
      return answer.kind === 'result' ? answer.result : trial.fail(`a result of ${operation}`, tell(binding, answer))
    },
    async ready(operation, params, options) {
      const answer = await call(operation, params, options)
      if (answer.kind === 'result') return answer.result
      throw new NotProvoked(`${operation} gave ${tell(binding, answer)}`)
    },
    async refuses(operation, params, names, options) {
      const answer = operationTable[operation].streaming ? await open(operation, params, options) : await call(operation, params, options)
      if ('next' in answer) {
        answer.close()
        return trial.fail(`${names.join(' or ')} to ${operation}`, 'an event stream')
      }
      if (answer.kind !== 'error') return trial.fail(`${names.join(' or ')} to ${operation}`, tell(binding, answer))
      trial.want(
        names.some((name) => isError(binding, answer, name)),
        `${names.join(' or ')} to ${operation}`,
        nameOf(binding, answer),
      )
      return answer
    },
    async mustOpen(operation, params, options) {
      const opened = await open(operation, params, options)
      return 'next' in opened ? opened : trial.fail(`an event stream of ${operation}`, tell(binding, opened))
    },
    async readyOpen(operation, params, options) {
      const opened = await open(operation, params, options)
      if ('next' in opened) return opened
      throw new NotProvoked(`${operation} gave ${tell(binding, opened)}`)
    },
    send: async (sent) => keep(await probe.send(sent)),
    openRaw: async (sent) => keepOpen(await probe.open(sent)),
    raw: async (bytes) => keep(await probe.raw(door.url, bytes)),
    fresh: () => freshId(world),
    message: (text, more = {}) => ({ messageId: freshId(world), role: 'ROLE_USER', parts: [{ text }], ...more }),
    prompt(prompt, more) {
      const message = scenario.message(prompt, more)
      if (!message) throw new NotProvoked(`the scenario has no prompt ${prompt}`)
      return message
    },
    finished() {
      const known = subject.finished.get(binding) ?? begin('complete')
      subject.finished.set(binding, known)
      return known
    },
    task: (id, more = {}) => trial.ready('GetTask', { id, ...more }),
    want(holds, wanted, got) {
      if (!holds) trial.fail(wanted, got)
    },
    fail(wanted, got) {
      throw new Failure(wanted, typeof got === 'string' ? got : brief(got))
    },
    reading: (about, has) => void record.readings.push({ about, has }),
    pause: (ms) => sleep(world, ms, undefined, { holds: true }),
    async until(read, enough, ms = subject.timeoutMs) {
      const end = world.now() + ms
      for (;;) {
        const value = await read()
        if (enough(value) || world.now() >= end) return value
        await trial.pause(500)
      }
    },
    webhooks() {
      if (!subject.webhooks) throw new NotApplicable('there is no webhook that the agent could reach')
      return subject.webhooks
    },
  }
  return trial
}

/** URIs of the extensions that the card requires. */
export function requiredExtensions(card: Members): readonly string[] {
  const declared = at(card, 'capabilities.extensions')
  return Array.isArray(declared) ? declared.filter((one) => at(one, 'required') === true).map((one) => textAt(one, 'uri')) : []
}

/** A program as the function of an agent. The same code runs under the runtime and, for the reference, without one. */

import type { StandardSchemaV1 } from '@standard-schema/spec'
import {
  artifact,
  chunk,
  completed,
  type Emission,
  failed,
  inputRequired,
  type Message,
  type Result,
  rejected,
  type TaskHandle,
  working,
} from '../../src/index.js'
import { mixed } from './chance.js'
import type { Act, Program, Question, Work } from './program.js'

/** What a run of the program needs beside the task. */
export interface Surroundings {
  /** The program of a task, by the text that began it. */
  programOf(text: string): Program
  /** Settles when whoever plays the world says so. */
  linger(label: string): Promise<void>
  /** What a step does outside: counted by its idempotency key. */
  effect(idempotencyKey: string, label: string, argument: string): void
  /** Whether a try of this step is the first one ever. */
  isFirstTry(idempotencyKey: string): boolean
  /** Names this very run in text that differs from run to run; undefined leaves such text out. */
  readonly runName: string | undefined
  /** The verdict of the schema that changes with time. */
  isStrict(): boolean
  onBegin?(task: TaskHandle): void
  onEnd?(task: TaskHandle): void
}

/** Thrown where a program says so. */
class ProgramError extends Error {}

type Outcome = { readonly value: unknown } | { readonly failed: string }

export function runOf(surroundings: Surroundings): (task: TaskHandle) => AsyncGenerator<Emission, Result, void> {
  return async function* run(task) {
    surroundings.onBegin?.(task)
    try {
      return yield* turnOf(task, surroundings)
    } finally {
      surroundings.onEnd?.(task)
    }
  }
}

async function* turnOf(task: TaskHandle, surroundings: Surroundings): AsyncGenerator<Emission, Result, void> {
  const first = task.history[0]
  if (!first) throw new Error('the task was not begun by a message')
  const program = surroundings.programOf(textOf(first))
  const turn = program[task.turn - 1]
  if (!turn) throw new Error(`turn ${task.turn} of a program of ${program.length}`)
  let sum = mixed(task.history.map(textOf).join('|') + task.text)
  const begun = new Map<string, Promise<unknown>>()
  const add = (outcome: Outcome) => {
    sum = mixed(sum + ('failed' in outcome ? `E${outcome.failed}` : JSON.stringify(outcome.value)))
  }
  const settle = async (promise: Promise<unknown>, isCaught = true): Promise<void> => {
    add(await outcomeOf(promise, isCaught))
  }

  const step = (work: Work) => stepOf(task, surroundings, work, sum)

  /** What is awaited, and hands something back. */
  const awaited = (act: Act): Promise<unknown> => {
    switch (act.does) {
      case 'ask':
        return askOf(task, surroundings, act.question)
      case 'authorize':
        return authorizeOf(task, act.id)
      case 'sleep':
        return task.sleep(act.duration, { key: act.id })
      case 'wait':
        return task.wait(act.name, { key: act.id, ...(act.timeout !== undefined && { timeout: act.timeout }) })
      default:
        throw new Error(`${act.does} is not awaited`)
    }
  }

  for (const act of turn.acts) {
    switch (act.does) {
      case 'note':
        yield working(`${act.id} ${sum}`)
        break
      case 'chunk':
        yield chunk(act.artifact, `${act.id}.${sum};`, { last: act.last })
        break
      case 'artifact':
        yield artifact(act.artifact, `${act.id}.${sum};`)
        break
      case 'raw':
        if (surroundings.runName === undefined) break
        for (let piece = 0; piece < act.pieces; piece++) yield chunk(`raw-${act.id}`, `${surroundings.runName}:${piece}/${act.pieces};`)
        break
      case 'linger':
        await surroundings.linger(act.id)
        break
      case 'step':
        await settle(step(act.work), act.isCaught)
        break
      case 'all':
        await settle(Promise.all([...act.works.map(step), ...(act.beside ? [awaited(act.beside)] : [])]), act.isCaught)
        break
      case 'race':
        await settle(Promise.race([...act.works.map(step), ...(act.beside ? [awaited(act.beside)] : [])]))
        break
      case 'begin':
        begun.set(act.work.id, step(act.work))
        break
      case 'join':
        await settle(begun.get(act.id) ?? Promise.reject(new Error(`${act.id} was not begun`)))
        break
      case 'take':
        await settle(task.inbox.take().then(optionalTextOf))
        break
      case 'next':
        await settle(task.inbox.next({ timeout: act.timeout }).then(optionalTextOf))
        break
      case 'stream': {
        const { artifact: name, id, pieces, breaks } = act
        const text = async function* () {
          for (let piece = 0; piece < pieces; piece++) {
            await surroundings.linger(`${id}/${piece}`)
            yield `${id}.${surroundings.runName}.${piece};`
          }
          if (breaks) throw new ProgramError(`${id} breaks`)
        }
        try {
          add({ value: yield* task.stream(name, text, { key: id }) })
        } catch (error) {
          add({ failed: nameOf(error) })
        }
        break
      }
      case 'remember': {
        const key = `count-${textOf(first)}`
        const before = task.context.get<number>(key) ?? 0
        task.context.set(key, before + 1)
        add({ value: [before, task.context.get<number>(key) ?? 0] })
        break
      }
      default:
        await settle(awaited(act))
    }
  }
  switch (turn.end) {
    case 'input':
      return inputRequired(`turn ${task.turn} ends`)
    case 'note':
      return completed(`note ${sum}`)
    case 'fail':
      return failed(`failed ${sum}`)
    case 'reject':
      return rejected('no')
    case 'throw':
      throw new ProgramError('the program throws')
    case 'value':
      return `result ${sum}`
  }
}

async function outcomeOf(promise: Promise<unknown>, isCaught: boolean): Promise<Outcome> {
  try {
    return { value: (await promise) ?? null }
  } catch (error) {
    if (!isCaught || !(error instanceof Error)) throw error
    return { failed: nameOf(error) }
  }
}

function nameOf(error: unknown): string {
  // What a run that was told to stop gets is no outcome.
  if (!(error instanceof Error)) throw error
  return `${error.name} ${'key' in error ? error.key : ''}`
}

function stepOf(task: TaskHandle, surroundings: Surroundings, { id, goes }: Work, argument: string): Promise<unknown> {
  const options = goes === 'flaky' ? { retry: 2 } : goes === 'hangs' ? { timeout: '7s' } : {}
  const step = task.step(
    id,
    async ({ idempotencyKey }) => {
      const isFirst = surroundings.isFirstTry(idempotencyKey)
      if (goes === 'hangs') await new Promise(() => {})
      await surroundings.linger(id)
      if (goes === 'wrong' || (goes === 'flaky' && isFirst)) throw new ProgramError(`${id} goes wrong`)
      surroundings.effect(idempotencyKey, `${task.id}/${task.turn}/${id}`, argument)
      return stepValue(id, argument)
    },
    options,
  )
  // Some are begun and never joined.
  step.catch(() => undefined)
  return step
}

/** What the step `id` gives, called with `argument`. */
export const stepValue = (id: string, argument: string) => mixed(id + argument)

async function askOf(task: TaskHandle, surroundings: Surroundings, { id, schema, timeout }: Question): Promise<unknown> {
  const options = { key: id, ...(timeout !== undefined && { timeout: timeout }) }
  if (schema === 'none') return (await task.ask(`ask ${id}`, options)).text
  return task.ask(`ask ${id}`, { ...options, schema: okSchema(() => schema === 'flaky' && surroundings.isStrict()) })
}

function okSchema(isStrict: () => boolean): StandardSchemaV1<string, string> {
  return {
    '~standard': {
      version: 1,
      vendor: 'simulation',
      validate: (value) =>
        typeof value === 'string' && value.startsWith('ok') && !isStrict()
          ? { value: `fits ${value}` }
          : { issues: [{ message: 'not ok' }] },
    },
  }
}

async function authorizeOf(task: TaskHandle, id: string): Promise<unknown> {
  const consent = await task.authorize({
    callback: () => 'https://place.test/agree',
    prompt: `ask ${id}`,
    key: id,
    timeout: '30m',
  })
  return 'granted' in consent ? { scopes: consent.granted.scopes, length: consent.granted.token.length } : textOf(consent.message)
}

export function textOf({ parts }: Message): string {
  return parts.map(({ text }) => text ?? '').join('')
}

const optionalTextOf = (message: Message | undefined) => (message ? textOf(message) : null)

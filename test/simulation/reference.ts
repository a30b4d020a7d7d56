/**
 * The same program without a runtime: handed the decisions that were recorded, in the order of their settling, and never
 * interrupted. What it makes is what the task must have come to.
 */

import type { Message, Task } from '../../src/index.js'
import { ConsentDeniedError, StepFailedError, type TaskHandle, WaitTimeoutError } from '../../src/index.js'
import { endOfTurn, outputOf, streamChunk, type TurnEnd } from '../../src/runtime/output.js'
import { apply } from '../../src/task/fold.js'
import type { History } from './history.js'
import { runOf, stepValue, textOf } from './interpret.js'
import type { SettledRecord } from './judge-records.js'
import { lastWords, type Told } from './oracles.js'

interface Reference {
  /** Text of each artifact. */
  readonly artifacts: Map<string, string>
  readonly memory: Map<string, unknown>
}

type End = TurnEnd | { readonly kind: 'thrown'; readonly error: unknown }

const states = {
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  thrown: 'TASK_STATE_FAILED',
  rejected: 'TASK_STATE_REJECTED',
  inputRequired: 'TASK_STATE_INPUT_REQUIRED',
} as const

export async function judgeReference(history: History, told: Told): Promise<void> {
  const { violate } = history
  const { id, log, task, records, place } = told
  if (task.status.state === 'TASK_STATE_CANCELED' || /was started|The server stopped/.test(lastWords(task))) return
  const made: Reference = { artifacts: new Map(), memory: new Map() }
  let end: End | undefined
  for (const { seq, kind } of log) {
    if (kind !== 'created' && kind !== 'turn') continue
    const turn = log.filter((event) => event.kind === 'turn' && event.seq <= seq).length + 1
    const decisions = records.get(turn) ?? []
    const outcome = await playTurn({ history, told, made, turn, seq, decisions })
    if (typeof outcome === 'string') return violate(`task ${id} (program ${place}), turn ${turn}: ${outcome}`)
    end = outcome
  }
  if (!end) return violate(`task ${id} has no turn`)
  if (states[end.kind] !== task.status.state)
    return violate(`task ${id} is ${task.status.state} and should be ${states[end.kind]}: ${lastWords(task)}`)
  if (end.kind === 'completed' && end.result) made.artifacts.set('result', end.result.map(({ text }) => text).join(''))
  const words = end.kind === 'thrown' ? undefined : end.kind === 'completed' ? end.note : end.parts
  if (words && lastWords(task) !== words.map(({ text }) => text).join('')) violate(`task ${id} ends with ${lastWords(task)}`)
  judgeArtifacts(violate, told, made)
  const [first] = task.history ?? []
  const key = `count-${first && textOf(first)}`
  const kept = await memoryOf(history, task)
  if (made.memory.has(key) && JSON.stringify(kept[key]) !== JSON.stringify(made.memory.get(key)))
    violate(`the memory of task ${id} holds ${JSON.stringify(kept[key])} and not ${JSON.stringify(made.memory.get(key))}`)
}

function judgeArtifacts(violate: (what: string) => void, { id, task }: Told, { artifacts }: Reference): void {
  const real = new Map((task.artifacts ?? []).map(({ artifactId, parts }) => [artifactId, parts.map(({ text }) => text).join('')]))
  for (const [name, text] of real) {
    if (name.startsWith('raw-')) judgeWhole(violate, id, name, text)
    // What a stream that broke off leaves is nobody's promise.
    if (name.startsWith('raw-') || name.startsWith('f')) continue
    if (artifacts.get(name) !== text) violate(`the artifact ${name} of task ${id} is ${text} and should be ${artifacts.get(name)}`)
  }
  for (const [name, text] of artifacts)
    if (!real.has(name) && text !== '' && !name.startsWith('f')) violate(`the artifact ${name} of task ${id} is missing: ${text}`)
}

/** Text that differs from run to run is that of one run, and all of it. */
function judgeWhole(violate: (what: string) => void, id: string, name: string, text: string): void {
  const pieces = text
    .split(';')
    .filter((piece) => piece !== '')
    .map((piece) => piece.split(/[:/]/))
  const [first] = pieces
  const isWhole = pieces.length === Number(first?.[2]) && pieces.every(([run, number], at) => run === first?.[0] && Number(number) === at)
  if (!isWhole) violate(`the artifact ${name} of task ${id} is torn: ${text}`)
}

async function memoryOf({ store, written }: History, { id, contextId }: Task): Promise<Readonly<Record<string, unknown>>> {
  const created = await written(
    store.create({
      caller: { tenant: '', owner: 'alice' },
      id: `probe of ${id}`,
      contextId: contextId ?? '',
      created: { kind: 'created', state: 'TASK_STATE_SUBMITTED', timestamp: 0, body: '{"task":{}}' },
    }),
  )
  return created.outcome === 'created' ? created.memory : {}
}

interface TurnToPlay {
  readonly history: History
  readonly told: Told
  readonly made: Reference
  readonly turn: number
  /** Number of the event that began it. */
  readonly seq: number
  readonly decisions: readonly SettledRecord[]
}

/** How the turn ended, or what is wrong with its records. */
async function playTurn({ history, told, made, turn, seq, decisions }: TurnToPlay): Promise<End | string> {
  const { log } = told
  let before: Task | undefined
  for (const event of log.slice(0, seq)) before = apply(before, event)
  const past = before?.history ?? []
  const memory = decisions.find(({ kind }) => kind === 'context')?.body.memory
  const queue = decisions.filter(({ n }) => n > 0)
  const handles = new Map<string, (record: SettledRecord) => void>()
  const called = new Set<string>()
  let wrong: string | undefined

  const decision = <T>(key: string, read: (body: any) => T): Promise<T> => {
    called.add(key)
    const settled = new Promise<T>((resolve, reject) => {
      handles.set(key, ({ body }) => {
        try {
          resolve(read(body))
        } catch (error) {
          reject(error)
        }
      })
    })
    settled.catch(() => undefined)
    return settled
  }
  const messageAt = (number: number): Message => JSON.parse(log[number - 1]?.body ?? '').message
  const streamed = new Map<string, string>()
  const own = new Map<string, unknown>()
  let takes = 0
  const take = () => decision(`take#${++takes}`, ({ seq: taken }) => (taken === undefined ? undefined : messageAt(taken)))
  const step: TaskHandle['step'] = (key) =>
    decision(`step:${key}`, (body) => {
      if ('error' in body) throw new StepFailedError(key, body.error)
      return body.value
    })
  const handle = {
    id: told.id,
    turn,
    text: textOf(past.at(-1) as Message),
    history: past,
    step,
    async *stream(name: string, _work: unknown, { key }: { key: string }) {
      const text = await decision(`stream:${key}`, (body) => {
        if ('error' in body) throw new StepFailedError(name, body.error)
        return body.text as string
      })
      streamed.set(name, text)
      if (text !== '') yield streamChunk(name, text, { begins: true, stream: 'recorded' })
      return text
    },
    sleep: (_duration: string, { key }: { key: string }) => decision(`sleep:${key}`, () => undefined),
    wait: (_name: string, { key }: { key: string }) =>
      decision(`wait:${key}`, (body) => {
        if ('timeout' in body) throw new WaitTimeoutError('a signal')
        return body.signal.value ?? wrongBody('signal')
      }),
    ask: (_prompt: string, { key, schema }: { key: string; schema?: unknown }) =>
      decision(`ask:${key}`, (body) => {
        if ('timeout' in body) throw new WaitTimeoutError('an answer')
        return schema ? body.value : { message: messageAt(body.answer), text: textOf(messageAt(body.answer)) }
      }),
    authorize: ({ key }: { key: string }) =>
      decision(`authorize:${key}`, (body) => {
        if ('timeout' in body) throw new WaitTimeoutError('consent')
        if ('denied' in body) throw new ConsentDeniedError(body.denied)
        return 'granted' in body ? { granted: body.granted } : { message: messageAt(body.answer) }
      }),
    inbox: { take, next: take },
    context: {
      get(key: string) {
        if (own.has(key)) return own.get(key)
        // A turn that ended at once may have left no record; nothing but this task writes the key.
        return memory === undefined ? made.memory.get(key) : memory[key]
      },
      set: (key: string, value: unknown) => void own.set(key, value),
    },
  }
  const wrongBody = (what: string) => {
    wrong ??= `the record of a ${what} has no value`
  }
  const program = runOf({
    programOf: (text) => history.programs[Number(text.slice(1))] ?? [],
    linger: () => Promise.resolve(),
    effect: () => undefined,
    isFirstTry: () => false,
    runName: undefined,
    isStrict: () => false,
  })
  const begun = new Set<string>()
  let end: End | undefined
  const playing = (async () => {
    // The program uses no other members of a handle.
    const outputs = program(handle as unknown as TaskHandle)
    try {
      for (;;) {
        const { done, value } = await outputs.next()
        if (done) {
          end = endOfTurn(value)
          return
        }
        const output = outputOf(value)
        if (output.kind === 'working') continue
        const text = output.parts.map((part) => part.text).join('')
        const isNew = output.kind === 'artifact' || output.begins || !begun.has(output.artifactId)
        begun.add(output.artifactId)
        made.artifacts.set(output.artifactId, isNew ? text : `${made.artifacts.get(output.artifactId)}${text}`)
      }
    } catch (error) {
      end = { kind: 'thrown', error }
    }
  })()
  for (;;) {
    await new Promise<void>((resolve) => setImmediate(resolve))
    if (end || wrong) break
    const next = queue.shift()
    if (!next) return `the function waits for what is not recorded; handed over: ${decisions.map(({ key }) => key)}; called: ${[...called]}`
    const hand = handles.get(next.key)
    if (!hand)
      return `the record ${next.key} is one of a call that was not made: ${decisions.map(({ key }) => key)}; called: ${[...called]}`
    if (next.kind === 'step' && !('error' in next.body)) judgeStep(next)
    hand(next)
  }
  if (wrong) return wrong
  await playing
  const left = queue.find(({ key }) => !called.has(key))
  if (left) return `the record ${left.key} is left over`
  for (const [key, value] of own) made.memory.set(key, value)
  return end ?? 'it did not end'

  function judgeStep({ key, body }: SettledRecord): void {
    const label = `${told.id}/${turn}/${key.replace('step:', '')}`
    const effect = [...history.effects.values()].find((one) => one.label === label)
    const id = key.replace('step:', '')
    if (effect && ![...effect.arguments].some((argument) => stepValue(id, argument) === body.value))
      wrong ??= `the step ${key} gives what it did not make`
  }
}

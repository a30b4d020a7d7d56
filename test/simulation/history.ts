/** One seed, one history: a server that is crashed, shut down and robbed of its wake-ups while its callers go on. */

import { agent } from '../../src/index.js'
import { createCrashableMemory } from '../../src/store/sqlite/crashable.js'
import { loadSqlite } from '../../src/store/sqlite/driver.js'
import type { Store, TaskHeader } from '../../src/store/store.js'
import { type Log, silentLog } from '../../src/support/log.js'
import type { World } from '../../src/support/world.js'
import { type Action, type Callers, createCallers } from './callers.js'
import { type Chance, chanceOf } from './chance.js'
import { runOf, type Surroundings } from './interpret.js'
import { createSurface, Life } from './life.js'
import { createObserver, type Observer } from './observer.js'
import { judgeAtRest } from './oracles.js'
import { makePlan, type Plan, pushChanceOf } from './plan.js'
import type { Program } from './program.js'
import { createPushing, type PostSabotage } from './pushing.js'
import { type Watch, watchHeaders } from './watch-headers.js'

/** What is wrong from outside with the store that the server gets. */
export type Sabotage = (store: Store, chance: Chance) => Store

export interface HistoryOptions {
  readonly sabotage?: Sabotage
  /** And with its world. */
  readonly world?: (world: World) => World
  /** And with its way to the receivers of pushes. */
  readonly post?: PostSabotage
  /** Told each line as it is written. */
  readonly trace?: (line: string) => void
  readonly log?: Log
  /** In place of what the seed gives. */
  readonly plan?: Partial<Plan>
}

export interface Outcome {
  readonly seed: number
  /** The first law that was broken. */
  readonly violation: string | undefined
  /** All that happened, line by line. */
  readonly lines: readonly string[]
  readonly counts: Readonly<Record<string, number>>
}

/** What the oracles look at when everything rests. */
export interface History {
  readonly programs: readonly Program[]
  readonly callers: Callers
  readonly observer: Observer
  /** How often each idempotency key was seen in effect, and with which arguments. */
  readonly effects: ReadonlyMap<string, Effect>
  /** No crash, no COMMIT that failed, no takeover: nothing had a reason to happen twice. */
  readonly isCalm: boolean
  readonly store: Store
  /** What comes of `writing`, which takes turns of the event loop. */
  written<T>(writing: Promise<T>): Promise<T>
  violate(what: string): void
}

export interface Effect {
  readonly label: string
  readonly arguments: Set<string>
  times: number
}

/** The longest of some thousand histories needed 2,143. */
const quietActions = 4_000
const start = Date.UTC(2026, 0, 1)

export async function play(seed: number, options: HistoryOptions = {}): Promise<Outcome> {
  // The first import of the driver takes its time, and the others none.
  await loadSqlite()
  const chance = chanceOf(seed)
  const pushChance = pushChanceOf(seed)
  const plan = { ...makePlan(chance, pushChance), ...options.plan }
  const surface = createSurface(start)
  const lines: string[] = []
  const counts: Record<string, number> = {}
  const effects = new Map<string, Effect>()
  const tried = new Set<string>()
  const database = createCrashableMemory()
  let life: Life | undefined
  /** The store of the process that lives, as it is. */
  let raw: Store | undefined
  let lives = 0
  let isQuiet = false
  let isCalm = true
  let isStrict = false
  let failedCommits = 0
  let violation: string | undefined
  let isBooting = false
  let actions = 0
  let farewell: { readonly failedBefore: number; readonly attempts: ReadonlyMap<string, number> } | undefined

  function note(line: string): void {
    lines.push(line)
    options.trace?.(line)
  }
  function count(what: string): void {
    counts[what] = (counts[what] ?? 0) + 1
  }
  function violate(what: string): void {
    violation ??= what
  }

  const watch: Watch = watchHeaders(violate)
  const pushing = plan.push
    ? createPushing({
        plan: plan.push,
        chance: pushChance,
        sabotage: options.post,
        now: () => surface.clock.now,
        action: () => actions,
        isQuiet: () => isQuiet,
        violate,
        note,
        count,
      })
    : undefined
  const observer = createObserver(pushing?.law.take)

  function crash(how: string): void {
    const dying = life
    if (!dying) return
    note(`crash ${how}`)
    count('crashes')
    isCalm = false
    life = undefined
    raw = undefined
    farewell = undefined
    dying.end()
    observer.failed()
    database.crash()
  }

  database.beforeCommit = () => {
    if (isQuiet || !life) return undefined
    if (chance.is(plan.crashAtCommit / 2)) {
      crash('before COMMIT')
      return undefined
    }
    if (!chance.is(plan.failedCommit)) return undefined
    isCalm = false
    failedCommits++
    count('failed COMMITs')
    const fate = chance.is(0.5) ? 'fail' : 'commit and fail'
    note(`COMMIT: ${fate}`)
    if (fate === 'fail') observer.failed()
    return fate
  }
  database.afterCommit = (number) => {
    observer.committed()
    note(`commit ${number}`)
    if (raw) void watch.look(raw)
    if (!isQuiet && chance.is(plan.crashAtCommit / 2)) crash('after COMMIT')
  }

  const surroundingsOf = (own: Life): Surroundings => ({
    programOf: (text) => {
      const program = plan.programs[Number(text.slice(1))]
      if (!program) throw new Error(`there is no program ${text}`)
      return program
    },
    linger: (label) => own.linger(label),
    effect(key, label, argument) {
      if (own.isOver) return
      const effect = effects.get(key) ?? { label, arguments: new Set(), times: 0 }
      effects.set(key, effect)
      effect.times++
      effect.arguments.add(argument)
      if (effect.label !== label) violate(`${label} and ${effect.label} have one idempotency key`)
    },
    isFirstTry(key) {
      const isFirst = !tried.has(key)
      tried.add(key)
      return isFirst
    },
    runName: `${own.number}${mark(own)}`,
    isStrict: () => isStrict,
    onBegin: (task) => {
      own.runs.add(task)
      note(`run of ${task.id} begins`)
    },
    onEnd: (task) => void own.runs.delete(task),
  })
  const marks = new Map<Life, number>()
  function mark(own: Life): string {
    const next = (marks.get(own) ?? 0) + 1
    marks.set(own, next)
    return `-${next}`
  }

  function boot(): void {
    const own = new Life(++lives, surface, chance)
    life = own
    isBooting = true
    count('starts')
    // What the one before had begun and never wrote.
    observer.failed()
    const run = (task: Parameters<ReturnType<typeof runOf>>[0]) => runOf(surroundingsOf(own))(task)
    const made = agent({ name: 'Random', description: 'Does what its program says.', recovery: plan.recovery }, run)
    const open = async (): Promise<Store> => {
      const store = await database.open({ world: own.world })
      raw = store
      await watch.look(store)
      if (farewell) await judgeFarewell(store, farewell)
      const sabotaged = options.sabotage ? options.sabotage(store, chance) : store
      const watched = observer.watch(sabotaged, own.number)
      return plan.lostWakeUps > 0 ? forgetful(watched) : watched
    }
    own
      .boot(made, {
        world: options.world?.(own.world) ?? own.world,
        concurrency: plan.concurrency,
        waitingRuns: plan.waitingRuns,
        log: options.log ?? silentLog,
        open,
        ...(pushing && { push: pushing.of(own) }),
      })
      .then(
        () => own === life && note('started'),
        (error) => {
          if (own !== life) return
          note(`did not start: ${error}`)
          if (failedCommits === 0) violate(`the server did not start: ${error}`)
          crash('at its start')
        },
      )
      .finally(() => {
        if (own === life) isBooting = false
      })
  }

  /** A process that ended by itself has left nothing held, and counted no attempt. */
  async function judgeFarewell(store: Store, { failedBefore, attempts }: NonNullable<typeof farewell>): Promise<void> {
    farewell = undefined
    if (failedCommits > failedBefore) return
    for (const { id, holder, attempt } of await store.unfinished({ limit: 1000 })) {
      if (holder !== undefined) violate(`task ${id} is held by a process that was shut down`)
      if (attempt > (attempts.get(id) ?? 0)) violate(`a shutdown counted an attempt of task ${id}`)
    }
  }

  function forgetful(store: Store): Store {
    const forgets = () => chance.is(plan.lostWakeUps)
    return {
      ...store,
      onCommit: (listener) => store.onCommit((...told) => void (forgets() || listener(...told))),
      onRunnable: (listener) => store.onRunnable((ref) => void (forgets() || listener(ref))),
      onPushConfig: (listener) => store.onPushConfig((ref) => void (forgets() || listener(ref))),
    }
  }

  async function shutDown(own: Life): Promise<void> {
    count('shutdowns')
    own.closingSince = surface.clock.now
    const attempts = new Map((await raw?.unfinished({ limit: 1000 }))?.map(({ id, attempt }) => [id, attempt]))
    const failedBefore = failedCommits
    own.core?.close().then(
      () => {
        if (own.isOver) return
        note('closed')
        // Whoever was at work for longer was told to stop, and does it again.
        if (own.closingSince !== undefined && surface.clock.now - own.closingSince >= 10_000) isCalm = false
        farewell = { failedBefore, attempts }
        own.end()
        if (life !== own) return
        life = undefined
        raw = undefined
      },
      (error) => violate(`the server could not be closed: ${error}`),
    )
  }

  const headers = new Map<string, TaskHeader | undefined>()
  let headersOf = ''
  /** Asked again and again; only a COMMIT and another start change the answer. */
  async function header(id: string): Promise<TaskHeader | undefined> {
    const now = `${lives}/${database.commits}`
    if (headersOf !== now) headers.clear()
    headersOf = now
    if (!headers.has(id)) headers.set(id, await raw?.locate(id))
    return headers.get(id)
  }

  const scene = {
    chance,
    programs: plan.programs,
    contextId: plan.contextId,
    cancels: plan.cancels,
    idOf: (text: string) => observer.begunBy(text),
    server: () => (life?.core && !life.isOver ? life : undefined),
    header,
    isQuiet: () => isQuiet,
    violate,
    pushes: pushing?.callers,
  }
  const callers = createCallers(scene)

  async function processActions(): Promise<Action[]> {
    const own = life
    if (!own) return [{ weight: 2, name: 'boots', act: boot }]
    const found: Action[] = []
    const turn = own.turns[0]
    if (turn)
      found.push({
        weight: 8,
        name: 'turn',
        act: () => {
          own.turns.shift()
          turn()
        },
      })
    for (const pause of own.pauses) found.push({ weight: 1, name: `ends ${pause.label}`, act: pause.end })
    const timer = own.nextTimer()
    if (timer) {
      const isDue = timer.due <= surface.clock.now
      found.push({
        weight: isDue ? 4 : isQuiet ? 0.05 : 0.25,
        name: isDue ? 'timer' : `at ${timer.due - start}`,
        act: () => own.fire(timer),
      })
    }
    found.push(...(pushing?.receivers.actions() ?? []))
    if (isQuiet) return found
    found.push({ weight: plan.crash, name: 'crash', act: () => crash('at will') })
    found.push({
      weight: 0.1,
      name: 'flip',
      act() {
        isStrict = !isStrict
      },
    })
    if (own.core && !isBooting) {
      if (own.closingSince === undefined) found.push({ weight: plan.shutdown, name: 'shutdown', act: () => shutDown(own) })
      found.push({ weight: plan.takeover, name: 'takeover', act: takeOver })
    }
    found.push({
      weight: plan.jump,
      name: 'jump',
      act: () => {
        surface.clock.now += chance.below(3_600_000)
        count('jumps')
      },
    })
    return found
  }

  /** As whoever looks after the dead does, who may be wrong. */
  async function takeOver(): Promise<void> {
    const held = ((await raw?.unfinished({ limit: 100 })) ?? []).filter(({ holder }) => holder !== undefined)
    if (held.length === 0) return
    const { ref, holder } = chance.pick(held)
    count('takeovers')
    isCalm = false
    void raw
      ?.update(ref, (header) =>
        header.holder === holder ? { result: undefined, write: { events: [], holder: null } } : { result: undefined },
      )
      .catch(() => undefined)
  }

  async function isAtRest(): Promise<boolean> {
    const own = life
    if (!own?.core || !raw || own.turns.length > 0 || !callers.isDone()) return false
    if (plan.programs.some((_, place) => callers.taskId(place) === undefined)) return false
    if ((await raw.unfinished({ limit: 1 })).length > 0) return false
    return !pushing || (pushing.receivers.isDone() && (await raw.openPushes({ limit: 1 })).length === 0)
  }

  let quietFor = 0
  for (; violation === undefined; actions++) {
    await surface.settle()
    callers.hear()
    if (violation !== undefined) break
    if (!isQuiet && (actions === plan.actions || (await isAtRest()))) {
      isQuiet = true
      isStrict = false
      note('quiet')
    }
    if (isQuiet && (await isAtRest())) break
    if (isQuiet && ++quietFor > quietActions) {
      const unfinished = (await raw?.unfinished({ limit: 10 })) ?? []
      violate(`nothing came to rest: ${JSON.stringify({ unfinished, waiting: callers.waiting() })}`)
      break
    }
    const found = [...(await processActions()), ...(await callers.actions())]
    if (violation !== undefined) break
    const patience = found.every(({ name }) => name.startsWith('at '))
    // A doorbell that was not heard costs time only: some day everybody asks again.
    if (isQuiet && patience && plan.lostWakeUps > 0 && quietFor % 20 === 19) callers.loseHope()
    if (found.length === 0) {
      violate('nothing is left that could happen')
      break
    }
    const action = drawn(chance, found)
    if (action.name !== 'turn') note(`${actions} ${action.name}`)
    await action.act()
  }
  counts['actions'] = lines.length
  counts['quiet'] = quietFor
  if (violation === undefined && life && raw) {
    const { turns } = life
    const store = raw
    const written = async <T>(writing: Promise<T>): Promise<T> => {
      for (let turn = turns.shift(); turn; turn = turns.shift()) {
        turn()
        await surface.settle()
      }
      return writing
    }
    const history = { programs: plan.programs, callers, observer, effects, isCalm, store, written, violate }
    await judgeAtRest(history)
    pushing?.judgeAtRest(callers.sendings)
    for (const { facts } of observer.tasks.values()) {
      for (const { write } of facts) for (const { body } of write.events) lines.push(body)
    }
  }
  const last = life
  life = undefined
  last?.end()
  database.crash()
  return { seed, violation, lines, counts }
}

function drawn(chance: Chance, actions: readonly Action[]): Action {
  const whole = actions.reduce((sum, { weight }) => sum + weight, 0)
  let left = chance.fraction() * whole
  for (const action of actions) {
    left -= action.weight
    if (left < 0) return action
  }
  return actions[0] as Action
}

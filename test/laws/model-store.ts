/** The contract of a store in its plainest form: maps and arrays, one commit for each turn of the event loop. The laws are tried on it. */

import type { Json } from '../../src/protocol/wire.js'
import type {
  Caller,
  CommitListener,
  Created,
  Delivery,
  Inbound,
  ListPage,
  ListQuery,
  NewTask,
  PushProgress,
  PushRef,
  Repeated,
  RunRecord,
  Store,
  StoredPushConfig,
  TaskHeader,
  TaskRef,
  TaskWrite,
} from '../../src/store/store.js'
import type { World } from '../../src/support/world.js'
import type { NewEvent, TaskEvent } from '../../src/task/event.js'
import { fold } from './fold.js'
import { dayMs, finalStates } from './kit.js'

type Memory = Readonly<Record<string, Json>>
interface Config {
  config: StoredPushConfig
  ref: PushRef
  progress: PushProgress
  deliveries: readonly Delivery[]
}
type Moved = { readonly revision: number; readonly at: number; readonly state: string; readonly status: string }
interface Row {
  header: TaskHeader
  log: TaskEvent[]
  moves: Moved[]
  configs: Map<string, Config>
  /** By turn and key; each with both. */
  records: Map<string, readonly [turn: number, record: RunRecord]>
}
type Accepted = { readonly hash: string; readonly at: number; readonly ref: TaskRef; readonly seq: number }

interface State {
  revision: number
  /** Of the newest making of a configuration. */
  pushRef: number
  rows: Row[]
  /** Tasks that anybody may claim, those that became so first come first. */
  jobs: TaskRef[]
  byName: Map<string, Row>
  inbound: Map<string, Accepted[]>
  memory: Map<string, Memory>
}

export interface ModelData {
  readonly state: State
  readonly secrets: Map<string, Uint8Array>
}

export function emptyModel(): ModelData {
  return {
    state: { revision: 0, pushRef: 0, rows: [], jobs: [], byName: new Map(), inbound: new Map(), memory: new Map() },
    secrets: new Map(),
  }
}

const recordName = (turn: number, key: string) => JSON.stringify([turn, key])
const isFinal = ({ state }: TaskHeader) => finalStates.includes(state)
const isRunnable = (header: TaskHeader) => !isFinal(header) && header.holder === undefined && header.waiting === undefined

const nameOf = ({ tenant, owner }: Caller, name: string) => JSON.stringify([tenant, owner, name])

export function modelStore(world: World, data: ModelData = emptyModel()): Store {
  const { state, secrets } = data
  const listeners = new Set<CommitListener>()
  const runnableListeners = new Set<(ref: TaskRef) => void>()
  const pushListeners = new Set<(ref: TaskRef) => void>()
  let queue: (() => () => void)[] = []
  /** Tasks that this commit has made runnable so far. */
  let became: TaskRef[] = []
  let isOpen = true

  function unit<R>(work: (tell: (run: () => void) => void) => R): Promise<R> {
    if (!isOpen) return Promise.reject(new TypeError('closed'))
    return new Promise((resolve, reject) => {
      if (queue.length === 0) world.defer(commit)
      queue.push(() => {
        const tells: (() => void)[] = []
        try {
          const result = work((run) => tells.push(run))
          return () => {
            for (const tell of tells) tell()
            resolve(result)
          }
        } catch (reason) {
          return () => reject(reason)
        }
      })
    })
  }

  function commit(): void {
    const afterwards: (() => void)[] = []
    const hadJob = new Set(state.jobs)
    became = []
    // Grows while it is gone through: what is accepted may append to the same commit.
    for (let work = queue.shift(); work !== undefined; work = queue.shift()) afterwards.push(work())
    queue = []
    const added = became.filter((ref) => !hadJob.has(ref))
    state.jobs = [...state.jobs.filter((ref) => isRunnable(row(ref).header)), ...added]
    for (const tell of afterwards) tell()
    for (const ref of added) for (const listener of runnableListeners) listener(ref)
  }

  function row(ref: TaskRef): Row {
    const found = state.rows[ref - 1]
    if (found === undefined) throw new TypeError('no such task')
    return found
  }

  function repeated(caller: Caller, inbound: Inbound | undefined): Repeated | undefined {
    if (inbound === undefined) return undefined
    const alive = (state.inbound.get(nameOf(caller, inbound.messageId)) ?? []).filter(({ at }) => world.now() - at < dayMs)
    const same = alive.find(({ hash }) => hash === inbound.contentHash)
    if (same) return { outcome: 'duplicate', header: row(same.ref).header, seq: same.seq }
    return inbound.strict && alive.length > 0 ? { outcome: 'conflict' } : undefined
  }

  function accept(caller: Caller, inbound: Inbound | undefined, ref: TaskRef, seq: number): void {
    if (inbound === undefined) return
    const key = nameOf(caller, inbound.messageId)
    state.inbound.set(key, [
      ...(state.inbound.get(key) ?? []).filter(({ at }) => world.now() - at < dayMs),
      { hash: inbound.contentHash, at: world.now(), ref, seq },
    ])
  }

  /** `sent` with a message, or by its own operation. */
  function putConfig({ configs, header }: Row, config: StoredPushConfig, sent: { readonly after: number } | undefined): void {
    const known = configs.get(config.id)
    const begins: PushProgress = {
      after: sent?.after ?? header.lastSeq,
      opens: sent === undefined,
      attempts: 0,
      drops: 0,
      state: 'active',
    }
    const goesOn = sent !== undefined && known !== undefined && known.progress.state !== 'ended'
    const { due: _, ...was } = known?.progress ?? begins
    // The only place where one is made.
    const ref = ++state.pushRef as PushRef
    const progress = goesOn ? { ...was, attempts: 0, drops: 0, state: 'active' as const } : begins
    configs.set(config.id, { config, ref, progress, deliveries: known?.deliveries ?? [] })
  }

  const pushesOf = () => state.rows.flatMap((task) => [...task.configs.values()].map((config) => ({ task, ...config })))
  const openOnes = () => pushesOf().filter(({ progress }) => progress.state !== 'ended')

  function tellConfigured(ref: TaskRef): void {
    for (const listener of pushListeners) listener(ref)
  }

  const memoryOf = ({ caller, contextId }: TaskHeader) => state.memory.get(nameOf(caller, contextId)) ?? {}

  function write(
    task: Row,
    { events, memory, pushConfig: _, records = [], holder, waiting, ...numbers }: TaskWrite,
    tell: (run: () => void) => void,
  ): void {
    if (events.length + records.length > 0 && isFinal(task.header)) throw new TypeError('a final task takes no events and no records')
    const after = new Map(task.records)
    for (const { turn = numbers.turn ?? task.header.turn, ...record } of records) {
      if (after.get(recordName(turn, record.key))?.[1].n !== undefined) throw new TypeError('a record is settled once')
      after.set(recordName(turn, record.key), [turn, record])
    }
    const wasRunnable = task.log.length > 0 && isRunnable(task.header)
    state.revision++
    const first = task.header.lastSeq + 1
    const added = events.map((event, i): TaskEvent => ({ seq: first + i, ...lineOf(event) }))
    task.log.push(...added)
    task.header = {
      ...task.header,
      ...numbers,
      lastSeq: task.log.length,
      holder: holder === undefined ? task.header.holder : (holder ?? undefined),
      waiting: waiting === undefined ? task.header.waiting : (waiting ?? undefined),
    }
    for (const event of events) {
      if (!('state' in event)) continue
      task.header = { ...task.header, state: event.state, statusTimestamp: event.timestamp }
      const body: { readonly task?: { readonly status: unknown }; readonly statusUpdate?: { readonly status: unknown } } = JSON.parse(
        event.body,
      )
      const status = JSON.stringify((body.task ?? body.statusUpdate)?.status)
      task.moves.push({ revision: state.revision, at: event.timestamp, state: event.state, status })
    }
    task.records = isFinal(task.header) ? new Map() : after
    if (wasRunnable !== isRunnable(task.header)) {
      became = became.filter((ref) => ref !== task.header.ref)
      if (!wasRunnable) became.push(task.header.ref)
    }
    if (memory) state.memory.set(nameOf(task.header.caller, task.header.contextId), { ...memoryOf(task.header), ...memory })
    const { ref, lastSeq } = task.header
    tell(() => {
      for (const listener of listeners) listener(ref, lastSeq, added)
    })
  }

  const recordsOf = (task: Row, turn: number) => [...task.records.values()].filter(([of]) => of === turn).map(([, record]) => record)
  const finding = (task: Row) => (turn: number, key: string) => task.records.get(recordName(turn, key))?.[1]
  const dueOf = ({ header }: Row) => (isFinal(header) ? undefined : header.waiting?.due)

  function list({ caller, contextId, state: wanted, since, pageSize, from }: ListQuery): ListPage {
    const revision = from?.revision ?? state.revision
    const then = state.rows.flatMap((task) => {
      const at = task.moves.findLast((move) => move.revision <= revision)
      return at && task.header.caller.tenant === caller.tenant && task.header.caller.owner === caller.owner
        ? [{ task, at, id: task.header.id }]
        : []
    })
    const matching = then
      .filter(({ task }) => contextId === undefined || task.header.contextId === contextId)
      .filter(({ at }) => (wanted === undefined || at.state === wanted) && (since === undefined || at.at >= since))
      .sort((a, b) => b.at.at - a.at.at || (a.id < b.id ? 1 : -1))
    const left = matching.filter(({ at, id }) => !from || at.at < from.statusTimestamp || (at.at === from.statusTimestamp && id < from.id))
    const page = left.slice(0, pageSize)
    const last = page.at(-1)
    const total = from?.total ?? matching.length
    const tasks = page.map(({ task, at }) => ({ text: JSON.stringify(fold(task.log.map(({ body }) => body))), status: at.status }))
    return {
      tasks,
      total,
      ...(last && left.length > page.length ? { next: { revision, statusTimestamp: last.at.at, id: last.id, total } } : {}),
    }
  }

  return {
    create: (task, onAccepted) =>
      unit((tell): Created => {
        const { caller, id, contextId, created, holder, inbound, pushConfig, records = [] }: NewTask = task
        const same = repeated(caller, inbound)
        if (same === undefined && state.byName.has(nameOf(caller, id))) throw new TypeError('an id is used once')
        const begin = (): Created => {
          // The only place where a reference is made.
          const ref = (state.rows.length + 1) as TaskRef
          const start = {
            ref,
            caller,
            id,
            contextId,
            state: created.state,
            statusTimestamp: created.timestamp,
            lastSeq: 0,
            attempt: 0,
            turn: 1,
            waiting: undefined,
            inboxSeq: 0,
            sealed: false,
            epoch: holder === undefined ? 0 : 1,
            holder,
          }
          const made: Row = { header: start, log: [], moves: [], configs: new Map(), records: new Map() }
          write(made, { events: [created], records }, tell)
          state.rows.push(made)
          state.byName.set(nameOf(caller, id), made)
          accept(caller, inbound, ref, 1)
          if (pushConfig) {
            putConfig(made, pushConfig, { after: 1 })
            tell(() => tellConfigured(ref))
          }
          return { outcome: 'created', header: made.header, memory: memoryOf(made.header) }
        }
        const outcome = same ?? begin()
        onAccepted?.(outcome)
        return outcome
      }),
    accepted: async (caller, inbound) => repeated(caller, inbound),
    find: async (caller, id) => state.byName.get(nameOf(caller, id))?.header,
    header: async (ref) => state.rows[ref - 1]?.header,
    locate: async (id) => state.rows.find(({ header }) => header.id === id)?.header,
    update: (ref, decide, inbound) =>
      unit((tell) => {
        const task = row(ref)
        const same = repeated(task.header.caller, inbound)
        if (same) return same
        const first = task.header.lastSeq + 1
        const decision = decide(task.header, finding(task))
        if (decision.write) write(task, decision.write, tell)
        if (decision.write?.pushConfig) {
          const place = decision.write.events.findIndex(({ kind }) => kind === 'turn' || kind === 'answer' || kind === 'message')
          putConfig(task, decision.write.pushConfig, { after: place < 0 ? task.header.lastSeq : first + place })
          tell(() => tellConfigured(ref))
        }
        if (task.header.lastSeq >= first) accept(task.header.caller, inbound, ref, first)
        return { outcome: 'updated', header: task.header, result: decision.result }
      }),
    append: (ref, fence, produce) =>
      unit((tell) => {
        const task = row(ref)
        const { epoch, holder, state: now } = task.header
        if (epoch !== fence.epoch || holder !== fence.holder || finalStates.includes(now)) return { outcome: 'fenced' }
        const produced = produce(task.header, finding(task))
        if (produced) write(task, produced, tell)
        return { outcome: 'committed', lastSeq: task.header.lastSeq }
      }),
    claim: (ref, holder) =>
      unit((tell) => {
        const task = row(ref)
        const { header } = task
        const isWaiting = header.waiting !== undefined && (header.waiting.due ?? Number.POSITIVE_INFINITY) > world.now()
        if (header.holder !== undefined || isWaiting || isFinal(header)) return undefined
        write(task, { events: [], holder, epoch: header.epoch + 1 }, tell)
        return { header: task.header, memory: memoryOf(task.header), records: recordsOf(task, header.turn) }
      }),
    records: async (ref, turn) => recordsOf(row(ref), turn),
    read: async (ref) => {
      const { log, header } = row(ref)
      return { text: JSON.stringify(fold(log.map(({ body }) => body))), seq: log.length, state: header.state }
    },
    events: async (ref, after, { maxBytes = 1 << 20, kinds } = {}) => {
      const page: TaskEvent[] = []
      let bytes = 0
      for (const event of row(ref).log.slice(after)) {
        if (kinds && !kinds.includes(event.kind)) continue
        if (page.length > 0 && bytes + event.body.length > maxBytes) break
        page.push(event)
        bytes += event.body.length
      }
      return page
    },
    list: async (query) => list(query),
    unfinished: async ({ after, limit }) =>
      state.rows
        .map(({ header }) => header)
        .filter((header) => header.ref > (after ?? 0) && !isFinal(header))
        .slice(0, limit),
    runnable: async (limit) => state.jobs.slice(0, limit),
    due: async (now, limit) =>
      state.rows
        .map((task) => ({ ref: task.header.ref, due: dueOf(task) ?? Number.POSITIVE_INFINITY }))
        .filter(({ due }) => due <= now)
        .sort((a, b) => a.due - b.due)
        .slice(0, limit)
        .map(({ ref }) => ref),
    nextDue: async () => state.rows.map(dueOf).reduce((a, b) => (a === undefined || (b !== undefined && b < a) ? b : a), undefined),
    putPushConfig: (ref, config) =>
      unit((tell) => {
        putConfig(row(ref), config, undefined)
        tell(() => tellConfigured(ref))
      }),
    getPushConfig: async (ref, id) => row(ref).configs.get(id)?.config,
    listPushConfigs: async (ref, { after, limit }) => {
      const all = [...row(ref).configs.values()].map(({ config }) => config)
      const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1
      return all.slice(start, start + limit)
    },
    deletePushConfig: (ref, id) =>
      unit((tell) => {
        row(ref).configs.delete(id)
        tell(() => tellConfigured(ref))
      }),
    push: async (push) => {
      const found = pushesOf().find(({ ref }) => ref === push)
      if (!found) return undefined
      const { ref, id, state, lastSeq } = found.task.header
      return { task: { ref, id, state, lastSeq }, config: found.config, progress: found.progress }
    },
    pushes: async (ref) =>
      openOnes()
        .filter(({ task }) => task.header.ref === ref)
        .map((one) => one.ref),
    openPushes: async ({ after = 0, limit }) =>
      openOnes()
        .filter(({ ref }) => ref > after)
        .sort((a, b) => a.ref - b.ref)
        .slice(0, limit)
        .map(({ ref, task, progress }) => ({
          push: ref,
          ref: task.header.ref,
          isBehind: progress.opens || progress.after < task.header.lastSeq,
        })),
    advancePush: (push, progress, delivery) =>
      unit(() => {
        const found = pushesOf().find(({ ref }) => ref === push)
        if (!found) return
        const { task, config, deliveries } = found
        const more = delivery ? [{ configId: config.id, ...delivery }] : []
        task.configs.set(config.id, { config, ref: push, progress, deliveries: [...deliveries, ...more].slice(-100) })
      }),
    deliveries: async (ref) => [...row(ref).configs.values()].flatMap(({ deliveries }) => deliveries).sort((a, b) => a.at - b.at),
    secret: async (name) => {
      const secret = secrets.get(name) ?? world.randomBytes(32)
      secrets.set(name, secret)
      return new Uint8Array(secret)
    },
    onCommit(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    onRunnable(listener) {
      runnableListeners.add(listener)
      return () => void runnableListeners.delete(listener)
    },
    onPushConfig(listener) {
      pushListeners.add(listener)
      return () => void pushListeners.delete(listener)
    },
    sealingKey: async () => {
      const key = secrets.get(sealingName) ?? world.randomBytes(32)
      secrets.set(sealingName, key)
      return new Uint8Array(key)
    },
    sealingCheck: async () => {
      const check = secrets.get(checkName)
      return check && new Uint8Array(check)
    },
    keepSealingCheck: async (check) => void secrets.set(checkName, new Uint8Array(check)),
    close: async () => {
      if (!isOpen) return
      isOpen = false
      if (queue.length > 0) commit()
    },
  }
}

// No secrets of these names are asked for.
const sealingName = '\u0000sealing'
const checkName = '\u0000check'

function lineOf(event: NewEvent): Omit<TaskEvent, 'seq'> {
  const { kind, body } = event
  return 'state' in event ? { kind, state: event.state, body } : { kind, body }
}

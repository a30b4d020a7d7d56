/** A database in memory that outlives the stores on it: where tests play what a crash leaves behind. */

import type { OpenOptions, Store, StoreSource } from '../store.js'
import { type Driver, loadSqlite, type Statement } from './driver.js'
import { openSqlite } from './sqlite.js'

/** What becomes of a COMMIT: it takes effect, it fails, or it fails although it took effect. */
export type CommitFate = 'commit' | 'fail' | 'commit and fail'

export interface CrashableMemory extends StoreSource {
  /** COMMITs that took effect in the whole life of the database. */
  readonly commits: number
  /** Called right before the COMMIT that would be number `n`, 1, 2, …; it may call `crash()`. Default: it takes effect. */
  beforeCommit: ((n: number) => CommitFate | undefined) | undefined
  /** Called when COMMIT number `n` has taken effect and nobody knows yet; it may call `crash()`. */
  afterCommit: ((n: number) => void) | undefined
  /**
   * A store on what is committed.
   *
   * @throws {Error} while another one is open
   */
  open(options: OpenOptions): Promise<Store>
  /**
   * The end of the store that is open, as if its process had been killed: what it has not committed is gone, its promises
   * never settle, its listeners hear nothing more, and it writes nothing more. Without one nothing happens.
   */
  crash(): void
}

/** A life of a store; `isOver` once it has crashed. */
interface Life {
  isOver: boolean
}

/** An empty one. It lasts as long as somebody refers to it. */
export function createCrashableMemory(): CrashableMemory {
  let database: Promise<Driver> | undefined
  let opened: Driver | undefined
  let current: Life | undefined
  let sealingKey: Uint8Array | undefined
  let commits = 0

  async function connect(): Promise<Driver> {
    const { open } = await loadSqlite()
    opened = open(':memory:')
    return opened
  }

  function commit(life: Life, statement: Statement): void {
    const fate = memory.beforeCommit?.(commits + 1) ?? 'commit'
    assertAlive(life)
    if (fate === 'fail') throw new Error('this COMMIT fails')
    statement.run()
    commits++
    memory.afterCommit?.(commits)
    assertAlive(life)
    if (fate === 'commit and fail') throw new Error('this COMMIT fails although it took effect')
  }

  const memory: CrashableMemory = {
    get commits() {
      return commits
    },
    beforeCommit: undefined,
    afterCommit: undefined,
    async open({ world }) {
      if (current !== undefined) throw new Error('a store on this database is open: crash() or close() it first')
      const life: Life = { isOver: false }
      current = life
      database ??= connect()
      const leave = () => {
        if (current === life) current = undefined
      }
      try {
        const raw = await database
        // Crashed while it opened: nobody gets a store.
        if (life.isOver) return new Promise(() => {})
        const store = await openSqlite(':memory:', {
          world,
          driver: mortalDriver(life, raw, (statement) => commit(life, statement)),
          sealingKey() {
            sealingKey ??= world.randomBytes(32)
            return new Uint8Array(sealingKey)
          },
        })
        return mortalStore(life, store, leave)
      } catch (cause) {
        leave()
        throw cause
      }
    },
    crash() {
      if (current === undefined) return
      current.isOver = true
      current = undefined
      try {
        opened?.exec('rollback')
      } catch {
        // No transaction was under way.
      }
    },
  }
  return memory
}

function assertAlive({ isOver }: Life): void {
  if (isOver) throw new Error('the process of this store has crashed')
}

function mortalDriver(life: Life, driver: Driver, commit: (statement: Statement) => void): Driver {
  return {
    exec: alive(life, (sql) => driver.exec(sql)),
    prepare(sql) {
      assertAlive(life)
      const statement = driver.prepare(sql)
      return {
        run: alive(life, (...values) => (sql === 'commit' ? commit(statement) : statement.run(...values))),
        get: alive(life, (...values) => statement.get(...values)),
        all: alive(life, (...values) => statement.all(...values)),
        iterate: alive(life, (...values) => statement.iterate(...values)),
      }
    },
    close() {},
  }
}

/** The same function, which throws once the life is over. */
function alive<Values extends readonly unknown[], Result>(life: Life, act: (...values: Values) => Result): (...values: Values) => Result {
  return (...values) => {
    assertAlive(life)
    return act(...values)
  }
}

function mortalStore(life: Life, store: Store, onClosed: () => void): Store {
  /** Follows a promise until the crash; what comes after it is never heard of. */
  const outlived = <Result>(act: () => Promise<Result>): Promise<Result> =>
    new Promise((resolve, reject) => {
      if (life.isOver) return
      const settle =
        <Outcome>(how: (outcome: Outcome) => void) =>
        (outcome: Outcome) =>
          life.isOver || how(outcome)
      act().then(settle(resolve), settle(reject))
    })
  const told =
    <Told extends readonly unknown[]>(listener: (...values: Told) => void) =>
    (...values: Told) =>
      void (life.isOver || listener(...values))

  return {
    create: (task, onAccepted) => outlived(() => store.create(task, onAccepted)),
    accepted: (caller, inbound) => outlived(() => store.accepted(caller, inbound)),
    find: (caller, id) => outlived(() => store.find(caller, id)),
    header: (ref) => outlived(() => store.header(ref)),
    locate: (id) => outlived(() => store.locate(id)),
    update: (ref, decide, inbound) => outlived(() => store.update(ref, decide, inbound)),
    // Another append of the same commit may have been the end.
    append: (ref, fence, produce) => outlived(() => store.append(ref, fence, alive(life, produce))),
    claim: (ref, holder) => outlived(() => store.claim(ref, holder)),
    records: (ref, turn) => outlived(() => store.records(ref, turn)),
    read: (ref) => outlived(() => store.read(ref)),
    events: (ref, after, options) => outlived(() => store.events(ref, after, options)),
    list: (query) => outlived(() => store.list(query)),
    unfinished: (options) => outlived(() => store.unfinished(options)),
    runnable: (limit) => outlived(() => store.runnable(limit)),
    due: (now, limit) => outlived(() => store.due(now, limit)),
    nextDue: () => outlived(() => store.nextDue()),
    putPushConfig: (ref, config) => outlived(() => store.putPushConfig(ref, config)),
    getPushConfig: (ref, id) => outlived(() => store.getPushConfig(ref, id)),
    listPushConfigs: (ref, options) => outlived(() => store.listPushConfigs(ref, options)),
    deletePushConfig: (ref, id) => outlived(() => store.deletePushConfig(ref, id)),
    push: (push) => outlived(() => store.push(push)),
    pushes: (ref) => outlived(() => store.pushes(ref)),
    openPushes: (options) => outlived(() => store.openPushes(options)),
    advancePush: (push, progress, delivery) => outlived(() => store.advancePush(push, progress, delivery)),
    deliveries: (ref) => outlived(() => store.deliveries(ref)),
    secret: (name) => outlived(() => store.secret(name)),
    onCommit: (listener) => store.onCommit(told(listener)),
    onRunnable: (listener) => store.onRunnable(told(listener)),
    onPushConfig: (listener) => store.onPushConfig(told(listener)),
    sealingKey: (options) => outlived(() => store.sealingKey(options)),
    sealingCheck: () => outlived(() => store.sealingCheck()),
    keepSealingCheck: (check) => outlived(() => store.keepSealingCheck(check)),
    close: () => outlived(() => store.close().finally(onClosed)),
  }
}

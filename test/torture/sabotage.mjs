/** Defects planted in the store or in the connection that it writes through, for seeing that the torture finds them. */

import { isFinal } from '../../dist/src/protocol/states.js'
import { kindOf, stateOf } from '../../dist/src/store/sqlite/rows.js'
import { openSqlite } from '../../dist/src/store/sqlite/sqlite.js'

const lateMs = 30

/** Each takes the connection and gives back a worse one. */
const worseDrivers = {
  /** Promises settle while the transaction is still open; it is committed a little later. */
  'ack-before-commit'(driver) {
    let isOpen = false
    let late
    const begin = driver.prepare('begin immediate')
    const commit = driver.prepare('commit')
    const finish = () => {
      clearTimeout(late)
      late = undefined
      if (isOpen) commit.run()
      isOpen = false
    }
    return {
      ...through(driver, {
        'begin immediate'() {
          if (!isOpen) begin.run()
          isOpen = true
        },
        commit() {
          late ??= setTimeout(finish, lateMs)
        },
      }),
      close() {
        finish()
        driver.close()
      },
    }
  },

  /** Every statement is a transaction of its own. */
  'no-transactions': (driver) => through(driver, { 'begin immediate'() {}, commit() {} }),

  /** Which messages were accepted is not kept. */
  'forgotten-messages': (driver) => through(driver, { 'insert or replace into inbound': () => {} }),

  /** Whatever ends a task is written twice. */
  'double-final': (driver) =>
    through(driver, {
      'insert into task_event'([task, seq, epoch, kind, timestamp, ...rest], insert) {
        insert.run(task, seq, epoch, kind, timestamp, ...rest)
        if (kindOf(kind) === 'status' && isFinal(stateOf(kind & 7))) insert.run(task, seq + 1, epoch, kind, timestamp + 1, ...rest)
      },
    }),
}

/** Each takes the store and gives back a worse one. */
const worseStores = {
  /** A run writes whatever the header says. */
  'no-fence': (store) => ({
    ...store,
    async append(ref, fence, produce) {
      const { epoch, holder } = (await store.header(ref)) ?? fence
      return store.append(ref, { epoch, holder }, produce)
    },
  }),

  /** An answer is accepted, and its question's record does not hear of it. */
  'lost-answer': (store) => ({
    ...store,
    update: (ref, decide, inbound) => store.update(ref, (header, find) => withoutRecord(decide(header, find)), inbound),
  }),

  /** How far a receiver has been told moves on, and nobody tells it. */
  'skip-push': (store) => ({
    ...store,
    async push(ref) {
      const found = await store.push(ref)
      if (!found || !isToSkip(found)) return found
      const progress = { ...found.progress, after: found.progress.after + 1 }
      await store.advancePush(ref, progress)
      return { ...found, progress }
    },
  }),
}

function isToSkip({ task, progress: { opens, after, attempts, state } }) {
  return state === 'active' && !opens && attempts === 0 && after + 1 < task.lastSeq && Math.random() < 0.1
}

function withoutRecord(decision) {
  const isAnswer = decision.write?.events.some(({ kind }) => kind === 'answer')
  return isAnswer ? { ...decision, write: { ...decision.write, records: [] } } : decision
}

/** The connection with other deeds for the statements that begin with a given text: each gets the values and the statement. */
function through(driver, instead) {
  return {
    exec: (sql) => driver.exec(sql),
    close: () => driver.close(),
    prepare(sql) {
      const statement = driver.prepare(sql)
      const found = Object.keys(instead).find((start) => sql.startsWith(start))
      if (found === undefined) return statement
      return {
        run: (...values) => instead[found](values, statement),
        get: (...values) => statement.get(...values),
        all: (...values) => statement.all(...values),
      }
    },
  }
}

/** A store on `file` with the defect of that name. */
export function sabotaged(file, name) {
  const wrap = worseDrivers[name]
  const worsen = worseStores[name]
  if (wrap === undefined && worsen === undefined)
    throw new TypeError(`there is no sabotage ${name}; there are ${[...Object.keys(worseDrivers), ...Object.keys(worseStores)].join(', ')}`)
  return {
    async open({ world }) {
      const store = await openSqlite(file, { world, ...(wrap && { wrap }) })
      return worsen?.(store) ?? store
    },
  }
}

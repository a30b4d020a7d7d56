/** Defects planted in the connection that writes, for seeing that the torture finds them. */

import { openSqlite } from '../../dist/src/store/sqlite/sqlite.js'

const lateMs = 30

/** Each takes the connection and gives back a worse one. */
const sabotages = {
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
}

/** The connection with other deeds for the statements that begin with a given text. */
function through(driver, instead) {
  return {
    exec: (sql) => driver.exec(sql),
    close: () => driver.close(),
    prepare(sql) {
      const statement = driver.prepare(sql)
      const found = Object.keys(instead).find((start) => sql.startsWith(start))
      if (found === undefined) return statement
      return { run: instead[found], get: (...values) => statement.get(...values), all: (...values) => statement.all(...values) }
    },
  }
}

/** A store on `file` with the defect of that name. */
export function sabotaged(file, name) {
  const wrap = sabotages[name]
  if (wrap === undefined) throw new TypeError(`there is no sabotage ${name}; there are ${Object.keys(sabotages).join(', ')}`)
  return { open: ({ world }) => openSqlite(file, { world, wrap }) }
}

/** Single numbers that belong to the whole store, kept in memory and written when they change. */

import type { Driver } from './driver.js'

export interface StoredNumber {
  get(): number
  /** Inside a transaction; `keep` or `forget` follows. */
  write(value: number): void
  keep(): void
  forget(): void
}

export function storedNumber(driver: Driver, name: string, initial: number): StoredNumber {
  const upsert = driver.prepare('insert into number(name, value) values (?, ?) on conflict do update set value = excluded.value')
  const select = driver.prepare('select value from number where name = ?')
  const row = select.get(name)
  // Written at once: a beginning that moved with every restart would be none.
  if (row === undefined) upsert.run(name, initial)
  let value: number | undefined = row === undefined ? initial : Number(row['value'])
  let written: number | undefined
  return {
    get: () => (value ??= Number(select.get(name)?.['value'])),
    write(next) {
      upsert.run(name, next)
      written = next
    },
    keep() {
      value = written ?? value
      written = undefined
    },
    forget() {
      // Read again when it is next asked for: a commit that failed may have taken effect all the same.
      if (written !== undefined) value = undefined
      written = undefined
    },
  }
}

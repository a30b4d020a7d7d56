/** Numbers and measurements as people read them. */

import { isAsPredicted, nameOf, type Row } from './model.js'

/** `77,964` */
export const spelled = (count: number) => count.toLocaleString('en')

export const counted = (count: number, thing: string) => `${spelled(count)} ${thing}${count === 1 ? '' : 's'}`

export const lateText = (lateSeconds: number) => (lateSeconds === 0 ? 'on time' : `${spelled(lateSeconds)} s late`)

/** `a, b and c` */
export const listed = (words: readonly string[]) => [words.slice(0, -1).join(', '), ...words.slice(-1)].filter(Boolean).join(' and ')

/** The rows of each length of job, in the order in which they were measured. */
export function byJob<T>(
  all: readonly T[],
  rowOf: (one: T) => Row,
): readonly { readonly jobSeconds: number; readonly all: readonly T[] }[] {
  const lengths = [...new Set(all.map((one) => rowOf(one).jobSeconds))]
  return lengths.map((jobSeconds) => ({ jobSeconds, all: all.filter((one) => rowOf(one).jobSeconds === jobSeconds) }))
}

/** How the measurements and the model agree. */
export function verdict(rows: readonly Row[]): string {
  const others = rows.filter((row) => !isAsPredicted(row)).map((row) => `${nameOf(row)}, job of ${row.jobSeconds} s`)
  if (others.length === 0) return `All ${rows.length} measurements have the requests and the lateness of the model.`
  return `${rows.length - others.length} of ${rows.length} measurements have the requests and the lateness of the model. Not so: ${others.join('; ')}.`
}

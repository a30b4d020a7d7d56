/** The memory of a context as a turn sees it: as it was at the first look, on every rerun. */

import type { Json } from '../protocol/wire.js'
import type { LeftRecord } from './ledger.js'
import type { ContextBody } from './record-bodies.js'
import type { RunWriter } from './run-writer.js'

interface ContextViewOptions {
  /** As it is now. */
  readonly memory: Readonly<Record<string, Json>>
  readonly records: readonly LeftRecord[]
  readonly writer: RunWriter
  readonly isSealed: () => boolean
  readonly encode: (key: string, body: object) => Promise<string>
  /** What was seen cannot be recorded. */
  readonly fail: (error: unknown) => void
}

const key = 'context'

export interface ContextView {
  /** The first look leaves a record. */
  look(): Readonly<Record<string, Json>>
  /** Seals what a look would record: sealing takes time, and the record has to go with the very next commit. */
  prepare(): Promise<void>
}

export function createContextView({ memory, records, writer, isSealed, encode, fail }: ContextViewOptions): ContextView {
  const left = records.find(({ kind }) => kind === 'context')
  const body: ContextBody = { memory }
  let sealed: string | undefined
  let seen: Readonly<Record<string, Json>> | undefined

  function record(body: string): void {
    // To look is not to work: the task may still be declined.
    writer.put((draft) => draft.record({ kind: 'context', key, body }))
  }

  return {
    look() {
      if (seen) return seen
      // Only this function writes it.
      seen = left ? (left.body as ContextBody).memory : memory
      if (left) return seen
      if (!isSealed()) record(JSON.stringify(body))
      else if (sealed !== undefined) record(sealed)
      else encode(key, body).then(record).catch(fail)
      return seen
    },
    async prepare() {
      if (!left && !seen) sealed ??= await encode(key, body)
    },
  }
}

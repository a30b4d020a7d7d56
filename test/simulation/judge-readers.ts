/** Invariant 6: a reader that resumes anywhere sees each later event once, in order. */

import { fold } from '../../src/task/fold.js'
import type { History } from './history.js'
import type { Told } from './oracles.js'

const frameKinds = new Set(['created', 'status', 'artifact'])

export function judgeReaders({ callers, violate }: History, { id, place, log }: Told): void {
  for (const reader of callers.readers) {
    if (reader.place !== place) continue
    const [first, ...later] = reader.frames
    if (!first) continue
    // The first frame is the task as it was by that number.
    if (JSON.stringify(first.data.task) !== JSON.stringify(fold(undefined, log.slice(0, first.seq))))
      violate(`a stream of task ${id} began with what it never was: ${JSON.stringify(first)}`)
    const due = log.filter(({ seq, kind }) => seq > first.seq && frameKinds.has(kind))
    const seen = later.map(({ seq }) => seq)
    if (seen.length !== due.length || due.some(({ seq, body }, at) => seq !== seen[at] || body !== JSON.stringify(later[at]?.data)))
      violate(`a reader of task ${id} from ${first.seq} on saw ${seen} and not ${due.map(({ seq }) => seq)}`)
  }
}

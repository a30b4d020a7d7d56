/** Laws of the headers that hold after every COMMIT. */

import type { Store, TaskHeader } from '../../src/store/store.js'

export interface Watch {
  /** Reads what is committed at once, and judges it soon. */
  look(store: Store): Promise<void>
}

const stateOfWaiting = {
  turn: 'TASK_STATE_INPUT_REQUIRED',
  ask: 'TASK_STATE_INPUT_REQUIRED',
  authorize: 'TASK_STATE_AUTH_REQUIRED',
  wait: 'TASK_STATE_WORKING',
  sleep: 'TASK_STATE_WORKING',
} as const

export function watchHeaders(violate: (what: string) => void): Watch {
  const seen = new Map<string, TaskHeader>()
  return {
    async look(store) {
      const [headers, runnable] = await Promise.all([store.unfinished({ limit: 1000 }), store.runnable(1000)])
      const jobs = new Set(runnable)
      for (const header of headers) {
        const { id, ref, holder, waiting, state, epoch } = header
        const isRunnable = holder === undefined && waiting === undefined
        // Without a job row nobody would ever take it up.
        if (isRunnable !== jobs.delete(ref))
          violate(`task ${id} ${isRunnable ? 'is runnable without a job row' : 'has a job row and is not runnable'}`)
        const due = waiting ? stateOfWaiting[waiting.kind] : undefined
        if (due ? state !== due : /REQUIRED/.test(state)) violate(`task ${id} is ${state} and waits for ${waiting?.kind}`)
        const before = seen.get(id)
        seen.set(id, header)
        if (!before) continue
        if (epoch < before.epoch) violate(`the epoch of task ${id} fell`)
        if (epoch === before.epoch && holder !== undefined && holder !== before.holder)
          violate(`task ${id} changed hands within epoch ${epoch}`)
        if (header.lastSeq < before.lastSeq) violate(`the log of task ${id} shrank`)
      }
      for (const ref of jobs) violate(`there is a job row without its task ${ref}`)
    },
  }
}

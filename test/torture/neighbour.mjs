/**
 * A second runtime over the same store object, as another process would be: it takes up what is handed over to it and nothing
 * else. The run that had the task goes on, and has to find out that it lost it.
 */

import { bearerTokens, createServer } from '../../dist/src/index.js'

/**
 * @param store that is open already
 * @param tell wraps what the neighbour sees of it
 */
export function createNeighbour(store, tell) {
  const handed = new Set()
  const own = (refs) => refs.filter((ref) => handed.has(ref))

  /** What the first runtime sees: it leaves alone what was handed over. */
  const first = {
    ...store,
    runnable: async (limit) => (await store.runnable(limit + handed.size)).filter((ref) => !handed.has(ref)).slice(0, limit),
    onRunnable: (listener) => store.onRunnable((ref) => !handed.has(ref) && listener(ref)),
  }

  const second = {
    ...store,
    // What a dead process held is taken over once, by the first.
    unfinished: async () => [],
    runnable: async (limit) => own(await store.runnable(1e6)).slice(0, limit),
    due: async (now) => own(await store.due(now, 1e6)),
    onRunnable: (listener) => store.onRunnable((ref) => handed.has(ref) && listener(ref)),
    close: async () => {},
  }

  return {
    first,
    /** Starts it; `options` are those of a server. */
    open: (agent, options) =>
      createServer(agent, {
        ...options,
        store: { open: async () => tell(second) },
        url: 'http://127.0.0.1',
        auth: bearerTokens({ alice: 'alice' }),
      }),
    /** Takes a task away from whoever holds it. Settles with whether somebody did. */
    async takeOver(taskId) {
      const found = await store.locate(taskId)
      if (!found) return false
      const { result } = await store.update(found.ref, ({ holder }) => {
        if (holder === undefined) return { result: false }
        handed.add(found.ref)
        return { result: true, write: { events: [], holder: null } }
      })
      return result
    },
  }
}

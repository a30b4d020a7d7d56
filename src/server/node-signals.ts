/** What the operator of a process tells it by signals. */

import { systemWorld } from '../support/world.js'

/** npm passes on the Ctrl-C that the terminal sent to all of its processes: so soon after the first, a second one is the same. */
const sameMs = 200

/**
 * On SIGTERM or SIGINT closes the server and ends the process with 0. A second signal does not wait for that, and ends it
 * with 1: whatever was not done is taken up at the next start.
 */
export function closeOnSignals(server: { close(): Promise<void> }): void {
  let first: number | undefined
  const end = async () => {
    first = systemWorld.now()
    await server.close()
    process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      // Where closing fails, the process ends as it does for any error that nobody handles.
      if (first === undefined) void end()
      else if (signal === 'SIGTERM' || systemWorld.now() - first > sameMs) process.exit(1)
    })
  }
}

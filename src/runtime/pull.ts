/** Takes one output after the other from an agent's function. */

import { type Output, outputOf } from './output.js'

interface PullOptions {
  /** @throws where the output is not allowed */
  readonly put: (output: Output) => void
  readonly isStopped: () => boolean
  /** Awaited before the next output is asked for. */
  readonly room: () => Promise<void>
  /** Rejects with the error that the function is to get, when the function may get it. */
  readonly refuse: (error: unknown) => Promise<never>
}

/** What the function returns in the end. An output that is not allowed is thrown into it, and it may catch that. */
export async function pull(outputs: AsyncGenerator | Generator, { put, isStopped, room, refuse }: PullOptions): Promise<unknown> {
  let step = await outputs.next()
  while (!step.done) {
    if (isStopped()) {
      // The function's own `finally` still runs; what it returns or throws concerns nobody.
      await outputs.return(undefined)
      return undefined
    }
    try {
      put(outputOf(step.value))
    } catch (error) {
      await refuse(error).catch(() => undefined)
      if (!isStopped()) step = await outputs.throw(error)
      continue
    }
    await room()
    step = await outputs.next()
  }
  return step.value
}

/** When a request may be made once more, and how long to wait before. */

import { A2AError } from '../protocol/errors.js'
import { sleep, type World } from '../support/world.js'
import { ConnectionError, neverArrived } from './errors.js'
import type { Line } from './exchange.js'

/** `repeatable`: doing it twice is no more than doing it once. */
export function mayRetry(error: unknown, repeatable: boolean): boolean {
  if (error instanceof ConnectionError) return repeatable || neverArrived(error)
  if (!(error instanceof A2AError)) return false
  // An answer of 503 or 429 says that nothing was done; other words of a gateway say nothing of the kind.
  return error.httpStatus === 503 || error.httpStatus === 429 || (repeatable && error.name === 'UnavailableError')
}

const firstMs = 500
const longestMs = 30_000
/** A peer that asks for a longer pause is not waited for. */
export const longestRetryAfterMs = 120_000

/** Milliseconds before try `attempt` (1, 2, …): doubling, with chance, and never before the peer said. */
export function backoffMs(world: World, attempt: number, error?: unknown, base = firstMs): number {
  const chance = (world.randomBytes(1)[0] ?? 0) / 256
  const own = Math.min(longestMs, base * 2 ** (attempt - 1)) * (0.5 + chance / 2)
  const asked = error instanceof A2AError ? (error.retryAfterSeconds ?? 0) * 1000 : 0
  if (asked > longestRetryAfterMs) throw error
  return Math.max(own, asked)
}

/** Waits, and keeps the process alive meanwhile: no socket is open. */
export function pause(world: World, ms: number, signal?: AbortSignal): Promise<void> {
  return sleep(world, ms, signal, { holds: true })
}

/** The result of `run`, tried as often as the limits allow where that is safe. */
export async function withRetries<T>(
  { world, limits }: Line,
  run: () => Promise<T>,
  { repeatable, signal }: { readonly repeatable: boolean; readonly signal: AbortSignal | undefined },
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (attempt > limits.retries || !mayRetry(error, repeatable)) throw error
      await pause(world, backoffMs(world, attempt, error), signal)
    }
  }
}

/**
 * How many posts are under way at a time, so that no receiver keeps others from being told.
 *
 *   waiting ──► quick ──► slow (no answer yet: its place is somebody else's)
 *                 └──► over ◄──┘
 *
 * Those that fail wait behind those that do not, and hosts take turns.
 */

import type { World } from '../support/world.js'

export interface PlaceLimits {
  /** Posts without an answer for less than `slowMs`: in all, and to one host. */
  readonly quick: number
  readonly quickOfHost: number
  /** Posts in all, and to one host. */
  readonly open: number
  readonly openOfHost: number
  readonly slowMs: number
}

/** With 1,000 posts to one host that hangs, the thousandth begins after 300 ms; sockets are no scarce good below a few thousand. */
export const placeLimits: PlaceLimits = Object.freeze({ quick: 512, quickOfHost: 256, open: 4096, openOfHost: 1024, slowMs: 100 })

/** What is posted is in memory until the receiver has taken it; a large one may be megabytes. */
export const largePlaceLimits: PlaceLimits = Object.freeze({ quick: 16, quickOfHost: 4, open: 64, openOfHost: 8, slowMs: 100 })

export interface Places {
  /**
   * Waits for a place for a post to `host`, and gives the function that gives it back.
   *
   * @throws the signal's reason once it is aborted
   */
  take(host: string, options: TakeOptions): Promise<() => void>
}

interface TakeOptions {
  /** Its last attempt failed. */
  readonly isFailing: boolean
  readonly signal: AbortSignal
}

interface Host {
  quick: number
  open: number
  /** Those that do not fail first. */
  readonly waiting: readonly [Set<() => void>, Set<() => void>]
}

export function createPlaces(world: World, limits: PlaceLimits): Places {
  const hosts = new Map<string, Host>()
  let quick = 0
  let open = 0
  let waiting = 0

  function hostOf(name: string): Host {
    const host = hosts.get(name) ?? { quick: 0, open: 0, waiting: [new Set(), new Set()] as const }
    hosts.set(name, host)
    return host
  }

  function isFree(host: Host): boolean {
    const isQuick = quick < limits.quick && host.quick < limits.quickOfHost
    return isQuick && open < limits.open && host.open < limits.openOfHost
  }

  function enter(host: Host): void {
    quick++
    open++
    host.quick++
    host.open++
  }

  function letIn(): void {
    for (const rank of [0, 1] as const) {
      for (const [name, host] of hosts) {
        if (waiting === 0 || quick >= limits.quick || open >= limits.open) return
        const [first] = host.waiting[rank]
        if (first === undefined || !isFree(host)) continue
        host.waiting[rank].delete(first)
        // To the end of the line of hosts; the loop comes by again.
        hosts.delete(name)
        hosts.set(name, host)
        enter(host)
        first()
      }
    }
  }

  function begin(name: string, host: Host): () => void {
    let isQuick = true
    const beSlow = () => {
      if (!isQuick) return
      isQuick = false
      quick--
      host.quick--
    }
    const clear = world.timer(limits.slowMs, () => {
      beSlow()
      letIn()
    })
    return () => {
      clear()
      beSlow()
      open--
      host.open--
      letIn()
      if (host.open === 0 && host.waiting.every(({ size }) => size === 0)) hosts.delete(name)
    }
  }

  return {
    async take(name, { isFailing, signal }) {
      signal.throwIfAborted()
      const host = hostOf(name)
      const line = host.waiting[isFailing ? 1 : 0]
      if (line.size === 0 && isFree(host)) enter(host)
      else {
        waiting++
        await new Promise<void>((resolve, reject) => {
          const come = () => {
            signal.removeEventListener('abort', leave)
            resolve()
          }
          const leave = () => {
            line.delete(come)
            reject(signal.reason)
          }
          line.add(come)
          signal.addEventListener('abort', leave, { once: true })
        }).finally(() => waiting--)
      }
      return begin(name, host)
    },
  }
}

/** The world outside: time, chance and the event loop. Everything that needs one of them takes a `World`. */

export interface World {
  /** Wall-clock time in milliseconds since the epoch. */
  now(): number
  /**
   * Calls `fire` once after `ms`; the returned function takes it back. A pending timer is no reason for the process to
   * stay, unless `holds` says so.
   */
  timer(ms: number, fire: () => void, options?: TimerOptions): () => void
  /** Calls `run` at the end of this turn of the event loop, after its promises have settled. */
  defer(run: () => void): void
  /** `length` unpredictable bytes. */
  randomBytes(length: number): Uint8Array
  /**
   * Does `work` that goes on outside of the event loop, such as WebCrypto. Default: does it. A world for tests lets nothing
   * else happen meanwhile, so that one seed gives one history.
   */
  outside?<T>(work: () => Promise<T>): Promise<T>
}

export interface TimerOptions {
  /** The process stays until the timer has fired or was taken back. Default false. */
  readonly holds?: boolean
}

/** setTimeout takes a longer one for 1 ms. */
const longestTimeoutMs = 2 ** 31 - 1

/** The real clock, timers and random source. */
export const systemWorld: World = Object.freeze({
  now: () => Date.now(),
  timer(ms: number, fire: () => void, { holds = false }: TimerOptions = {}) {
    let handle: ReturnType<typeof setTimeout>
    const arm = (left: number) => {
      const now = Math.min(left, longestTimeoutMs)
      handle = setTimeout(() => (left > now ? arm(left - now) : fire()), now)
      if (typeof handle === 'object' && !holds) handle.unref()
    }
    arm(ms)
    return () => clearTimeout(handle)
  },
  defer: typeof setImmediate === 'function' ? (run: () => void) => void setImmediate(run) : (run: () => void) => void setTimeout(run, 0),
  randomBytes: pooledRandomBytes(4096),
})

/** Random bytes by the pool: a call of the system costs more than the few bytes that an id takes. Each byte is given out once. */
function pooledRandomBytes(size: number): World['randomBytes'] {
  const pool = new Uint8Array(size)
  let used = size
  return (length) => {
    if (length > size / 4) return crypto.getRandomValues(new Uint8Array(length))
    if (used + length > size) {
      crypto.getRandomValues(pool)
      used = 0
    }
    used += length
    const bytes = pool.slice(used - length, used)
    pool.fill(0, used - length, used)
    return bytes
  }
}

/**
 * Waits `ms` by the world's clock.
 *
 * @throws the signal's reason when it is aborted first
 */
export function sleep(world: World, ms: number, signal?: AbortSignal, options?: TimerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const onAbort = () => {
      takeBack()
      reject(signal?.reason)
    }
    const fire = () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }
    const takeBack = world.timer(ms, fire, options)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** A UUID of version 7 (RFC 9562 §5.7): 48 bits of time, so that keys grow in order, and 74 bits nobody can guess. */
export function uuid(world: World): string {
  const bytes = world.randomBytes(16)
  const now = world.now()
  // The 48-bit time does not fit JavaScript's 32-bit operators.
  const high = Math.floor(now / 0x1_0000)
  bytes[0] = high >>> 24
  bytes[1] = high >>> 16
  bytes[2] = high >>> 8
  bytes[3] = high
  bytes[4] = now >>> 8
  bytes[5] = now
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  let text = ''
  for (let i = 0; i < 16; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) text += '-'
    text += hex[bytes[i] ?? 0]
  }
  return text
}

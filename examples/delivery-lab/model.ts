/** What arithmetic says of each way to learn of the end of a job, and the figures that were published before. */

/** A way to learn that a job has finished. */
export type Mechanism =
  | { readonly mechanism: 'poll'; readonly everySeconds: number }
  | { readonly mechanism: 'blocking' | 'stream' | 'stream-cut' | 'push'; readonly everySeconds: null }

/** One measurement; its members are those of the JSON. */
export type Row = Mechanism & {
  readonly jobSeconds: number
  /** Of the caller to the agent. */
  readonly requests: number
  /** Of the agent to the caller. */
  readonly posts: number
  /** That came by streams. */
  readonly events: number
  readonly bytes: number
  /** Between the end of the job and the moment at which the caller knew. */
  readonly lateSeconds: number
  readonly modelRequests: number
  readonly modelLateSeconds: number
}

export interface Prediction {
  readonly requests: number
  readonly lateSeconds: number
}

/**
 * A poller sends, looks at once, and again after each `p` seconds up to the first look at the end of the job or after it:
 * ⌈T/p⌉ + 2 requests, and p·⌈T/p⌉ − T seconds late. Whoever is told knows at once; a stream that is cut is asked for once more.
 */
export function predict({ mechanism, everySeconds: p }: Mechanism, jobSeconds: number): Prediction {
  if (p === null) return { requests: mechanism === 'stream-cut' ? 2 : 1, lateSeconds: 0 }
  const looks = Math.ceil(jobSeconds / p)
  return { requests: looks + 2, lateSeconds: p * looks - jobSeconds }
}

export const isAsPredicted = (row: Row) => row.requests === row.modelRequests && row.lateSeconds === row.modelLateSeconds

export function nameOf({ mechanism, everySeconds }: Mechanism): string {
  if (mechanism === 'poll') return `poll every ${everySeconds} s`
  return { blocking: 'blocking send', stream: 'stream', 'stream-cut': 'stream, cut once', push: 'push' }[mechanism]
}

export type Published = Mechanism &
  Prediction & {
    readonly bytes: number
    /** What was counted beside requests, in words. */
    readonly told?: string
  }

/** The length of job that the published figures are labelled with, and the one that their counts fit. */
export const publishedFor = Object.freeze({ label: 20, fits: 100 })

export const published: readonly Published[] = [
  { mechanism: 'poll', everySeconds: 1, requests: 102, bytes: 77_964, lateSeconds: 0 },
  { mechanism: 'poll', everySeconds: 7, requests: 17, bytes: 13_415, lateSeconds: 5 },
  { mechanism: 'poll', everySeconds: 30, requests: 6, bytes: 5_031, lateSeconds: 20 },
  { mechanism: 'stream', everySeconds: null, requests: 1, bytes: 2_373, lateSeconds: 0, told: '6 events' },
  { mechanism: 'push', everySeconds: null, requests: 1, bytes: 2_578, lateSeconds: 0, told: '5 posts' },
]

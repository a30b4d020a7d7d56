/** The process that is killed: starts a server of its own, listens to what it says, and ends it by its pid. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Victim {
  /**
   * Lets it open its file, which nobody else may have by then: the rest of a start takes place before. Settles with the
   * base URL, or undefined when the process ended before it listened.
   *
   * @param onReceived the server has a message and has not begun to write it
   */
  open(onReceived?: (messageId: string) => void): Promise<string | undefined>
  /** Gives the signal `go` to a task. Settles with `kept`, with the name of the error, or undefined when the process has ended. */
  signal(taskId: string, value: string): Promise<string | undefined>
  /** Hands a task to another runtime; the run that had it goes on. */
  takeOver(taskId: string): void
  /** Settles when every receiver of pushes has been told all that it has to be told, or the process has ended. */
  pushed(): Promise<void>
  /** SIGKILL, at once. */
  kill(): void
  /** SIGTERM. */
  stop(): void
  /** Whether it was told to end: from then on it may break off, or refuse whatever is asked. */
  readonly isEnding: boolean
  /** The process is gone and all it said has been read; its exit code, if it had one. */
  readonly gone: Promise<number | null>
  /** Error lines of its log. */
  readonly complaints: readonly string[]
  /** Runs that have begun and were neither stopped nor have ended, by their tasks. */
  readonly live: ReadonlyMap<string, ReadonlySet<string>>
  /** The run of each task that began last, unless it was taken away from this process. */
  readonly latest: ReadonlyMap<string, string>
  /** The epoch of each run that has begun. */
  readonly epochs: ReadonlyMap<string, number>
  /** What has happened in it so far. */
  readonly counts: { readonly runs: number; readonly takeovers: number; readonly evictions: number }
}

export interface VictimOptions {
  readonly file: string
  readonly sabotage?: string | undefined
  /** Without it nobody is told anything. */
  readonly push?: { readonly origins: readonly string[]; readonly coalesces: boolean } | undefined
}

const script = fileURLToPath(new URL('server.mjs', import.meta.url))
const pinoError = 50

export function startVictim({ file, sabotage, push }: VictimOptions): Victim {
  const options = [
    ...(sabotage === undefined ? [] : ['--sabotage', sabotage]),
    ...(push?.origins ?? []).flatMap((origin) => ['--receiver', origin]),
    ...(push?.coalesces ? ['--coalesce'] : []),
  ]
  const child = spawn(process.execPath, [script, file, ...options], { env: { PATH: process.env['PATH'] } })
  const complaints: string[] = []
  const live = new Map<string, Set<string>>()
  const epochs = new Map<string, number>()
  const latest = new Map<string, string>()
  const claimed = new Map<string, number>()
  const claimedNext = new Map<string, number>()
  const counts = { runs: 0, takeovers: 0, evictions: 0 }
  const signals = new Map<string, (outcome: string | undefined) => void>()
  let isEnding = false
  let listening: (url: string | undefined) => void = () => {}
  let received: (messageId: string) => void = () => {}
  const url = new Promise<string | undefined>((resolve) => {
    listening = resolve
  })
  let onPushed = () => {}
  const say = (line: string) => void child.stdin.write(`${line}\n`)
  const words: Readonly<Record<string, (first: string, second: string, third: string) => void>> = {
    received: (messageId) => received(messageId),
    listening: (at) => listening(at),
    signal: (id, outcome) => signals.get(id)?.(outcome),
    pushed: () => onPushed(),
    takeover: () => counts.takeovers++,
    claimed: (taskId, epoch) => void claimed.set(taskId, Number(epoch)),
    begun(taskId, run) {
      counts.runs++
      // A task that is claimed as it is made is in its first.
      latest.set(taskId, run)
      epochs.set(run, claimed.get(taskId) ?? 1)
      const runs = live.get(taskId) ?? new Set()
      live.set(taskId, runs.add(run))
    },
    stopped(taskId, run, reason) {
      if (reason === 'evicted') counts.evictions++
      live.get(taskId)?.delete(run)
    },
    // Nobody can tell its runs of a cancel that came in elsewhere: they find out by themselves.
    neighbour(word, taskId, more) {
      if (word === 'claimed') claimedNext.set(taskId, Number(more))
      if (word !== 'begun') return
      counts.runs++
      epochs.set(more, claimedNext.get(taskId) ?? 0)
      latest.delete(taskId)
    },
    ended: (taskId, run) => void live.get(taskId)?.delete(run),
  }
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [word = '', first = '', second = '', third = ''] = line.split(' ')
    words[word]?.(first, second, third)
  })
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (isComplaint(line)) complaints.push(line)
  })
  const gone = ended(child).finally(() => {
    listening(undefined)
    for (const settle of signals.values()) settle(undefined)
  })
  // It may be gone before it has read the line.
  child.stdin.on('error', () => {})
  return {
    open(onReceived = () => {}) {
      received = onReceived
      say('open')
      return url
    },
    signal(taskId, value) {
      const id = String(signals.size)
      const settled = new Promise<string | undefined>((resolve) => void signals.set(id, resolve))
      say(`signal ${id} ${taskId} ${value}`)
      return Promise.race([settled, gone.then(() => undefined)])
    },
    takeOver: (taskId) => say(`takeover ${taskId}`),
    pushed() {
      const told = new Promise<void>((resolve) => {
        onPushed = resolve
      })
      say('pushed')
      return Promise.race([told, gone.then(() => {})])
    },
    complaints,
    live,
    latest,
    epochs,
    counts,
    gone,
    get isEnding() {
      return isEnding
    },
    kill() {
      isEnding = true
      child.kill('SIGKILL')
    },
    stop() {
      isEnding = true
      child.kill('SIGTERM')
    },
  }
}

/** Waits for the end of the streams too. */
async function ended(child: ChildProcess): Promise<number | null> {
  const [code] = await once(child, 'close')
  return code
}

function isComplaint(line: string): boolean {
  try {
    return JSON.parse(line).level >= pinoError
  } catch {
    return line !== ''
  }
}

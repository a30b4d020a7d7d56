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
  /** SIGKILL, at once. */
  kill(): void
  readonly isKilled: boolean
  /** SIGTERM. */
  stop(): void
  /** The process is gone and all it said has been read; its exit code, if it had one. */
  readonly gone: Promise<number | null>
  /** Error lines of its log. */
  readonly complaints: readonly string[]
}

export interface VictimOptions {
  readonly file: string
  readonly sabotage?: string | undefined
}

const script = fileURLToPath(new URL('server.mjs', import.meta.url))
const pinoError = 50

export function startVictim({ file, sabotage }: VictimOptions): Victim {
  const child = spawn(process.execPath, [script, file, ...(sabotage === undefined ? [] : [sabotage])], {
    env: { PATH: process.env['PATH'] },
  })
  const complaints: string[] = []
  let isKilled = false
  let listening: (url: string | undefined) => void = () => {}
  let received: (messageId: string) => void = () => {}
  const url = new Promise<string | undefined>((resolve) => {
    listening = resolve
  })
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [word, rest = ''] = line.split(' ')
    if (word === 'received') received(rest)
    if (word === 'listening') listening(rest)
  })
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (isComplaint(line)) complaints.push(line)
  })
  const gone = ended(child).finally(() => listening(undefined))
  // It may be gone before it has read the line.
  child.stdin.on('error', () => {})
  return {
    open(onReceived = () => {}) {
      received = onReceived
      child.stdin.write('open\n')
      return url
    },
    complaints,
    gone,
    get isKilled() {
      return isKilled
    },
    kill() {
      isKilled = true
      child.kill('SIGKILL')
    },
    stop: () => void child.kill('SIGTERM'),
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

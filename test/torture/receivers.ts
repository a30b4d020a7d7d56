/** The receivers of pushes: processes that are killed at random as well, and come back at the same address. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Random } from './random.js'

export interface ReceivedPost {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** That it was about to be answered with. */
  readonly status: number | undefined
}

export interface Receivers {
  /** Where they listen: what the server has to be allowed to call. */
  readonly origins: readonly string[]
  /** How often one of them was killed. */
  readonly kills: number
  /** Called for each post, before it is answered. */
  onPost: () => void
  /** What they got since the last reading, each in its order. The server that posts is gone. */
  read(): Promise<readonly ReceivedPost[]>
  /** From here on they live, and take everything. */
  calm(): Promise<void>
  close(): Promise<void>
}

const script = fileURLToPath(new URL('receiver.mjs', import.meta.url))
const moods = ['well', 'ill'] as const

/** @param file where they write down what they get; each adds an ending of its own */
export async function startReceivers(file: string, random: Random): Promise<Receivers> {
  let kills = 0
  const all = await Promise.all(
    moods.map((mood, place) =>
      startReceiver(`${file}.${place}`, { mood, random: random.fork(), onPost: () => receivers.onPost(), onKill: () => void kills++ }),
    ),
  )
  const receivers: Receivers = {
    origins: all.map(({ origin }) => origin),
    get kills() {
      return kills
    },
    onPost() {},
    async read() {
      return (await Promise.all(all.map((one) => one.read()))).flat()
    },
    async calm() {
      await Promise.all(all.map((one) => one.calm()))
    },
    async close() {
      await Promise.all(all.map((one) => one.close()))
    },
  }
  return receivers
}

interface ReceiverOptions {
  readonly mood: (typeof moods)[number]
  readonly random: Random
  readonly onPost: () => void
  readonly onKill: () => void
}

interface Started {
  readonly child: ChildProcess
  readonly port: string
}

async function startReceiver(file: string, { mood, random, onPost, onKill }: ReceiverOptions) {
  let isMortal = true
  let current = start('0')
  let linesRead = 0
  const { port } = await current
  const origin = `http://127.0.0.1:${port}`

  async function start(port: string): Promise<Started> {
    const child = spawn(process.execPath, [script, file, '--port', port, '--mood', mood], { stdio: ['pipe', 'pipe', 'inherit'] })
    // It may be gone before it has read the line.
    child.stdin.on('error', () => {})
    let toGo = random.between(5, 100)
    const listening = new Promise<string>((resolve) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        const [word, at = ''] = line.split(' ')
        if (word === 'listening') return resolve(at)
        onPost()
        if (isMortal && --toGo === 0) current = again(child)
      })
    })
    return { child, port: await listening }
  }

  async function again(child: ChildProcess): Promise<Started> {
    onKill()
    await end(child)
    // For a while nobody is there.
    await new Promise((resolve) => setTimeout(resolve, random.between(0, 150)))
    return start(port)
  }

  return {
    origin,
    async read(): Promise<ReceivedPost[]> {
      await current
      // The first may meet a connection of one that was killed.
      for (let time = 0; time < 3; time++) await fetch(origin).catch(() => undefined)
      const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
      const posts = new Map<string, ReceivedPost>()
      for (const line of lines.slice(linesRead, -1)) {
        const { post, ...more } = JSON.parse(line)
        const known = posts.get(post)
        // One of before is answered too late for anybody to hear of it.
        if (known) posts.set(post, { ...known, status: more.status })
        else if ('path' in more) posts.set(post, { status: undefined, ...more })
      }
      linesRead = Math.max(0, lines.length - 1)
      return [...posts.values()]
    },
    async calm() {
      isMortal = false
      const { child } = await current
      child.stdin?.write('calm\n')
    },
    async close() {
      isMortal = false
      await end((await current).child)
    },
  }
}

async function end(child: ChildProcess): Promise<void> {
  const gone = once(child, 'close')
  child.kill('SIGKILL')
  await gone
}

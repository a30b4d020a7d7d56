/** Starts the measured process on core 0 and asks it, and the kernel, what it uses. The load runs on core 1. */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Of util-linux, on every Linux. */
const pinner = 'taskset'
const here = fileURLToPath(new URL('.', import.meta.url))

/** Keeps this process, which makes the load, off the core of the server. */
export function pinLoad() {
  execFileSync(pinner, ['-a', '-c', '-p', '1', String(process.pid)], { stdio: 'ignore' })
}

/** A server with a new store on the disk of this checkout, so that a commit costs what it costs. */
export async function start(script = 'server.mjs', nodeOptions = []) {
  const local = join(here, 'results', 'local')
  mkdirSync(local, { recursive: true })
  const folder = mkdtempSync(join(local, 'store-'))
  const command = ['-c', '0', process.execPath, '--expose-gc', ...nodeOptions, join(here, script), join(folder, 'tasks.db')]
  // The pinner becomes node, so the pid is the server's.
  const child = spawn(pinner, command, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`${script} ended with code ${code}`)))
  failed.catch(() => {})
  const heard = async () => (await Promise.race([once(child, 'message'), failed]))[0]
  const { url } = await heard()
  return {
    url,
    pid: child.pid,
    /** Bytes held after garbage collection. */
    memory() {
      child.send('memory')
      return heard()
    },
    /** Microseconds on a core so far, all threads together. */
    cpu: () => cpuOf(child.pid),
    async stop() {
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function cpuOf(pid) {
  let nanoseconds = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
    } catch {
      // The thread ended between the two reads.
    }
  }
  return nanoseconds / 1e3
}

/**
 * Checkpoints on a thread of their own: copying the write-ahead log into the file takes up to 14 ms, which no commit
 * should have to wait for.
 */

import { statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'

export interface Checkpoints {
  /** Tells of a commit of about that size. */
  written(bytes: number): void
  close(): Promise<void>
}

export const checkpointAt = 4 << 20 // bytes written since the last one
const truncateAt = 64 << 20 // bytes of the log file

export interface CheckpointOptions {
  readonly file: string
  /** CommonJS source of an expression `(file) => Driver`. */
  readonly source: string
  /** Lets the connection that writes do it itself, where the thread cannot. */
  readonly fallBack: () => void
}

// Source text and not a module: the same text runs from a build, from TypeScript under a test runner and from a bundle,
// none of which agree on where a worker's file would be. `open` is the driver's, resolved where the driver was found.
const workerSource = (open: string) => `
  const { parentPort, workerData } = require('node:worker_threads')
  const { emitWarning } = process
  process.emitWarning = (warning, ...rest) => { if (rest[0] !== 'ExperimentalWarning') emitWarning.call(process, warning, ...rest) }
  const driver = ${open}(workerData)
  // Rather give up than keep the writer waiting: there will be another checkpoint.
  driver.exec('pragma busy_timeout = 20')
  parentPort.on('message', (job) => {
    if (job === 'close') { driver.close(); parentPort.close(); return }
    let ok = true
    try {
      driver.prepare('pragma wal_checkpoint(passive)').all()
      if (job === 'truncate') driver.prepare('pragma wal_checkpoint(truncate)').all()
    } catch { ok = false }
    parentPort.postMessage(ok)
  })
`

export function createCheckpoints({ file, source, fallBack }: CheckpointOptions): Checkpoints {
  let worker: Worker | undefined
  let written = 0
  let isRunning = false
  let isBroken = false

  function start(): Worker {
    const started = new Worker(workerSource(source), { eval: true, workerData: file })
    started.on('message', () => {
      isRunning = false
    })
    started.on('error', () => {
      isBroken = true
      worker = undefined
      fallBack()
    })
    // No reason for a process to stay.
    started.unref()
    return started
  }

  return {
    written(bytes) {
      written += bytes
      if (written < checkpointAt || isRunning || isBroken) return
      written = 0
      isRunning = true
      worker ??= start()
      const log = statSync(`${file}-wal`, { throwIfNoEntry: false })
      worker.postMessage(log !== undefined && log.size > truncateAt ? 'truncate' : 'passive')
    },
    async close() {
      if (worker === undefined) return
      const ending = worker
      worker = undefined
      // While somebody waits for the end the process has to stay for it.
      ending.ref()
      const ended = new Promise((resolve) => ending.once('exit', resolve))
      ending.postMessage('close')
      await ended
    },
  }
}

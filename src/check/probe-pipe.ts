/** A network in memory: connections that are pipes, with a real HTTP server at their other end. */

import { createServer, type RequestListener } from 'node:http'
import { Duplex } from 'node:stream'
import type { Dial } from './probe.js'

export interface Pipes {
  readonly dial: Dial
  /** Grows with whatever either side does. */
  activity(): number
  close(): void
}

export function createPipes(answer: RequestListener): Pipes {
  const server = createServer(answer)
  const open = new Set<PipeEnd>()
  let uses = 0
  const onUse = () => void uses++
  return {
    activity: () => uses,
    dial() {
      const near = new PipeEnd(onUse)
      const far = new PipeEnd(onUse)
      near.other = far
      far.other = near
      for (const end of [near, far]) {
        open.add(end)
        end.once('close', () => open.delete(end))
      }
      server.emit('connection', far)
      return near
    },
    close() {
      for (const end of open) end.destroy()
      server.close()
    },
  }
}

/** One end of a pipe. What is written to it is read at the other. */
class PipeEnd extends Duplex {
  other: PipeEnd | undefined
  readonly #onUse: () => void

  constructor(onUse: () => void) {
    super({ allowHalfOpen: true })
    this.#onUse = onUse
    // A connection that the other side broke off is no error of this program.
    this.on('error', () => {})
  }

  override _read(): void {}

  override _write(piece: Uint8Array, _encoding: string, done: () => void): void {
    this.#onUse()
    if (this.other && !this.other.destroyed) this.other.push(piece)
    done()
  }

  override _final(done: () => void): void {
    this.#onUse()
    if (this.other && !this.other.destroyed) this.other.push(null)
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#onUse()
    const { other } = this
    // What is on its way still arrives.
    if (other && !other.destroyed && !other.readableEnded) other.push(null)
    done(error)
  }
}

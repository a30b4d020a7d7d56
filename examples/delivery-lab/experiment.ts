/** The experiment: one server on a socket of this machine, and callers that learn of the ends of their jobs, one after the other. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve, sqlite } from 'errand'
import { connect, pushReceiver } from 'errand/client'
import { type Desk, type Job, learn } from './callers.js'
import { createClock } from './clock.js'
import { thoroughJob } from './job.js'
import { type Mechanism, predict, type Row } from './model.js'
import { openWire } from './wire.js'

export interface ExperimentOptions {
  /** Lengths of jobs, in whole seconds. */
  readonly jobSeconds: readonly number[]
  /** Between two polls, in whole seconds. */
  readonly everySeconds: readonly number[]
}

export type MarkKind = 'request' | 'post' | 'event' | 'cut'

/** Something that happened on the wire. */
export interface Mark {
  readonly kind: MarkKind
  /** Since the job was sent. */
  readonly atSeconds: number
}

export interface Measurement {
  readonly row: Row
  readonly marks: readonly Mark[]
}

/** Between two measurements, so that none finds anything left of the one before. */
const pauseSeconds = 60
/** Nobody waits longer than this beyond the job and one poll. */
const patienceSeconds = 600

const nothing = () => {}
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing }

/** All ways for each length of job. */
export async function runExperiment({ jobSeconds, everySeconds }: ExperimentOptions): Promise<readonly Measurement[]> {
  const told = (['blocking', 'stream', 'stream-cut', 'push'] as const).map((mechanism) => ({ mechanism, everySeconds: null }))
  const mechanisms: readonly Mechanism[] = [...everySeconds.map((every) => ({ mechanism: 'poll' as const, everySeconds: every })), ...told]
  const lab = await openLab()
  try {
    const made: Measurement[] = []
    for (const seconds of jobSeconds)
      for (const mechanism of mechanisms) made.push(await lab.measure({ ...mechanism, jobSeconds: seconds }))
    return made
  } finally {
    await lab.close()
  }
}

async function openLab() {
  const wire = openWire()
  const clock = createClock(wire)
  const { world } = clock
  const hookServer = createServer((request, response) => void clock.atOnce(() => hooks.middleware(request, response)))
  hookServer.listen(0, '127.0.0.1')
  await once(hookServer, 'listening')
  // Listening on a port, the address is one of host and port.
  const hookPort = (hookServer.address() as AddressInfo).port
  const hookUrl = `http://127.0.0.1:${hookPort}`
  const hooks = pushReceiver({ publicUrl: `${hookUrl}/a2a-push`, secret: 'of this experiment and of nothing else', world })

  let endedAt = Number.NaN
  const agent = thoroughJob(() => {
    endedAt = clock.now()
  })
  const allow = [hookUrl] // Pushes go to no address of this machine unless it is named.
  const server = await serve(agent, { store: sqlite(':memory:'), push: true, outbound: { allow }, log: silent, world })
  const client = await connect(server.url, { prefer: ['HTTP+JSON'], world })
  const agentPort = Number(new URL(server.url).port)

  async function measure(job: Job): Promise<Measurement> {
    await clock.until(clock.sleep(pauseSeconds), 2 * pauseSeconds)
    const start = clock.now()
    const bytes = wire.bytes()
    const marks: Mark[] = []
    const mark = (kind: MarkKind) => void marks.push({ kind, atSeconds: clock.now() - start })
    wire.onRequest = (port) => {
      if (port === agentPort) mark('request')
      if (port === hookPort) mark('post')
    }
    const cut = () => {
      mark('cut')
      wire.cut(agentPort)
    }
    const desk: Desk = { clock, url: `${server.url}/rest`, client, hooks, cut, onEvent: () => mark('event') }
    const learned = learn(desk, job).then(() => clock.now())
    const knownAt = await clock.until(learned, job.jobSeconds + (job.everySeconds ?? 0) + patienceSeconds)
    wire.onRequest = nothing
    const count = (kind: MarkKind) => marks.filter((one) => one.kind === kind).length
    const model = predict(job, job.jobSeconds)
    const row: Row = {
      ...job,
      requests: count('request'),
      posts: count('post'),
      events: count('event'),
      bytes: wire.bytes() - bytes,
      lateSeconds: knownAt - endedAt,
      modelRequests: model.requests,
      modelLateSeconds: model.lateSeconds,
    }
    return { row, marks }
  }

  return {
    measure,
    async close() {
      await server.close()
      hookServer.close()
      hookServer.closeAllConnections()
      wire.close()
    },
  }
}

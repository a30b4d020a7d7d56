/** Requests that are nearly right, and requests cut off at any byte, over a real socket: the process lives and nothing of others is touched. */

import { expect, test } from 'vitest'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, openSocket } from '../harness/server.js'
import { chance } from './chance.js'
import { findingLog, judge } from './judge.js'
import { fuzzed, mutatedBytes } from './mutate.js'
import { openRaw, type RawConnection, rawRequest } from './raw-http.js'
import { beyondEnvelope, insideOperation } from './reach.js'
import { prepare } from './victim.js'

const total = Number(process.env['FUZZ_SOCKET_REQUESTS'] ?? 1300)
const firstSeed = Number(process.env['FUZZ_SEED'] ?? 500_001)

test.each(bindingNames)(
  'whatever is sent over %s by socket is answered by the table, also when clients hang up',
  async (binding) => {
    const log = findingLog()
    const rejections: unknown[] = []
    const note = (reason: unknown) => void rejections.push(reason)
    process.on('unhandledRejection', note)
    const server = await openSocket(scriptAgent, { log, push: true, limits: { shutdownMs: 0 } })
    const victim = await prepare(server)
    const before = await victim.look()
    const findings: string[] = []
    const reasons = new Map<string, number>()
    let connection: RawConnection | undefined

    for (let seed = firstSeed; seed < firstSeed + total; seed++) {
      if (seed % 100 === 0) await victim.renew()
      const dice = chance(seed ^ 0x5eed)
      const request = fuzzed(binding, seed, victim.material)
      const bytes = rawRequest(request.method, request.target, request.headers, request.body)
      const manner = dice.below(10)
      if (manner === 0) {
        // Cut off anywhere, politely or not.
        const leaving = await openRaw(server.url)
        await leaving.write(bytes.subarray(0, dice.below(bytes.length + 1)))
        if (dice.below(2) === 0) leaving.socket.resetAndDestroy()
        else leaving.destroy()
        await leaving.closed
        continue
      }
      if (manner === 1) {
        // Broken below the protocol: any answer of HTTP, or none, and the connection is done with.
        const broken = await openRaw(server.url)
        await broken.write(mutatedBytes(bytes, dice))
        broken.socket.end()
        const answer = await Promise.race([broken.next(), broken.closed.then(() => undefined)])
        if (answer && (answer.status >= 500 || answer.text.includes('<html')))
          findings.push(`seed ${seed}: ${answer.status} ${answer.text}`)
        broken.destroy()
        continue
      }
      connection ??= await openRaw(server.url)
      if (manner === 2)
        for (const at of [0, 1, 2])
          await connection.write(bytes.subarray(Math.floor((bytes.length * at) / 3), Math.floor((bytes.length * (at + 1)) / 3)))
      else await connection.write(bytes)
      const answer = await firstOf(connection, request.method)
      if (!answer) {
        findings.push(`seed ${seed}: no answer to ${request.method} ${request.target.slice(0, 200)}`)
        connection = undefined
        continue
      }
      const { reason = 'success', faults } =
        request.method === 'HEAD'
          ? { faults: [] }
          : judge(binding, { status: answer.status, contentType: answer.headers['content-type'] ?? '', text: answer.text })
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
      for (const fault of faults) findings.push(`seed ${seed}: ${fault}: ${request.method} ${request.target.slice(0, 200)}`)
      if (answer.isStream || answer.headers['connection'] === 'close') {
        connection.destroy()
        connection = undefined
      }
    }
    connection?.destroy()

    expect(findings).toEqual([])
    expect(log.findings).toEqual([])
    expect(await victim.look()).toBe(before)
    await server.close()
    process.off('unhandledRejection', note)
    expect(rejections).toEqual([])
    const answered = [...reasons.values()].reduce((sum, count) => sum + count, 0)
    const envelope = beyondEnvelope(reasons) / answered
    const operation = insideOperation(reasons) / answered
    console.info(
      `${binding} by socket: ${answered} answers, ${Math.round(envelope * 100)} % past the envelope, ${Math.round(operation * 100)} % into an operation`,
    )
    expect(envelope).toBeGreaterThan(0.3)
    expect(operation).toBeGreaterThan(0.1)
  },
  120_000,
)

/** The whole answer, or the first frames of one that may never end. */
async function firstOf(connection: RawConnection, method: string) {
  const head = await connection.head()
  if (head?.headers['content-type'] !== 'text/event-stream') {
    const answer = await connection.next({ hasBody: method !== 'HEAD' })
    return answer && { ...answer, isStream: false }
  }
  return { ...head, text: await connection.until('\n\n'), isStream: true }
}

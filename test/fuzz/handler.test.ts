/** 20,000 requests per binding that are nearly right, through the handler: every answer is of the table, and nothing of others is touched. */

import { expect, test } from 'vitest'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, openServer } from '../harness/server.js'
import { findingLog, type Heard, judge } from './judge.js'
import { type Fuzzed, fuzzed } from './mutate.js'
import { beyondEnvelope, insideOperation } from './reach.js'
import { prepare } from './victim.js'

const total = Number(process.env['FUZZ_REQUESTS'] ?? 20_000)
const firstSeed = Number(process.env['FUZZ_SEED'] ?? 1)
const together = 50

test.each(bindingNames)(
  'whatever is sent over %s is answered by the table and changes nothing of others',
  async (binding) => {
    const log = findingLog()
    const rejections: unknown[] = []
    const note = (reason: unknown) => void rejections.push(reason)
    process.on('unhandledRejection', note)
    const server = await openServer(scriptAgent, { log, push: true, limits: { shutdownMs: 0 } })
    const victim = await prepare(server)
    const before = await victim.look()
    const findings: string[] = []
    const reasons = new Map<string, number>()

    async function one(seed: number): Promise<void> {
      const request = fuzzed(binding, seed, victim.material)
      const heard = await ask(server.fetch, request)
      const { reason = 'success', faults } = request.method === 'HEAD' ? { faults: [] } : judge(binding, heard)
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
      for (const fault of faults)
        findings.push(
          `seed ${seed}: ${fault}: ${request.method} ${request.target.slice(0, 200)} ${new TextDecoder().decode(request.body.subarray(0, 500))}`,
        )
    }
    for (let seed = firstSeed; seed < firstSeed + total; seed += together) {
      if ((seed - firstSeed) % 500 === 0) await victim.renew()
      await Promise.all(Array.from({ length: together }, (_, i) => one(seed + i)))
      if (findings.length > 20) break
    }

    expect(findings).toEqual([])
    expect(log.findings).toEqual([])
    expect(await victim.look()).toBe(before)
    await server.close()
    process.off('unhandledRejection', note)
    expect(rejections).toEqual([])
    const envelope = beyondEnvelope(reasons) / total
    const operation = insideOperation(reasons) / total
    console.info(
      `${binding}: ${Math.round(envelope * 100)} % past the envelope, ${Math.round(operation * 100)} % into an operation`,
      Object.fromEntries(reasons),
    )
    expect(envelope).toBeGreaterThan(0.3)
    expect(operation).toBeGreaterThan(0.1)
  },
  120_000,
)

async function ask(fetching: (request: Request) => Promise<Response>, { method, target, headers, body }: Fuzzed): Promise<Heard> {
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const response = await fetching(
    new Request(`http://agent.test${target}`, { method, headers, ...(hasBody && { body: body as BodyInit }) }),
  )
  const contentType = response.headers.get('content-type') ?? ''
  if (contentType !== 'text/event-stream') return { status: response.status, contentType, text: await response.text() }
  // A stream may stay open for ever: its first frames are enough, and leaving it is one more thing to survive.
  let text = ''
  const decoder = new TextDecoder()
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece, { stream: true })
    if (text.includes('\n\n')) break
  }
  return { status: response.status, contentType, text }
}

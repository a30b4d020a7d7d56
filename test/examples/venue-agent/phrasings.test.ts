/** Thirty ways to ask, written down before there was a parser: each through the whole server. */

import { expect, test } from 'vitest'
import { venueAgent } from '../../../examples/venue-agent/agent.js'
import { virtualWorld } from '../../../src/testing/virtual-world.js'
import phrasings from '../../../vectors/venue-phrasings.json' with { type: 'json' }
import { openServer, result, userMessage } from '../../harness/server.js'

interface Expected {
  readonly kind: string
  readonly city?: string
  readonly headcount?: number
  readonly days?: number
  readonly features?: readonly string[]
  readonly missing?: readonly string[]
}

/** The vectors name features by plain nouns, the agent by its own keys. */
const nouns: Readonly<Record<string, string>> = { 'step-free': 'accessible' }
const asked = { city: /\bcity|where\b/i, headcount: /\bhow many people\b/i, days: /\bhow many days\b/i }

test.each(phrasings)('“$text” ($comment)', async ({ text, result: expected }: { text: string; result: Expected }) => {
  const world = virtualWorld()
  const server = await openServer(venueAgent, { world })
  const sent = result(server.fetch, 'HTTP+JSON', 'SendMessage', { message: userMessage(text) })
  // Reading a body takes real turns of the event loop; a thorough search then takes twenty virtual seconds.
  let answer: any
  void sent.then((value) => {
    answer = value
  })
  while (answer === undefined) await world.advance(4_000)
  expect(understoodFrom(answer, expected)).toEqual(expected)
  await server.close()
})

function understoodFrom({ task, message }: any, expected: Expected): Expected {
  if (message) return { kind: 'message' }
  const { state, message: said } = task.status
  if (state === 'TASK_STATE_REJECTED') return { kind: 'rejected' }
  if (state === 'TASK_STATE_INPUT_REQUIRED') {
    // What was understood along the way shows in the end only; what is asked for shows now.
    const missing = Object.entries(asked).flatMap(([name, pattern]) => (pattern.test(said.parts[0].text) ? [name] : []))
    return { ...expected, kind: 'asks', missing }
  }
  const { brief } = task.artifacts[0].parts.find((part: any) => part.data).data
  return { kind: 'shortlist', ...brief, features: brief.features.map((name: string) => nouns[name] ?? name).sort() }
}

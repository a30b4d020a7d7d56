/** The clean server of the self-test: the conformance agent in one of its profiles, in a world of its own. */

import type { Plant } from '../check/defects/defect.js'
import type { Opened, Profile } from '../check/defects/self-test.js'
import { servePiped } from '../check/defects/serve.js'
import { memoryWebhooks } from '../check/defects/webhooks.js'
import { anonymous, bearerTokens, sqlite } from '../index.js'
import { virtualWorld } from '../testing/virtual-world.js'
import { conformanceAgent } from './conformance-agent.js'
import { outcomeOf } from './quiet-clock.js'

export async function openSubject(profile: Profile, plant?: Plant): Promise<Opened> {
  const world = virtualWorld()
  const webhooks = memoryWebhooks(world)
  const isOpen = profile === 'minimal'
  const piped = await servePiped(
    {
      agent: conformanceAgent(profile),
      store: sqlite(':memory:'),
      auth: isOpen ? anonymous() : bearerTokens({ 'alice-token': 'alice', 'bob-token': 'bob' }),
      openPost: webhooks.openPost,
      push: !isOpen,
      idempotency: false,
      world,
    },
    plant,
  )
  const identities = isOpen ? {} : { a: { Authorization: 'Bearer alice-token' }, b: { Authorization: 'Bearer bob-token' } }
  const { url, pipes, close } = piped
  return { url, dial: pipes.dial, world, identities, ...(!isOpen && { webhooks }), outcome: (work) => outcomeOf(work, world, pipes), close }
}

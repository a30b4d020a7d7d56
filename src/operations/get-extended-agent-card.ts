/** GetExtendedAgentCard: what only authenticated callers may see of the agent. Spec §3.1.11, §13.3. */

import { ExtendedAgentCardNotConfiguredError, UnauthenticatedError } from '../protocol/errors.js'
import type { GetExtendedAgentCardRequest } from '../protocol/wire.js'
import { answer, type Operation, userOf } from './context.js'

export const getExtendedAgentCard: Operation<GetExtendedAgentCardRequest> = async ({ agent, card }, _params, call) => {
  if (!agent.extendedCard) throw new ExtendedAgentCardNotConfiguredError()
  if (!call.principal.authenticated) throw new UnauthenticatedError()
  return answer(await card(call.publicUrl(), await agent.extendedCard(userOf(call))))
}

/** GetExtendedAgentCard: what only authenticated callers may see of the agent. Spec §3.1.11, §13.3. */

import { ExtendedAgentCardNotConfiguredError, UnauthenticatedError } from '../protocol/errors.js'
import type { GetExtendedAgentCardRequest, JsonObject } from '../protocol/wire.js'
import { isPlainObject } from '../support/options.js'
import { answer, type Operation, userOf } from './context.js'

export const getExtendedAgentCard: Operation<GetExtendedAgentCardRequest> = async ({ agent, card }, _params, call) => {
  if (!agent.extendedCard) throw new ExtendedAgentCardNotConfiguredError()
  if (!call.principal.authenticated) throw new UnauthenticatedError()
  const more: unknown = await agent.extendedCard(userOf(call))
  // Declared, but there is none for this caller.
  if (more === undefined || more === null) throw new ExtendedAgentCardNotConfiguredError()
  if (!isPlainObject(more)) throw new TypeError('extendedCard takes a function that returns members of the card as an object, or undefined')
  // Members are members of JSON; whether a card may have them is checked where it is made.
  return answer(await card(call.publicUrl(), more as JsonObject))
}

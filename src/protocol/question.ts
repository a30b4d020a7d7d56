/** Which question of the agent a message answers. Decision D11. */

import type { Message } from './wire.js'

/** Member of a message's metadata: the `messageId` of the status message that asked. */
export const questionMember = 'urn:errand:question'

/** Whether `message` answers the open question `asked`: it does unless it names another one. */
export function answersQuestion({ metadata }: Message, asked: string | undefined): boolean {
  if (asked === undefined) return false
  const named = metadata?.[questionMember]
  return typeof named !== 'string' || named === asked
}

/** What the type of an agent tells its callers: which skills there are, what each takes and gives. */

import type { Json } from '../protocol/wire.js'

/** The types that a skill carries. */
export interface SkillType {
  readonly '~input': unknown
  readonly '~result': unknown
}

/** The type of an agent, as `agent()` gives it: `connect<typeof travel>(url)`. */
export interface AgentType {
  readonly skills?: { readonly [id: string]: SkillType }
}

/** Skills of the agent by their ids; of an agent that nothing is known of, any. */
export type SkillsOf<A extends AgentType> = NonNullable<A['skills']>

/** What a caller sends to the skill. */
export type InputOf<S extends SkillType> = unknown extends S['~input'] ? Json : S['~input']

/** What a caller gets from it. */
export type OutputOf<S extends SkillType> = unknown extends S['~result'] ? Json : S['~result']

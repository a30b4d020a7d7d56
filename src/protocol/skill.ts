/** How a message says which skill of the agent it is for. Decision D9. */

/** Member of a message's metadata: the id of the skill. */
export const skillMember = 'urn:errand:skill'

/** What a caller writes, as the parts of a message, and parts as text. */

import type { Message, Part } from '../protocol/wire.js'
import { uuid, type World } from '../support/world.js'

export type PartLike = string | Part
export type PartsLike = PartLike | readonly PartLike[]

/** As it is written: members that are undefined are not there. */
export type Written<T> = { readonly [Name in keyof T]: T[Name] | undefined }

/** A message of the user's. What the caller gave is read, never written to. */
export function toMessage(world: World, content: PartsLike, fields: Partial<Written<Message>>): Written<Message> {
  const list: readonly PartLike[] = isList(content) ? content : [content]
  if (list.length === 0) throw new TypeError('a message has at least one part')
  return {
    ...fields,
    messageId: fields.messageId ?? uuid(world),
    role: 'ROLE_USER',
    parts: list.map((part) => (typeof part === 'string' ? { text: part } : part)),
  }
}

// Array.isArray does not tell a readonly list from a single part.
function isList(content: PartsLike): content is readonly PartLike[] {
  return Array.isArray(content)
}

/** Texts of the parts, joined as they are. */
export function textOf(parts: readonly Part[] | undefined): string {
  let text = ''
  for (const part of parts ?? []) text += part.text ?? ''
  return text
}

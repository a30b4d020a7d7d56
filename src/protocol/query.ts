/** The query of a GET as the input of decode. Spec §11.5. */

import { InvalidParamsError, type Violation } from './errors.js'
import { enums, type Field, type MessageName, messages, protoName } from './model.js'

/**
 * The members of message `name` that `query` holds, each in a form that decode takes or names as bad. Unknown
 * parameters and empty values are passed over; members that are objects cannot come this way.
 *
 * @throws {InvalidParamsError} for a single member that is given more than once
 */
export function fromQuery(name: MessageName, query: URLSearchParams): Readonly<Record<string, unknown>> {
  const fields: readonly (readonly [string, Field])[] = Object.entries(messages[name])
  const input: Record<string, unknown> = {}
  const problems: Violation[] = []
  for (const [jsonName, field] of fields) {
    if (!isFlat(field)) continue
    const texts = [...new Set([jsonName, protoName(jsonName)])].flatMap((spelling) => query.getAll(spelling)).filter((text) => text !== '')
    const [first] = texts
    if (first === undefined) continue
    if (field.label === 'repeated') input[jsonName] = texts.map((text) => fromText(field, text))
    else if (texts.length > 1) problems.push({ field: jsonName, description: 'is given more than once' })
    else input[jsonName] = fromText(field, first)
  }
  if (problems.length > 0) throw new InvalidParamsError(problems)
  return input
}

function isFlat({ type, label }: Field): boolean {
  return label !== 'map' && type !== 'Struct' && type !== 'Value' && !Object.hasOwn(messages, type)
}

// Integers stay text, which ProtoJSON takes; whatever does not fit its type is left for decode to refuse.
function fromText({ type }: Field, text: string): unknown {
  if (type === 'bool' && (text === 'true' || text === 'false')) return text === 'true'
  if (Object.hasOwn(enums, type) && /^\d{1,9}$/.test(text)) return Number(text)
  return text
}

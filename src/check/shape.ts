/** Judges JSON by the table of messages: what is missing, what is of a wrong kind, what excludes each other. Spec §4, §5.5–5.7. */

import { enums, type Field, type MessageName, messages } from '../protocol/model.js'
import { brief, isMembers } from './json.js'

/** What is wrong with `value` as a message of this name, each with its path. Members that the table does not know are passed over. */
export function faultsOf(name: MessageName, value: unknown): readonly string[] {
  return judgeMessage(name, value, '')
}

function judgeMessage(name: MessageName, value: unknown, path: string): readonly string[] {
  if (!isMembers(value)) return [`${path || name} is ${brief(value, 40)}, no object`]
  const fields: Readonly<Record<string, Field>> = messages[name]
  const faults: string[] = []
  const groups = new Map<string, string[]>()
  for (const [member, field] of Object.entries(fields)) {
    const place = path === '' ? member : `${path}.${member}`
    const given = value[member]
    if (field.oneof) groups.set(field.oneof, [...(groups.get(field.oneof) ?? []), ...(given === undefined ? [] : [member])])
    if (given === undefined) {
      if (field.required) faults.push(`${place} is missing`)
      continue
    }
    faults.push(...judgeField(field, given, place))
  }
  for (const [group, given] of groups) {
    if (given.length === 1) continue
    faults.push(`${path || name} has ${given.length === 0 ? `no ${group}` : given.join(' and ')}, not exactly one of its kinds`)
  }
  return faults
}

function judgeField(field: Field, value: unknown, place: string): readonly string[] {
  if (field.label === 'repeated') {
    if (!Array.isArray(value)) return [`${place} is ${brief(value, 40)}, no list`]
    return value.flatMap((one, i) => judgeOne(field.type, one, `${place}[${i}]`))
  }
  if (field.label === 'map') {
    if (!isMembers(value)) return [`${place} is ${brief(value, 40)}, no object`]
    return Object.entries(value).flatMap(([key, one]) => judgeOne(field.type, one, `${place}.${key}`))
  }
  return judgeOne(field.type, value, place)
}

function judgeOne(type: string, value: unknown, place: string): readonly string[] {
  if (Object.hasOwn(messages, type)) {
    // Just found among the keys of this very table.
    return judgeMessage(type as MessageName, value, place)
  }
  return kinds[type]?.ok(value) === false ? [`${place} is ${brief(value, 40)}, no ${kinds[type].name}`] : []
}

const enumNames = (name: keyof typeof enums) => Object.keys(enums[name]).filter((one) => !one.endsWith('_UNSPECIFIED'))
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/

const kinds: Readonly<Record<string, { readonly name: string; readonly ok: (value: unknown) => boolean }>> = {
  string: { name: 'text', ok: (value) => typeof value === 'string' },
  bytes: { name: 'base64', ok: (value) => typeof value === 'string' && /^[A-Za-z0-9+/]*={0,2}$/.test(value) && value.length % 4 === 0 },
  bool: { name: 'boolean', ok: (value) => typeof value === 'boolean' },
  int32: { name: 'whole number', ok: Number.isInteger },
  Timestamp: { name: 'time in UTC', ok: (value) => typeof value === 'string' && timestamp.test(value) && !Number.isNaN(Date.parse(value)) },
  Struct: { name: 'object', ok: isMembers },
  Value: { name: 'value', ok: () => true },
  TaskState: { name: 'state', ok: (value) => typeof value === 'string' && enumNames('TaskState').includes(value) },
  Role: { name: 'role', ok: (value) => typeof value === 'string' && enumNames('Role').includes(value) },
}

/** A skill: something an agent does, with what it takes and gives as schemas. */

import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { AgentExtension, JsonObject } from '../protocol/wire.js'
import { checkOptions, isFunction, isPlainObject, isText, isTextList, type OptionRule } from '../support/options.js'
import type { Result, Returning } from './agent.js'
import { isModes } from './card-rules.js'
import type { Ending } from './output.js'
import { isSchema, jsonSchemaOf, toJsonObject } from './schema.js'
import type { TaskHandle } from './task.js'

/** What the card says of a skill. Its id is its key in `skills`. Spec §4.4.5. */
export interface SkillInfo {
  readonly name: string
  readonly description: string
  /** Words by which the skill is found. Default: its id. */
  readonly tags?: readonly string[]
  /** Things one may say to it. Default: none. */
  readonly examples?: readonly string[]
  /** Media types that the skill takes. Default: the agent's. */
  readonly inputModes?: readonly string[]
  /** Media types that it answers with. Default: the agent's. */
  readonly outputModes?: readonly string[]
}

/** A schema of any library that speaks Standard Schema, or none. */
type Schema = StandardSchemaV1 | undefined

/** The author's side of a task of a skill. */
export interface SkillTask<Input> extends TaskHandle {
  /** What the skill was called with, as its schema made it; without one, the text. The same in every turn of the task. */
  readonly input: Input
}

/** What the function of a skill is given. */
type Taken<I extends Schema> = I extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<I> : string
/** What it may return: what the schema of the output takes, or an ending. */
type Returned<O extends Schema> = O extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<O> | Ending<StandardSchemaV1.InferInput<O> | undefined>
  : Result

/** What a caller sends, and what a caller gets. */
type Sent<I extends Schema> = I extends StandardSchemaV1 ? StandardSchemaV1.InferInput<I> : string
type Made<O extends Schema> = O extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<O> : unknown

export interface SkillOptions<I extends Schema, O extends Schema> extends SkillInfo {
  /** What a data part must be to call the skill. Default: the skill takes text. */
  readonly input?: I
  /** What the function must return. Default: any JSON value. */
  readonly output?: O
  /** JSON Schema of the input, for forms. Default: the one that the library of `input` gives, where it gives one. */
  readonly inputSchema?: JsonObject
  readonly run: (task: SkillTask<Taken<I>>) => Returning<Returned<O>>
}

/** A skill as the runtime has it. */
export interface SkillDefinition {
  readonly info: SkillInfo
  readonly input: Schema
  readonly output: Schema
  readonly inputSchema: JsonObject | undefined
  /** `task.input` must come from the skill's own schema. */
  readonly run: (task: SkillTask<unknown>) => unknown
}

/** A skill, checked. Made by {@link skill} only. */
export class Skill<Input = unknown, Result = unknown> {
  readonly #definition: SkillDefinition
  /** Carry the types of what a caller sends and gets; there are no such members at run time. */
  declare readonly '~input': Input
  declare readonly '~result': Result
  constructor(definition: SkillDefinition) {
    this.#definition = definition
  }
  static definitionOf(value: unknown): SkillDefinition | undefined {
    return typeof value === 'object' && value !== null && #definition in value ? value.#definition : undefined
  }
}

/** URI of the extension under which the card holds JSON Schemas of what skills take. */
export const skillSchemas = 'urn:errand:skill-schemas'

export type Skills = Readonly<Record<string, Skill>>

const schemaRule: OptionRule = { takes: 'a schema of a library that speaks Standard Schema, such as zod', ok: isSchema }

const rules: Readonly<Record<keyof SkillOptions<Schema, Schema>, OptionRule>> = {
  name: { takes: 'a text', ok: isText, required: true },
  description: { takes: 'a text', ok: isText, required: true },
  tags: { takes: 'a list of texts', ok: isTextList },
  examples: { takes: 'a list of texts', ok: isTextList },
  inputModes: { takes: "a list of media types such as 'text/plain'", ok: isModes },
  outputModes: { takes: "a list of media types such as 'text/plain'", ok: isModes },
  input: schemaRule,
  output: schemaRule,
  inputSchema: { takes: 'a JSON Schema as an object', ok: isJsonObject },
  run: { takes: 'the function that does the work', ok: isFunction, required: true },
}

/**
 * A skill for the option `skills` of an agent: `skill({ name, description, input: z.object({ city: z.string() }), run: (task) => task.input.city })`.
 *
 * @throws {TypeError} on an unknown, missing, wrong or contradictory option
 */
export function skill<I extends Schema = undefined, O extends Schema = undefined>(options: SkillOptions<I, O>): Skill<Sent<I>, Made<O>> {
  checkOptions('skill', options, rules)
  const { input, output, inputSchema, run, ...info } = options
  if (inputSchema !== undefined && input === undefined)
    throw new TypeError('skill: option inputSchema describes what the option input takes; give the skill its input too')
  return new Skill({
    info: Object.freeze({ ...info }),
    input,
    output,
    inputSchema: inputSchema === undefined ? input && jsonSchemaOf(input) : toJsonObject(inputSchema),
    // The type of `input` is what its own schema makes, and the runtime hands on nothing else.
    run: run as SkillDefinition['run'],
  })
}

/** Whether `value` has skills under their ids, at least one. */
export function isSkills(value: unknown): boolean {
  if (!isPlainObject(value) || Object.keys(value).length === 0) return false
  return Object.entries(value).every(([id, one]) => isText(id) && Skill.definitionOf(one) !== undefined)
}

/** The skills by their ids, as the runtime has them. */
export function definitionsOf(skills: Skills): ReadonlyMap<string, SkillDefinition> {
  return new Map(
    Object.entries(skills).flatMap(([id, one]) => {
      const definition = Skill.definitionOf(one)
      return definition ? [[id, definition] as const] : []
    }),
  )
}

/** What the card says of the JSON Schemas of skills: nothing where none has one. */
export function schemasExtension(skills: ReadonlyMap<string, SkillDefinition>): readonly AgentExtension[] {
  const inputs = [...skills].flatMap(([id, { inputSchema }]) => (inputSchema ? [[id, { input: inputSchema }] as const] : []))
  if (inputs.length === 0) return []
  const description = 'JSON Schemas of the data parts that skills take, for forms.'
  return [{ uri: skillSchemas, description, params: { skills: Object.fromEntries(inputs) } }]
}

/** Id of the one skill that an agent of one function has: its name in letters that need no quoting. */
export function onlySkillId(agentName: string): string {
  const id = agentName.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  return id.replace(/^-|-$/g, '') || 'agent'
}

function isJsonObject(value: unknown): boolean {
  try {
    return isPlainObject(value) && toJsonObject(value) !== undefined
  } catch {
    return false
  }
}

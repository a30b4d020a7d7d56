/** The function of an agent with skills: it finds the skill of the task, calls it, and looks at what it gives. */

import { skillMember } from '../protocol/skill.js'
import type { Json, Message } from '../protocol/wire.js'
import type { Run } from './agent.js'
import { Ending, endOfTurn, inputRequired, isGenerator, toParts } from './output.js'
import type { Route, Router } from './route-skill.js'
import { validate } from './schema.js'
import type { SkillDefinition } from './skill.js'
import type { TaskHandle } from './task.js'

const routes = new WeakMap<Message, Route>()

/** The turn that begins with this very message goes there, without a second look. */
export function keepRoute(message: Message, route: Route): void {
  routes.set(message, route)
}

interface SkillsOptions {
  readonly skills: ReadonlyMap<string, SkillDefinition>
  readonly router: Router
  /** The agent's plain function. */
  readonly run: Run | undefined
}

/** The function of one turn. Where nothing was kept of its route, as after a restart, the log says it again. */
export function runSkills({ skills, router, run }: SkillsOptions): Run {
  const question = menu(skills)
  const callSkill = async (task: TaskHandle): Promise<unknown> => {
    const route = routes.get(task.message) ?? (await router.routeOf(task.history))
    // What was handed out once may have been changed by the function.
    routes.delete(task.message)
    if (route.kind === 'ask') return inputRequired(question)
    if (route.kind === 'run') return run?.(task)
    const { id, skill, input } = route
    const returned = await skill.run(Object.assign(task, { input }))
    if (!skill.output) return returned
    return isGenerator(returned) ? judgeLast(id, skill, returned) : judge(id, skill, returned)
  }
  // What comes out is looked at in any case, and a generator is awaited before: in a promise it is none the less one.
  return callSkill as Run
}

async function* judgeLast(id: string, skill: SkillDefinition, outputs: AsyncGenerator | Generator): AsyncGenerator {
  return judge(id, skill, yield* outputs)
}

/**
 * The end of a turn with its result as the schema of the output made it. An ending without a result passes.
 *
 * @throws {TypeError} where the result does not fit: an error of the agent, whatever the caller sent
 */
async function judge(id: string, { output }: SkillDefinition, returned: unknown): Promise<unknown> {
  const end = endOfTurn(returned)
  if (!output || end.kind !== 'completed') return returned
  const isEnding = Ending.endOf(returned) !== undefined
  if (isEnding && end.result === undefined) return returned
  const verdict = await validate(output, isEnding ? resultOf(end.result) : returned)
  if (!verdict.fits) {
    const problems = verdict.problems.map(({ path, description }) => `${path === '' ? 'the whole' : path}: ${description}`)
    throw new TypeError(`the result of the skill ${id} does not fit its output: ${problems.join('; ')}`)
  }
  return new Ending({ kind: 'completed', note: end.note, result: partsOf(verdict.value) })
}

/** The value behind the parts that `completed()` made of it. */
function resultOf(parts: ReturnType<typeof toParts> | undefined): unknown {
  const [only, more] = parts ?? []
  if (!only || more) return parts
  return only.data ?? only.text ?? (only.data === null ? null : parts)
}

/** A text as text, any other value as data: what looks like a part is a value here. */
function partsOf(value: unknown): ReturnType<typeof toParts> | undefined {
  if (value === undefined) return undefined
  // It may be no JSON, for all that is known; toParts refuses what is none.
  return toParts(typeof value === 'string' ? value : { data: value as Json })
}

/** The question which skill is meant: each with its id, its purpose and its fields. */
function menu(skills: ReadonlyMap<string, SkillDefinition>): string {
  const lines = [...skills].map(([id, skill]) => `- ${id} (${skill.info.name}): ${skill.info.description} ${takes(skill)}`)
  const how = `Name the skill in the metadata member ${skillMember}, or send a data part that fits one skill alone.`
  return [`Which skill do you mean? ${how}`, ...lines].join('\n')
}

function takes({ input, inputSchema }: SkillDefinition): string {
  if (!input) return 'It takes text.'
  const { properties, required } = inputSchema ?? {}
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) return 'It takes a data part.'
  const needed: readonly unknown[] = Array.isArray(required) ? required : []
  const fields = Object.entries(properties).map(([name, schema]) => {
    const notes = [typeOf(schema), needed.includes(name) ? '' : 'optional'].filter((note) => note !== '')
    return notes.length > 0 ? `${name} (${notes.join(', ')})` : name
  })
  return fields.length > 0 ? `It takes a data part with the fields ${fields.join(', ')}.` : 'It takes a data part.'
}

/** The type in a JSON Schema, if it names one. */
function typeOf(schema: unknown): string {
  return typeof schema === 'object' && schema !== null && 'type' in schema && typeof schema.type === 'string' ? schema.type : ''
}

/** Which skill a message is for, and what it calls the skill with. Decision D9. */

import { InvalidParamsError, type Violation } from '../protocol/errors.js'
import { checkMediaTypes } from '../protocol/media-types.js'
import { answersQuestion } from '../protocol/question.js'
import { skillMember } from '../protocol/skill.js'
import { shorten } from '../protocol/text.js'
import type { Json, Message } from '../protocol/wire.js'
import { validate } from './schema.js'
import type { SkillDefinition } from './skill.js'
import { textOf } from './turn.js'

const longestName = 64 // characters of what the caller sent

export type Route =
  | { readonly kind: 'skill'; readonly id: string; readonly skill: SkillDefinition; readonly input: unknown }
  /** The agent's plain function. */
  | { readonly kind: 'run' }
  /** Nothing says which skill is meant: the caller is asked. */
  | { readonly kind: 'ask' }

export interface Router {
  /**
   * Where a message goes that opens a task, or answers the question which skill is meant.
   *
   * @throws {InvalidParamsError} for an unknown skill, and for input that does not fit the skill it names
   * @throws {ContentTypeNotSupportedError} for a part of a type that is not taken there
   */
  route(message: Message): Promise<Route>
  /** Where a task went by what its history says: its first message that chose decides for all of its turns. */
  routeOf(history: readonly Message[]): Promise<Route>
  /** The id of a skill in a message's metadata. @throws {InvalidParamsError} if there is no such skill */
  nameIn(message: Message): string | undefined
  /** @throws {ContentTypeNotSupportedError} for a part of a type that the chosen place does not take */
  checkTypes(message: Message, route: Route): void
}

interface RouterOptions {
  readonly skills: ReadonlyMap<string, SkillDefinition>
  /** Whether there is a plain function for what no skill is meant by. */
  readonly plain: boolean
  /** Media types of the agent, for skills that have none of their own. */
  readonly inputModes: readonly string[]
}

export function createRouter({ skills, plain, inputModes }: RouterOptions): Router {
  const nameIn = (message: Message) => namedSkill(message, () => [...skills.keys()])

  async function choose(message: Message): Promise<Route> {
    const named = nameIn(message)
    const skill = named === undefined ? undefined : skills.get(named)
    if (named !== undefined && skill) {
      const called = await inputOf(named, skill, message)
      if (!called.fits) throw wrong(called.violations)
      return { kind: 'skill', id: named, skill, input: called.input }
    }
    const fitting: Route[] = []
    for (const [id, candidate] of skills) {
      const called = candidate.input && (await inputOf(id, candidate, message))
      if (called?.fits) fitting.push({ kind: 'skill', id, skill: candidate, input: called.input })
    }
    const [only, another] = fitting
    return only && !another ? only : { kind: plain ? 'run' : 'ask' }
  }

  function checkTypes({ parts }: Message, route: Route): void {
    checkMediaTypes(parts, (route.kind === 'skill' && route.skill.info.inputModes) || inputModes)
  }

  async function route(message: Message): Promise<Route> {
    const chosen = await choose(message)
    checkTypes(message, chosen)
    return chosen
  }

  async function routeOf(history: readonly Message[]): Promise<Route> {
    let question: string | undefined
    for (const [place, message] of history.entries()) {
      if (message.role === 'ROLE_AGENT') question = message.messageId
      else if (place === 0 || answersQuestion(message, question)) {
        const chosen = await choose(message)
        if (chosen.kind !== 'ask') return chosen
        // What comes before the next question is for the inbox.
        question = undefined
      }
    }
    return { kind: 'ask' }
  }

  return { route, routeOf, nameIn, checkTypes }
}

/** The skill that the message names, one of `ids()`. @throws {InvalidParamsError} for any other */
export function namedSkill({ metadata = {} }: Message, ids: () => readonly string[]): string | undefined {
  const named = metadata[skillMember] ?? undefined
  if (named === undefined) return undefined
  if (typeof named === 'string' && ids().includes(named)) return named
  const shown = typeof named === 'string' ? JSON.stringify(shorten(named, longestName)) : 'no text'
  throw wrong([{ field: 'message.metadata', description: `${skillMember} is ${shown}; the skills are ${ids().join(', ')}` }])
}

type Called = { readonly fits: true; readonly input: unknown } | { readonly fits: false; readonly violations: readonly Violation[] }

/** What the message calls the skill with: its text, or its first data part that fits. */
async function inputOf(id: string, { input: schema }: SkillDefinition, message: Message): Promise<Called> {
  if (!schema) return { fits: true, input: textOf(message) }
  const violations: Violation[] = []
  for (const [place, { data }] of message.parts.entries()) {
    if (data === undefined) continue
    const verdict = await validate(schema, copyOf(data))
    if (verdict.fits) return { fits: true, input: verdict.value }
    for (const { path, description } of verdict.problems) violations.push({ field: `message.parts[${place}].data${path}`, description })
  }
  if (violations.length === 0) violations.push({ field: 'message.parts', description: `must hold a data part for the skill ${id}` })
  return { fits: false, violations }
}

/** A copy, so that neither a schema nor the agent changes what is kept of the message. */
function copyOf(data: Json): Json {
  return typeof data === 'object' ? structuredClone(data) : data
}

function wrong(violations: readonly Violation[]): InvalidParamsError {
  return new InvalidParamsError(violations)
}

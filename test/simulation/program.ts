/** A small language of agents: what one does in each of its turns. */

import type { Chance } from './chance.js'

/** How a step goes: `flaky` fails in its first try and is tried again, `hangs` never ends and runs into its timeout. */
export interface Work {
  readonly id: string
  readonly goes: 'well' | 'wrong' | 'flaky' | 'hangs'
}

/** `flaky`: the schema changes its mind with time. */
export interface Question {
  readonly id: string
  readonly schema: 'none' | 'ok' | 'flaky'
  readonly timeout?: string
}

export type Act =
  | { readonly does: 'note'; readonly id: string }
  | { readonly does: 'chunk'; readonly artifact: string; readonly id: string; readonly last: boolean }
  | { readonly does: 'artifact'; readonly artifact: string; readonly id: string }
  /** Chunks whose text is another one in each run. */
  | { readonly does: 'raw'; readonly id: string; readonly pieces: number }
  /** Something that takes time and leaves no record. */
  | { readonly does: 'linger'; readonly id: string }
  | { readonly does: 'step'; readonly work: Work; readonly isCaught: boolean }
  | { readonly does: 'all' | 'race'; readonly works: readonly Work[]; readonly beside?: Act; readonly isCaught: boolean }
  | { readonly does: 'begin'; readonly work: Work }
  | { readonly does: 'join'; readonly id: string }
  | { readonly does: 'ask'; readonly question: Question }
  | { readonly does: 'authorize'; readonly id: string }
  | { readonly does: 'take' }
  | { readonly does: 'next'; readonly timeout: string }
  | { readonly does: 'sleep'; readonly id: string; readonly duration: string }
  | { readonly does: 'wait'; readonly id: string; readonly name: string; readonly timeout?: string }
  | { readonly does: 'stream'; readonly artifact: string; readonly id: string; readonly pieces: number; readonly breaks: boolean }
  | { readonly does: 'remember' }

export type End = 'input' | 'value' | 'note' | 'fail' | 'throw' | 'reject'

export interface Turn {
  readonly acts: readonly Act[]
  readonly end: End
}

export type Program = readonly Turn[]

/** Names of signals that programs wait for. */
export const signalNames = ['left', 'right'] as const

const timeouts = ['40s', '5m', '20m'] as const

/** A random agent of so many turns, at most `length` acts each. */
export function makeProgram(chance: Chance, length: number): Program {
  let ids = 0
  const id = (kind: string) => `${kind}${++ids}`
  const work = (): Work => {
    const drawn = chance.fraction()
    return { id: id('k'), goes: drawn < 0.7 ? 'well' : drawn < 0.88 ? 'wrong' : drawn < 0.96 ? 'flaky' : 'hangs' }
  }
  const works = (least: number) => Array.from({ length: least + chance.below(2) }, work)
  const maybeTimeout = (probability: number) => (chance.is(probability) ? { timeout: chance.pick(timeouts) } : {})

  function wait(): Act {
    const drawn = chance.fraction()
    if (drawn < 0.45)
      return { does: 'ask', question: { id: id('q'), schema: chance.pick(['none', 'none', 'ok', 'flaky'] as const), ...maybeTimeout(0.4) } }
    if (drawn < 0.6) return { does: 'authorize', id: id('u') }
    if (drawn < 0.8) return { does: 'sleep', id: id('s'), duration: chance.pick(['2s', '45s', '10m']) }
    return { does: 'wait', id: id('w'), name: chance.pick(signalNames), ...maybeTimeout(0.4) }
  }

  function turn(end: End): Turn {
    const acts: Act[] = []
    const closed = new Set<string>()
    const begun: string[] = []
    const count = chance.below(length + 1)
    for (let place = 0; place < count; place++) {
      const drawn = chance.fraction()
      const artifact = chance.pick(['x', 'y', 'z'])
      if (drawn < 0.08) acts.push({ does: 'note', id: id('n') })
      else if (drawn < 0.26) {
        if (closed.has(artifact)) continue
        const last = chance.is(0.15)
        if (last) closed.add(artifact)
        acts.push({ does: 'chunk', artifact, id: id('c'), last })
      } else if (drawn < 0.3) {
        if (closed.has(artifact)) continue
        closed.add(artifact)
        acts.push({ does: 'artifact', artifact, id: id('a') })
      } else if (drawn < 0.36) acts.push({ does: 'raw', id: id('r'), pieces: 1 + chance.below(4) })
      else if (drawn < 0.41) acts.push({ does: 'linger', id: id('l') })
      else if (drawn < 0.52) acts.push({ does: 'step', work: work(), isCaught: chance.is(0.85) })
      else if (drawn < 0.58)
        acts.push({ does: 'all', works: works(2), ...(chance.is(0.25) && { beside: wait() }), isCaught: chance.is(0.85) })
      else if (drawn < 0.63) acts.push({ does: 'race', works: works(1), ...(chance.is(0.35) && { beside: wait() }), isCaught: true })
      else if (drawn < 0.67) {
        const background = work()
        begun.push(background.id)
        acts.push({ does: 'begin', work: background })
      } else if (drawn < 0.7) {
        const joined = begun.shift()
        if (joined) acts.push({ does: 'join', id: joined })
      } else if (drawn < 0.84) acts.push(wait())
      else if (drawn < 0.89) acts.push({ does: 'take' })
      else if (drawn < 0.91) acts.push({ does: 'next', timeout: chance.pick(timeouts) })
      else if (drawn < 0.96) {
        const breaks = chance.is(0.15)
        acts.push({ does: 'stream', artifact: `${breaks ? 'f' : 't'}${chance.below(2)}`, id: id('m'), pieces: chance.below(4), breaks })
      } else acts.push({ does: 'remember' })
    }
    for (const left of begun) if (chance.is(0.6)) acts.push({ does: 'join', id: left })
    return { acts, end }
  }

  if (chance.is(0.02)) return [{ acts: [], end: 'reject' }]
  const turns = 1 + Number(chance.is(0.35)) + Number(chance.is(0.15))
  return Array.from({ length: turns }, (_, place) =>
    turn(place + 1 < turns ? 'input' : chance.pick(['value', 'value', 'value', 'note', 'fail', 'throw'])),
  )
}

/** All that a program may wait for under a name. */
export function namesOf(program: Program): readonly string[] {
  return [...new Set(waitsOf(program).map(({ name }) => name))]
}

/** Of the signal whose record has this key. */
export function signalName(program: Program, key: string): string {
  return waitsOf(program).find(({ id }) => `wait:${id}` === key)?.name ?? ''
}

function waitsOf(program: Program): readonly (Act & { readonly does: 'wait' })[] {
  const acts = program.flatMap((turn) => turn.acts.flatMap((act) => ('beside' in act && act.beside ? [act, act.beside] : [act])))
  return acts.filter((act) => act.does === 'wait')
}

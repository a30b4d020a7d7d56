/** Plays a scenario with an accident at each of its COMMITs, and compares what comes of it. */

import { type Accident, type AccidentKind, type Crashable, type CrashableOptions, openCrashable, type Program } from './kit.js'

/** One play of a scenario: its own program with its own effects. */
export interface Play {
  readonly program: Program
  readonly options?: CrashableOptions
  /** Gives what must be the same with and without an accident. */
  readonly run: (server: Crashable) => Promise<unknown>
}

export interface Comparison {
  readonly expected: unknown
  readonly commits: number
  readonly differences: readonly { readonly accident: Accident; readonly got: unknown }[]
}

/** @param begin makes a play that shares nothing with another */
export async function withEachAccident(begin: () => Play, kinds: readonly AccidentKind[]): Promise<Comparison> {
  const plain = await play(begin())
  const expected = plain.got
  const differences: { accident: Accident; got: unknown }[] = []
  for (const how of kinds) {
    for (let commit = 1; commit <= plain.commits; commit++) {
      const accident = { commit, how }
      const { got, isUnhurt } = await play(begin(), accident)
      if (isUnhurt) differences.push({ accident, got: `there was no commit ${commit}` })
      else if (JSON.stringify(got) !== JSON.stringify(expected)) differences.push({ accident, got })
    }
  }
  return { expected, commits: plain.commits, differences }
}

interface Played {
  readonly got: unknown
  readonly commits: number
  readonly isUnhurt: boolean
}

async function play({ program, options, run }: Play, accident?: Accident): Promise<Played> {
  const server = await openCrashable(program, { ...options, accident })
  const played = (got: unknown) => ({ got, commits: server.commits(), isUnhurt: server.isUnhurt() })
  try {
    return played(await run(server))
  } catch (error) {
    return played(`it did not come to its end: ${String(error)}`)
  } finally {
    server.kill()
  }
}

/** What a turn has made of its artifacts so far, and what of it has to go out. */

import type { Artifact, Part } from '../protocol/wire.js'
import type { NewEvent } from '../task/event.js'
import { artifactEvent, type TaskIds } from '../task/make-event.js'
import { copyParts, type Output } from './output.js'

export type ArtifactOutput = Exclude<Output, { readonly kind: 'working' }>

interface Made {
  /** With all its parts as long as nothing of it went out; without any afterwards. */
  artifact: Artifact
  isClosed: boolean
  /** Whether this run has put it out: what comes next is appended to that. */
  isOut: boolean
}

export class Outputs {
  readonly #ids: TaskIds
  readonly #made = new Map<string, Made>()

  constructor(ids: TaskIds) {
    this.#ids = ids
  }

  /** @throws {TypeError} for a chunk after the last one */
  check(output: ArtifactOutput): void {
    if (output.kind !== 'chunk' || output.begins || !this.#made.get(output.artifactId)?.isClosed) return
    throw new TypeError(
      `chunk('${output.artifactId}') after its last chunk: the artifact was closed in this turn; give the new one another name`,
    )
  }

  /**
   * The event that `output` is; undefined while the run is silent. The first of an artifact that goes out carries all
   * that the turn made of it by then, and replaces what earlier runs put out.
   */
  put(output: ArtifactOutput, isSilent: boolean): NewEvent | undefined {
    const before = output.kind === 'chunk' && !output.begins ? this.#made.get(output.artifactId) : undefined
    const isClosed = output.kind === 'artifact' || output.last
    const append = before?.isOut ?? false
    const artifact = append ? artifactOf(output, output.parts) : artifactOf(output, [...(before?.artifact.parts ?? []), ...output.parts])
    const isOut = append || !isSilent
    // What is out is in the log; only what is not has to be remembered.
    this.#made.set(output.artifactId, {
      artifact: isOut ? artifactOf(output, []) : { ...artifact, parts: copyParts(artifact.parts) },
      isClosed,
      isOut,
    })
    return isSilent ? undefined : artifactEvent(this.#ids, artifact, { append, last: isClosed })
  }

  /** Every artifact of which nothing went out, whole. */
  unsent(): readonly NewEvent[] {
    const unsent = [...this.#made.values()].filter(({ isOut }) => !isOut)
    return unsent.map(({ artifact, isClosed }) => artifactEvent(this.#ids, artifact, { append: false, last: isClosed }))
  }
}

function artifactOf(output: ArtifactOutput, parts: readonly Part[]): Artifact {
  const { artifactId, name } = output
  const description = output.kind === 'artifact' ? output.description : undefined
  return { artifactId, name, ...(description !== undefined && { description }), parts }
}

/** Whether an output is remembered only: it went out when an earlier run made it. */
export function isSilent(output: Output, isLive: boolean): boolean {
  if (output.kind === 'chunk' && output.stream) return output.stream === 'recorded'
  return !isLive
}

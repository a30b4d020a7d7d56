/** Chunks of one artifact, made one. */

import type { StreamResponse, TaskArtifactUpdateEvent } from '../protocol/wire.js'
import type { TaskEvent } from '../task/event.js'

/** Whether others of the same artifact may follow it. */
export function isOpenChunk(event: TaskEvent): boolean {
  const update = updateIn(event)
  return update !== undefined && update.lastChunk !== true
}

/** The events at the head of `events` that are chunks of one artifact, each appended to the one before it; at least the first. */
export function chunksAhead(events: readonly TaskEvent[]): readonly TaskEvent[] {
  let last = updateIn(events[0])
  let count = 1
  while (last !== undefined && last.lastChunk !== true && count < events.length) {
    const next = updateIn(events[count])
    if (next?.append !== true || next.artifact.artifactId !== last.artifact.artifactId) break
    last = next
    count++
  }
  return events.slice(0, count)
}

/** The body of one event that says what `chunks` say; they are as {@link chunksAhead} gives them. */
export function mergedBody(chunks: readonly TaskEvent[]): string {
  const [first, ...more] = chunks.map(updateIn).filter((update) => update !== undefined)
  const last = more.at(-1)
  if (first === undefined || last === undefined) return chunks[0]?.body ?? ''
  let artifact = first.artifact
  for (const { artifact: chunk } of more) {
    const metadata = { ...artifact.metadata, ...chunk.metadata }
    // As in the fold of the task: what an artifact says of itself first stays.
    artifact = { ...chunk, ...artifact, ...(Object.keys(metadata).length > 0 && { metadata }) }
  }
  const parts = [first, ...more].flatMap((update) => update.artifact.parts)
  const artifactUpdate = { ...first, artifact: { ...artifact, parts }, lastChunk: last.lastChunk ?? false }
  return JSON.stringify({ artifactUpdate } satisfies StreamResponse)
}

function updateIn(event: TaskEvent | undefined): TaskArtifactUpdateEvent | undefined {
  if (event?.kind !== 'artifact') return undefined
  // The body of an event of this kind is a StreamResponse with this member.
  return (JSON.parse(event.body) as StreamResponse).artifactUpdate
}

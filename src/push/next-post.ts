/** What a configuration's receiver is to be told next: from the log, and from how far it has been told. */

import { isAtRest } from '../protocol/states.js'
import type { Push, Store, TaskRef } from '../store/store.js'
import type { TaskEvent } from '../task/event.js'
import { fold } from '../task/fold.js'
import { chunksAhead, isOpenChunk, mergedBody } from './coalesce.js'

export interface NextPost {
  /** Of the newest event in it. */
  readonly number: number
  /** A StreamResponse with one member. */
  readonly body: string
  /** It could hold more events when it is made again: its end is to be settled before it goes out. */
  readonly isOpen: boolean
}

/** Most posts are within it, and chunks that are made one are kept so. */
export const smallBytes = 16 << 10

/** Undefined where nothing is left. */
export async function nextPost(store: Store, push: Push, coalesce: 'chunks' | undefined): Promise<NextPost | undefined> {
  const { task, progress } = push
  if (progress.opens) return { number: progress.after, body: `{"task":${await taskText(store, task.ref, progress.after)}}`, isOpen: false }
  if (progress.state === 'resting') return nextRest(store, task.ref, progress.after)
  if (progress.until !== undefined) return settled(store, task.ref, progress.after, progress.until)
  const events = await postable(store, task.ref, progress.after, coalesce === undefined ? 1 : smallBytes)
  const [first] = events
  if (first === undefined) return undefined
  return coalesce === undefined ? postOf([first], false) : postOf(chunksAhead(events), isOpenChunk(first))
}

function postOf(events: readonly TaskEvent[], isOpen: boolean): NextPost | undefined {
  const last = events.at(-1)
  return last && { number: last.seq, body: mergedBody(events), isOpen }
}

/** What streams show; the creation is the caller's own doing (D24). */
function postable(store: Store, ref: TaskRef, after: number, maxBytes: number): Promise<readonly TaskEvent[]> {
  return store.events(ref, after, { kinds: ['status', 'artifact'], maxBytes })
}

async function settled(store: Store, ref: TaskRef, after: number, until: number): Promise<NextPost | undefined> {
  const events: TaskEvent[] = []
  for (let last = after; last < until; ) {
    const page = await postable(store, ref, last, smallBytes)
    events.push(...page.filter(({ seq }) => seq <= until))
    last = page.at(-1)?.seq ?? until
  }
  return postOf(events, false)
}

async function nextRest(store: Store, ref: TaskRef, after: number): Promise<NextPost | undefined> {
  for (let last = after; ; ) {
    const page = await store.events(ref, last, { kinds: ['status'] })
    const found = page.find(({ state }) => state !== undefined && isAtRest(state))
    if (found) return postOf([found], false)
    const end = page.at(-1)
    if (end === undefined) return undefined
    last = end.seq
  }
}

/** The Task as of event `seq`: the same however late it is posted, and however often. */
async function taskText(store: Store, ref: TaskRef, seq: number): Promise<string> {
  const now = await store.read(ref)
  if (now.seq === seq) return now.text
  const events: TaskEvent[] = []
  for (let last = 0; last < seq; ) {
    const page = await store.events(ref, last)
    events.push(...page.filter((event) => event.seq <= seq))
    last = page.at(-1)?.seq ?? seq
  }
  return JSON.stringify(fold(undefined, events))
}

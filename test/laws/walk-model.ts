/** Walks through the list beside what they have to visit: the snapshot of their first page. */

import fc from 'fast-check'
import { expect } from 'vitest'
import type { TaskState, TaskStatus } from '../../src/protocol/wire.js'
import type { Caller, ListPosition, ListQuery, Store, TaskHeader } from '../../src/store/store.js'
import {
  agentMessage,
  completed,
  create,
  fresh,
  idIn,
  inputRequired,
  moved,
  newTask,
  note,
  parsed,
  put,
  status,
  submitted,
  working,
} from './kit.js'

type Filter = { readonly contextId?: string; readonly state?: TaskState; readonly since?: number }

export type WalkStep =
  | { readonly does: 'add'; readonly name: string; readonly contextId: string; readonly at: number }
  | { readonly does: 'move'; readonly which: number; readonly later: number; readonly to: TaskState; readonly twice: boolean }
  | { readonly does: 'output' | 'disturb'; readonly which: number }
  | { readonly does: 'walk'; readonly filter: Filter; readonly pageSize: number }
  | { readonly does: 'next'; readonly which: number }

interface Listed {
  readonly header: TaskHeader
  readonly state: TaskState
  readonly at: number
  readonly status: TaskStatus
}

interface Walk {
  readonly query: ListQuery
  readonly expected: readonly Listed[]
  readonly visited: number
  readonly from: ListPosition | undefined
}

const contexts = fc.constantFrom('c1', 'c2')
const which = fc.nat({ max: 50 })
const filter: fc.Arbitrary<Filter> = fc.record(
  {
    contextId: contexts,
    state: fc.constantFrom<TaskState[]>(submitted, working, inputRequired, completed),
    since: fc.integer({ min: 0, max: 25 }),
  },
  { requiredKeys: [] },
)
const targets = fc.constantFrom<TaskState[]>(working, working, inputRequired, completed, 'TASK_STATE_FAILED')

/** Steps of tasks that are added, moved and finished while walks go on. */
export const walkSteps: fc.Arbitrary<readonly WalkStep[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        does: fc.constant('add'),
        name: fc.constantFrom('a', 'b', 'z', 'Z', '0'),
        contextId: contexts,
        at: fc.integer({ min: 0, max: 20 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ does: fc.constant('move'), which, later: fc.integer({ min: 1, max: 9 }), to: targets, twice: fc.boolean() }),
    },
    { weight: 1, arbitrary: fc.record({ does: fc.constantFrom('output', 'disturb'), which }) },
    { weight: 2, arbitrary: fc.record({ does: fc.constant('walk'), filter, pageSize: fc.integer({ min: 1, max: 4 }) }) },
    { weight: 4, arbitrary: fc.record({ does: fc.constant('next'), which }) },
  ),
  { minLength: 1, maxLength: 40, size: 'max' },
)

/** Walks under way, each beside what it has to visit. */
export class Walks {
  readonly #store: () => Store
  readonly #caller: Caller
  readonly #tasks: Listed[] = []
  readonly #walks: Walk[] = []

  /** @param store asked at each step, since a store may be closed and opened again between two */
  constructor(store: () => Store, caller: Caller) {
    this.#store = store
    this.#caller = caller
  }

  async take(step: WalkStep): Promise<void> {
    if (step.does === 'add') return this.#add(step)
    if (step.does === 'walk') return this.#begin(step)
    if (step.does === 'next') return this.#next(this.#walks.length === 0 ? -1 : step.which % this.#walks.length)
    if (step.does === 'move') return this.#move(step)
    const task = this.#tasks[step.which % Math.max(1, this.#tasks.length)]
    if (task === undefined) return
    if (step.does === 'disturb')
      await create(this.#store(), newTask({ contextId: task.header.contextId, id: fresh('foreign'), at: task.at }))
    else if (!isFinal(task.state)) await put(this.#store(), await this.#current(task), note(task.header, 'more'))
  }

  /** Goes through all walks to their ends. */
  async finish(): Promise<void> {
    for (const index of this.#walks.keys()) {
      while (this.#walks[index]?.from !== undefined) await this.#next(index)
      expect(this.#walks[index]?.visited).toBe(this.#walks[index]?.expected.length)
    }
  }

  async #add({ name, contextId, at }: WalkStep & { readonly does: 'add' }): Promise<void> {
    const task = newTask({ caller: this.#caller, id: `${name}${fresh('task')}`, contextId, at })
    this.#tasks.push({ header: await create(this.#store(), task), state: submitted, at, status: status(submitted, at) })
  }

  async #move({ which, later, to, twice }: WalkStep & { readonly does: 'move' }): Promise<void> {
    const index = which % Math.max(1, this.#tasks.length)
    const task = this.#tasks[index]
    if (task === undefined || isFinal(task.state)) return
    const message = agentMessage(task.header, 'so it goes')
    const at = task.at + later
    // Two statuses of one transaction share its revision.
    const events = [...(twice ? [moved(task.header, working, at)] : []), moved(task.header, to, at + 1, message)]
    await put(this.#store(), await this.#current(task), ...events)
    this.#tasks[index] = { ...task, state: to, at: at + 1, status: status(to, at + 1, message) }
  }

  async #begin({ filter, pageSize }: WalkStep & { readonly does: 'walk' }): Promise<void> {
    const { contextId, state, since } = filter
    const expected = this.#tasks
      .filter((task) => (contextId === undefined || task.header.contextId === contextId) && (state === undefined || task.state === state))
      .filter((task) => since === undefined || task.at >= since)
      .sort((a, b) => b.at - a.at || (a.header.id < b.header.id ? 1 : -1))
    this.#walks.push({ query: { caller: this.#caller, ...filter, pageSize }, expected, visited: 0, from: undefined })
    await this.#page(this.#walks.length - 1)
  }

  async #next(index: number): Promise<void> {
    if (this.#walks[index]?.from !== undefined) await this.#page(index)
  }

  async #page(index: number): Promise<void> {
    const walk = this.#walks[index]
    if (walk === undefined) return
    const { query, expected, visited, from } = walk
    const page = await this.#store().list({ ...query, ...(from === undefined ? {} : { from }) })
    const due = expected.slice(visited, visited + query.pageSize)
    expect(page.tasks.map(({ text }) => idIn(text))).toEqual(due.map(({ header }) => header.id))
    expect(page.tasks.map((task) => parsed(task.status))).toEqual(due.map((task) => task.status))
    expect(page.total).toBe(expected.length)
    expect(page.next === undefined).toBe(visited + due.length === expected.length)
    for (const [i, task] of due.entries()) {
      const now = await this.#store().read((await this.#current(task)).ref)
      expect(parsed(page.tasks[i]?.text ?? '')).toEqual(parsed(now.text))
    }
    this.#walks[index] = { ...walk, visited: visited + due.length, from: page.next }
  }

  /** The header by name: a reference is good for one opening of the store only. */
  async #current({ header }: Listed): Promise<TaskHeader> {
    const found = await this.#store().find(this.#caller, header.id)
    if (found === undefined) throw new Error(`the task ${header.id} is gone`)
    return found
  }
}

function isFinal(state: TaskState): boolean {
  return state === completed || state === 'TASK_STATE_FAILED'
}

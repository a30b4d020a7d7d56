/** A walk through ListTasks is a snapshot of its first page (D20), whatever happens meanwhile, and its tokens are good for nothing else. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Auth, Server } from '../../src/index.js'
import { sqlite } from '../../src/index.js'
import type { ListPage, ListQuery, Store } from '../../src/store/store.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, openServer, refusal, result } from '../harness/server.js'
import { fresh, freshCaller } from '../laws/kit.js'
import { Walks, walkSteps } from '../laws/walk-model.js'

const histories = 1_000

/** Whoever shows a token is called so: each history has a caller of its own. */
const everybody: Auth = {
  authenticates: true,
  identify: ({ header }) => {
    const id = header('authorization')?.replace('Bearer ', '')
    return id ? { id, claims: {}, scopes: [], tenants: [], authenticated: true } : undefined
  },
  challenge: () => 'Bearer',
  schemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
}

test(`in ${histories} random histories a walk over alternating bindings visits each task of its first page once, in order and with that page’s status`, async () => {
  const { server, store } = await openWithStore()
  const stranger = (await openWithStore()).server
  const counts = { pages: 0, refused: new Map<string, number>() }
  await fc.assert(
    fc.asyncProperty(walkSteps, async (steps) => {
      const caller = freshCaller()
      const listed = listedByHandler({ server, stranger, store, counts })
      const walks = new Walks(() => listed, caller)
      for (const step of steps) await walks.take(step)
      await walks.finish()
    }),
    { numRuns: histories },
  )
  expect(counts.pages).toBeGreaterThan(histories)
  expect([...counts.refused.keys()].sort()).toEqual([...badTokens.keys()].sort())
  await Promise.all([server.close(), stranger.close()])
}, 120_000)

async function openWithStore(): Promise<{ readonly server: Server; readonly store: Store }> {
  let opened: Store | undefined
  // What moves a task here is the walk alone: the server takes none up.
  const idle = { runnable: async () => [], onRunnable: () => () => {} }
  const source = {
    async open(options: Parameters<ReturnType<typeof sqlite>['open']>[0]) {
      opened = await sqlite(':memory:').open(options)
      return { ...opened, ...idle }
    },
  }
  const server = await openServer(scriptAgent, { store: source, auth: everybody })
  if (!opened) throw new Error('the server has opened no store')
  return { server, store: opened }
}

interface Surroundings {
  readonly server: Server
  /** Another server, whose tokens are sealed with another key. */
  readonly stranger: Server
  readonly store: Store
  readonly counts: { pages: number; readonly refused: Map<string, number> }
}

/** The store of a server, but for its lists: they are what ListTasks answers, page by page on the other binding. */
function listedByHandler({ server, stranger, store, counts }: Surroundings): Store {
  let asked = 0

  async function list(query: ListQuery): Promise<ListPage> {
    const n = asked++
    const { caller, pageSize, from } = query
    const [binding, other] = n % 2 ? bindingNames : [...bindingNames].reverse()
    if (!binding || !other) throw new Error('there are two bindings')
    const as = { as: caller.owner }
    // A position travels as its token; nobody but the next call looks at it.
    const token = from?.id
    const params = { ...filters(query), pageSize, ...(token !== undefined && { pageToken: token }) }
    const page = await result(server.fetch, binding, 'ListTasks', { ...params, includeArtifacts: true }, as)
    counts.pages++
    expect(Object.keys(page)).toEqual(['tasks', 'nextPageToken', 'pageSize', 'totalSize'])

    // The same page again, on the other binding and with less of each task.
    const historyLength = n % 3
    const less = await result(server.fetch, other, 'ListTasks', { ...params, historyLength }, as)
    expect(less.tasks).toEqual(page.tasks.map((task: any) => lessOf(task, historyLength)))
    expect([less.totalSize, less.nextPageToken === '']).toEqual([page.totalSize, page.nextPageToken === ''])

    if (page.nextPageToken !== '') await refuse(page.nextPageToken, query, n)
    const tasks = await Promise.all(page.tasks.map((task: any) => asListed(task, query)))
    const next = { revision: 0, statusTimestamp: 0, id: page.nextPageToken, total: page.totalSize }
    return { tasks, total: page.totalSize, ...(page.nextPageToken !== '' && { next }) }
  }

  /** What the model compares: the task as it is now in all but its status, which is the first page's. */
  async function asListed(task: any, { caller }: ListQuery) {
    const header = await store.find(caller, task.id)
    if (!header) throw new Error(`the task ${task.id} is not there`)
    const now = JSON.parse((await store.read(header.ref)).text)
    const { artifacts, ...rest } = task
    const text = JSON.stringify({ ...rest, ...(artifacts.length > 0 && { artifacts }), status: now.status })
    return { text, status: JSON.stringify(task.status) }
  }

  /** One bad use of a good token per page. */
  async function refuse(token: string, query: ListQuery, n: number): Promise<void> {
    const [kind = '', make] = [...badTokens][(n + token.charCodeAt(0)) % badTokens.size] ?? []
    const { as = query.caller.owner, at = server, ...bad } = make?.(token, query, stranger) ?? {}
    const params = { ...filters(query), pageSize: query.pageSize, pageToken: token, ...bad }
    const answer = await refusal(at.fetch, n % 2 ? 'JSONRPC' : 'HTTP+JSON', 'ListTasks', params, { as })
    expect([kind, answer]).toMatchObject([kind, { reason: 'INVALID_PARAMS', fields: ['pageToken'] }])
    counts.refused.set(kind, (counts.refused.get(kind) ?? 0) + 1)
  }

  return { ...store, list }
}

function filters({ contextId, state, since }: ListQuery) {
  return {
    ...(contextId !== undefined && { contextId }),
    ...(state !== undefined && { status: state }),
    ...(since !== undefined && { statusTimestampAfter: new Date(since).toISOString() }),
  }
}

function lessOf({ artifacts: _, history, ...task }: any, historyLength: number) {
  return { ...task, ...(historyLength > 0 && { history: history.slice(-historyLength) }) }
}

interface Use {
  readonly as?: string
  readonly at?: Server
  readonly [param: string]: unknown
}

type BadUse = (token: string, query: ListQuery, stranger: Server) => Use

const flip = (token: string, at: number) => `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`

const badTokens: ReadonlyMap<string, BadUse> = new Map<string, BadUse>([
  ['forged', () => ({ pageToken: Buffer.from(fresh('forged')).toString('base64url') })],
  ['cut by one', (token) => ({ pageToken: token.slice(0, -1) })],
  ['cut in half', (token) => ({ pageToken: token.slice(0, token.length >> 1) })],
  ['longer', (token) => ({ pageToken: `${token}A` })],
  ['changed at its start', (token) => ({ pageToken: flip(token, 0) })],
  ['changed in its middle', (token) => ({ pageToken: flip(token, token.length >> 1) })],
  ['padded', (token) => ({ pageToken: `${token}=` })],
  ['somebody else’s', () => ({ as: freshCaller().owner })],
  ['of another server', (_token, _query, at) => ({ at })],
  ['of another context', (_, { contextId }) => ({ contextId: contextId === 'c1' ? 'c2' : 'c1' })],
  ['of another state', (_, { state }) => ({ status: state === 'TASK_STATE_WORKING' ? 'TASK_STATE_COMPLETED' : 'TASK_STATE_WORKING' })],
  ['of another time', (_, { since = 0 }) => ({ statusTimestampAfter: new Date(since + 1).toISOString() })],
])

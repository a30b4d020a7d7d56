/** Pushes outlive their process: it dies at each COMMIT, before it and after it, and between a post and its answer. */

import { expect, test } from 'vitest'
import { agent, chunk, completed, working } from '../../src/index.js'
import type { OpenedPost } from '../../src/push/post.js'
import { mountServer, type Server } from '../../src/server/create-server.js'
import { createCrashableMemory } from '../../src/store/sqlite/crashable.js'
import type { Store } from '../../src/store/store.js'
import type { TaskEvent } from '../../src/task/event.js'
import { type MortalWorld, mortalWorld } from '../../src/testing/mortal-world.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { people, requestFor, userMessage } from '../harness/server.js'
import { hook, openReceivers, type Received } from './kit.js'

const steady = agent({ name: 'Steady', description: 'Says five things.' }, async function* () {
  yield working('one')
  yield chunk('a', 'two ')
  yield chunk('a', 'three ')
  yield chunk('a', 'four', { last: true })
  return completed('five')
})

interface Played {
  readonly posts: readonly Received[]
  readonly log: readonly TaskEvent[]
  /** COMMITs of the life in which nothing happens. */
  readonly commits: number
}

/** The process dies when `isTime` says so, once; the next one goes on. */
async function play(options: {
  readonly push: true | { readonly coalesce: 'chunks' }
  readonly isTime: (moment: string) => boolean
}): Promise<Played> {
  const base = virtualWorld()
  const disk = createCrashableMemory()
  const receivers = openReceivers(base.now)
  const failed = new Set<number>()
  // The third one is answered 503 once.
  receivers.answer = ({ number }) => {
    if (number !== 3 || failed.has(number)) return 204
    failed.add(number)
    return 503
  }
  let lives = 0
  let world: MortalWorld | undefined
  let store: Store | undefined
  let isDue = true

  function at(moment: string): void {
    if (!isDue || !options.isTime(moment)) return
    isDue = false
    world?.die()
    disk.crash()
    base.defer(() => void start())
  }
  disk.beforeCommit = (n) => {
    at(`before ${n}`)
    return undefined
  }
  disk.afterCommit = (n) => at(`after ${n}`)

  async function start(): Promise<void> {
    const mine = mortalWorld({ base, seed: ++lives, onUse() {} })
    world = mine
    const openPost = (): OpenedPost => ({
      async post(request, signal) {
        if (mine.isDead) return new Promise<never>(() => {})
        const status = await receivers.post(request, signal)
        at(`answer ${receivers.posts.length}`)
        return mine.isDead ? new Promise<never>(() => {}) : status
      },
      checkAddresses: async () => {},
      close: async () => {},
    })
    const source = {
      open: async (given: Parameters<typeof disk.open>[0]) => {
        // Its driver is loaded in real time.
        store = await base.outside(() => disk.open(given))
        return store
      },
    }
    const server = await mountServer(
      steady,
      { store: source, auth: people, url: 'http://agent.test', world: mine, push: options.push },
      { openPost },
    )
    if (!mine.isDead) await say(server)
  }

  // The same message in each life: it makes one task.
  const message = userMessage('go')
  async function say(server: Server): Promise<void> {
    const configuration = { returnImmediately: true, taskPushNotificationConfig: { url: hook, id: 'c' } }
    await server.fetch(requestFor('JSONRPC', 'SendMessage', { message, configuration }))
  }

  void start()
  await base.advance(120_000)
  if (!store) throw new Error('no store was opened')
  const { tasks } = await store.list({ caller: { tenant: '', owner: 'alice' }, pageSize: 10 })
  expect(tasks).toHaveLength(1)
  const header = await store.locate(JSON.parse(tasks[0]?.text ?? '').id)
  if (!header) throw new Error('the task is not there')
  expect(header.state).toBe('TASK_STATE_COMPLETED')
  // Everything was posted, so the configuration is done with.
  expect(await store.pushes(header.ref)).toEqual([])
  return { posts: receivers.posts, log: await store.events(header.ref, 0), commits: disk.commits }
}

function judge({ posts, log }: Played, deaths: number): void {
  const wanted = log.filter(({ kind }) => kind === 'status' || kind === 'artifact')
  const bodies = new Map(wanted.map(({ seq, body }) => [seq, body]))
  for (const { number, body } of posts) expect(body).toBe(bodies.get(number))
  const numbers = posts.map(({ number }) => number)
  // In order, without a gap; what is made again comes right after the one before.
  expect(numbers.filter((number, i) => number !== numbers[i - 1])).toEqual(wanted.map(({ seq }) => seq))
  expect(posts.length).toBeLessThanOrEqual(wanted.length + 1 + deaths)
}

test('without an accident each event is posted once, but for the one that was answered 503', async () => {
  const played = await play({ push: true, isTime: () => false })
  judge(played, 0)
  expect(played.posts.map(({ number }) => number)).toEqual([2, 3, 3, 4, 5, 6])
})

test('drop-after-restart: whenever the process dies, nothing is skipped and at most the unanswered post is made again', async () => {
  const { commits } = await play({ push: true, isTime: () => false })
  expect(commits).toBeGreaterThan(8)
  for (let n = 1; n <= commits; n++) {
    for (const moment of [`before ${n}`, `after ${n}`]) judge(await play({ push: true, isTime: (now) => now === moment }), 1)
  }
  for (let n = 1; n <= 6; n++) {
    const played = await play({ push: true, isTime: (now) => now === `answer ${n}` })
    judge(played, 1)
    // The answer was never heard of; if it was the 503, the post after it is the one that had to come anyway.
    expect(played.posts).toHaveLength(n === 2 ? 6 : 7)
  }
})

test('chunks that were made one are the same chunks after the process died', async () => {
  const push = { coalesce: 'chunks' } as const
  const { commits, posts: undisturbed } = await play({ push, isTime: () => false })
  const moments = Array.from({ length: commits }, (_, i) => [`before ${i + 1}`, `after ${i + 1}`])
  const answers = undisturbed.map((_, i) => `answer ${i + 1}`)
  for (const moment of [...moments.flat(), ...answers]) {
    const { posts, log } = await play({ push, isTime: (now) => now === moment })
    const byNumber = new Map<number, string>()
    for (const { number, body } of posts) expect(body).toBe(byNumber.set(number, byNumber.get(number) ?? body).get(number))
    const texts = [...byNumber.values()]
      .flatMap((body) => JSON.parse(body).artifactUpdate?.artifact.parts ?? [])
      .map((part: any) => part.text)
    const told = log.filter(({ kind }) => kind === 'artifact').flatMap(({ body }) => JSON.parse(body).artifactUpdate.artifact.parts)
    expect([moment, texts]).toEqual([moment, told.map((part: any) => part.text)])
    expect(posts.at(-1)?.number).toBe(log.at(-1)?.seq)
  }
})

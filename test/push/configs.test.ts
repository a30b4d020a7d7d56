/** What becomes of posts when their configuration is changed, of its secrets, and of the server's end. */

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { anonymous, createServer as createEdgeServer } from '../../src/edge.js'
import { sqlite } from '../../src/index.js'
import { TaskNotFoundError } from '../../src/protocol/errors.js'
import { mountServer } from '../../src/server/create-server.js'
import { createCrashableMemory } from '../../src/store/sqlite/crashable.js'
import type { StoreSource } from '../../src/store/store.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, people, refusal, result, userMessage } from '../harness/server.js'
import { begin, closeStill, gate, withStore } from '../runtime/kit.js'
import { freshFile } from '../store/sqlite/watched.js'
import { createConfig, hook, numbersOf, openPushing, saysOf, send } from './kit.js'

const secrets = { token: 'tok-secret', authentication: { scheme: 'Bearer', credentials: 'cred-secret' } }

describe('a configuration that is changed', () => {
  test('deleting it stops a retry, and what is under way', async () => {
    const pushing = await openPushing(scriptAgent)
    let signal: AbortSignal | undefined
    pushing.answer = () => 503
    const task = await send(pushing, 'ask', { id: 'c' })
    await pushing.world.advance(0)
    expect(pushing.posts).toHaveLength(1)
    const remove = () => result(pushing.fetch, 'JSONRPC', 'DeleteTaskPushNotificationConfig', { taskId: task.id, id: 'c' })
    await remove()
    await pushing.world.advance(100_000)
    expect(pushing.posts).toHaveLength(1)
    expect(await pushing.server.deliveries(task.id)).toEqual([])
    const { post } = pushing
    Object.assign(pushing, {
      post: (request: Parameters<typeof post>[0], given: AbortSignal) => {
        signal = given
        return post(request, given)
      },
    })
    pushing.answer = () => 'hang'
    await createConfig(pushing, task.id, { id: 'c' })
    await pushing.world.advance(0)
    expect(signal?.aborted).toBe(false)
    await remove()
    await pushing.world.advance(0)
    expect(signal?.aborted).toBe(true)
  })

  test('one that is replaced within a send goes on at the new address with what the old one was not told', async () => {
    const pushing = await openPushing(scriptAgent)
    pushing.answer = ({ url }) => (url === hook ? 'hang' : 204)
    const task = await send(pushing, 'ask', { id: 'c' })
    await pushing.world.advance(0)
    await send(pushing, '42', { id: 'c', url: 'https://new.example/' }, { taskId: task.id })
    await pushing.world.advance(100_000)
    const to = (of: string) => pushing.posts.filter(({ url }) => url === of).map(saysOf)
    expect(to(hook)).toEqual(['INPUT_REQUIRED'])
    expect(to('https://new.example/')).toEqual(['INPUT_REQUIRED', 'WORKING', [{ data: { answer: '42' } }], 'COMPLETED'])
  })

  test('one that comes again with a message after its end begins again, under the same id', async () => {
    const pushing = await openPushing(scriptAgent)
    pushing.answer = () => 410
    const task = await send(pushing, 'ask', secrets)
    await pushing.world.advance(0)
    pushing.answer = () => 204
    await send(pushing, '42', secrets, { taskId: task.id })
    await pushing.world.advance(0)
    const { configs } = await result(pushing.fetch, 'JSONRPC', 'ListTaskPushNotificationConfigs', { taskId: task.id })
    expect(configs).toHaveLength(1)
    expect(pushing.posts.map(saysOf)).toEqual(['INPUT_REQUIRED', 'WORKING', [{ data: { answer: '42' } }], 'COMPLETED'])
  })
})

describe('secrets', () => {
  test('token and credentials are in no byte of the store and in no line of the log, whatever the receiver does', async () => {
    const file = freshFile()
    const pushing = await openPushing(scriptAgent, { store: sqlite(file) })
    const statuses = [503, 404, 500, 400, 410]
    pushing.answer = () => statuses.shift() ?? 'refuse'
    const task = await send(pushing, 'note x', { ...secrets, url: 'https://hook.example/?key=url-secret' })
    await pushing.world.advance(200_000)
    expect(pushing.posts[0]?.headers).toMatchObject({ authorization: 'Bearer cred-secret', 'x-a2a-notification-token': 'tok-secret' })
    expect(pushing.lines.length).toBeGreaterThan(1)
    const bytes = [file, `${file}-wal`].map((path) => readFileSync(path, 'latin1')).join()
    expect(bytes).toContain('hook.example')
    const told = JSON.stringify([pushing.lines, await pushing.server.deliveries(task.id)])
    expect(bytes).not.toMatch(/tok-secret|cred-secret/)
    expect(told).not.toMatch(/tok-secret|cred-secret|url-secret/)
  })

  test('that cannot be opened end their configuration, which is recorded; others go on', async () => {
    const store = withStore((inner) => ({
      push: async (push) => {
        const found = await inner.push(push)
        return found?.config.url === hook ? { ...found, config: { ...found.config, sealed: 'spoiled' } } : found
      },
    }))
    const pushing = await openPushing(scriptAgent, { store })
    const task = await send(pushing, 'ask', { ...secrets, url: hook })
    const another = await send(pushing, 'echo', { ...secrets, url: 'https://other.example/' })
    await pushing.world.advance(600_000)
    expect(new Set(pushing.posts.map(({ url }) => url))).toEqual(new Set(['https://other.example/']))
    expect(pushing.lines.map(({ message }) => message)).toEqual(['the secrets of a push configuration cannot be opened, and it ends'])
    expect(await pushing.server.deliveries(task.id)).toMatchObject([{ attempt: 1, outcome: 'ended', failure: 'secrets' }])
    expect(new Set((await pushing.server.deliveries(another.id)).map(({ outcome }) => outcome))).toEqual(new Set(['delivered']))
  })

  test('that have not been posted to its end keep a server without their key from starting', async () => {
    const file = freshFile()
    const secretKey = 'a secret of more than 32 characters, for tests'
    const first = await openPushing(scriptAgent, { store: sqlite(file), secretKey })
    first.answer = () => 'hang'
    const task = await send(first, 'echo', { ...secrets, url: hook })
    await closeStill(first.server, first.world)
    await expect(openPushing(scriptAgent, { store: sqlite(file) })).rejects.toThrow(/sealing key .+ is missing/)
    const second = await openPushing(scriptAgent, { store: sqlite(file), secretKey })
    await second.world.advance(60_000)
    expect((await second.server.deliveries(task.id)).at(-1)).toMatchObject({ outcome: 'delivered' })
  })
})

describe.each(bindingNames)('bad input over %s', (binding) => {
  const long = `https://hook.example/${'x'.repeat(10_000)}`
  const bad: readonly (readonly [config: object, field: string])[] = [
    [{ url: '' }, 'url'],
    [{ url: 'not a url' }, 'url'],
    [{ url: 'file:///etc/passwd' }, 'url'],
    [{ url: 'gopher://hook.example/' }, 'url'],
    [{ url: 'data:text/plain,x' }, 'url'],
    [{ url: long }, 'url'],
    [{ url: 'https://user:pass@hook.example/' }, 'url'],
    [{ url: 'http://hook.example/' }, 'url'],
    [{ url: 'https://127.0.0.1/' }, 'url'],
    [{ url: hook, authentication: { scheme: 'Bad Scheme', credentials: 'x' } }, 'authentication.scheme'],
    [{ url: hook, authentication: { scheme: 'Bearer\r\nX-Evil: 1', credentials: 'x' } }, 'authentication.scheme'],
    [{ url: hook, authentication: { scheme: '', credentials: 'x' } }, 'authentication.scheme'],
    [{ url: hook, authentication: { scheme: 'Bearer', credentials: 'x\r\nX-Evil: 1' } }, 'authentication.credentials'],
    [{ url: hook, authentication: { scheme: 'Bearer', credentials: 'x\n' } }, 'authentication.credentials'],
    [{ url: hook, authentication: { scheme: 'Bearer', credentials: 'gehéim' } }, 'authentication.credentials'],
    [{ url: hook, token: 'x\r\nX-Evil: 1' }, 'token'],
    [{ url: hook, token: 'x\u0000' }, 'token'],
    [{ url: hook, token: ' x' }, 'token'],
    [{ url: hook, token: '😀' }, 'token'],
    [{ url: hook, token: 'x'.repeat(4097) }, 'token'],
    [{ url: hook, id: 'a\nb' }, 'id'],
    [{}, 'url'],
  ]

  test('is InvalidParams naming the field, and nothing is stored or posted', async () => {
    const pushing = await openPushing(scriptAgent)
    const taskId = await begin(pushing.fetch, 'ask')
    await pushing.world.advance(0)
    for (const [config, field] of bad) {
      const own = await refusal(pushing.fetch, binding, 'CreateTaskPushNotificationConfig', { taskId, ...config })
      const configuration = { taskPushNotificationConfig: config }
      const inside = await refusal(pushing.fetch, binding, 'SendMessage', { message: userMessage('ask'), configuration })
      expect([field, own.reason, own.fields]).toEqual([field, 'INVALID_PARAMS', [field]])
      expect([inside.reason, inside.fields]).toEqual(['INVALID_PARAMS', [`configuration.taskPushNotificationConfig.${field}`]])
      expect(own.message + inside.message).not.toContain('X-Evil')
    }
    await pushing.world.advance(100_000)
    expect(pushing.posts).toEqual([])
    expect((await result(pushing.fetch, binding, 'ListTaskPushNotificationConfigs', { taskId })).configs).toEqual([])
    expect((await result(pushing.fetch, binding, 'ListTasks', {})).totalSize).toBe(1)
    const message = userMessage('ask')
    expect((await result(pushing.fetch, binding, 'SendMessage', { message, configuration: {} })).task).toBeDefined()
    const unknown = await refusal(pushing.fetch, binding, 'GetTaskPushNotificationConfig', { taskId, id: 'unknown' })
    expect(unknown.reason).toBe('TASK_NOT_FOUND')
  })
})

describe('the server', () => {
  test('its card says that it pushes, and deliveries of a task that there is not are TaskNotFound', async () => {
    const pushing = await openPushing(scriptAgent)
    const card: any = await (await pushing.fetch(new Request('http://agent.test/.well-known/agent-card.json'))).json()
    expect(card.capabilities.pushNotifications).toBe(true)
    await expect(pushing.server.deliveries('nope')).rejects.toThrow(TaskNotFoundError)
  })

  test('a host without sockets refuses the option in words', async () => {
    const options = { store: sqlite(':memory:'), auth: anonymous(), url: 'http://agent.test' }
    for (const push of [true, {}]) {
      await expect(createEdgeServer(scriptAgent, { ...options, push })).rejects.toThrow('the option push needs a host with sockets')
    }
    const server = await createEdgeServer(scriptAgent, { ...options, push: false })
    await server.close()
  })

  test.each([
    [{ attempts: 0 }, 'attempts'],
    [{ timeoutMs: 'long' }, 'timeoutMs'],
    [{ coalesce: true }, 'coalesce'],
    [{ backoffMs: -1 }, 'backoffMs'],
    [{ retries: 3 }, 'retries'],
  ])('push: %j is refused by its name', async (push, name) => {
    const options = { store: sqlite(':memory:'), auth: people, url: 'http://agent.test', push: push as never }
    await expect(mountServer(scriptAgent, options)).rejects.toThrow(new RegExp(`push.*${name}`))
  })

  test('an explicit undefined is the default', async () => {
    const pushing = await openPushing(scriptAgent, { push: { attempts: undefined as never } })
    pushing.answer = () => 503
    await send(pushing, 'ask')
    await pushing.world.advance(100_000)
    expect(numbersOf(pushing.posts)).toEqual([2, 2, 2])
  })

  test('at its end no post begins, those under way are waited for, and what was not told is told by the next start', async () => {
    const store = sqlite(freshFile())
    const first = await openPushing(scriptAgent, { store })
    const slow = gate()
    first.answer = async () => {
      await slow.opened
      return 204
    }
    await send(first, 'note x')
    await first.world.advance(0)
    expect(numbersOf(first.posts)).toEqual([2])
    let isClosed = false
    const closing = first.server.close().then(() => {
      isClosed = true
    })
    await first.world.advance(5_000)
    expect(isClosed).toBe(false)
    slow.open()
    await closing
    expect(numbersOf(first.posts)).toEqual([2])
    const second = await openPushing(scriptAgent, { store })
    await second.world.advance(1_000)
    expect(numbersOf(second.posts)).toEqual([3])
  })

  test('what it was looking for when it was closed is not posted any more, and no line tells of it', async () => {
    const file = freshFile()
    const first = await openPushing(scriptAgent, { store: sqlite(file) })
    first.answer = () => 'hang'
    await send(first, 'ask')
    await closeStill(first.server, first.world)
    const found = gate()
    const store: StoreSource = {
      async open(options) {
        const opened = await sqlite(file).open(options)
        const openPushes: typeof opened.openPushes = async (page) => {
          const open = await opened.openPushes(page)
          await found.opened
          return open
        }
        return { ...opened, openPushes }
      },
    }
    const second = await openPushing(scriptAgent, { store })
    await closeStill(second.server, second.world)
    found.open()
    await new Promise((resolve) => setImmediate(resolve))
    await second.world.advance(70_000)
    expect([second.posts, second.lines.filter(({ level }) => level === 'error')]).toEqual([[], []])
  })

  test('a receiver that hangs does not keep the server from its end, and is asked again by the next start', async () => {
    const store = sqlite(freshFile())
    const first = await openPushing(scriptAgent, { store })
    first.answer = () => 'hang'
    const task = await send(first, 'ask')
    await first.world.advance(0)
    const closing = first.server.close()
    await first.world.advance(10_000)
    await closing
    const second = await openPushing(scriptAgent, { store })
    await second.world.advance(1_000)
    expect(numbersOf(second.posts)).toEqual([2])
    expect((await second.server.deliveries(task.id)).map(({ attempt }) => attempt)).toEqual([1])
  })
})

describe('a commit that fails after an answer', () => {
  test.each(['fail', 'commit and fail'] as const)('(%s) is made up for, and what was answered is not posted again', async (fate) => {
    const memory = createCrashableMemory()
    const pushing = await openPushing(scriptAgent, { store: memory })
    let isLeft = true
    pushing.answer = () => {
      memory.beforeCommit = () => {
        if (!isLeft) return undefined
        isLeft = false
        return fate
      }
      return 204
    }
    const task = await send(pushing, 'note x')
    await pushing.world.advance(10_000)
    expect(isLeft).toBe(false)
    expect(numbersOf(pushing.posts)).toEqual([2, 3])
    expect(numbersOf(await pushing.server.deliveries(task.id))).toEqual([2, 3])
  })
})

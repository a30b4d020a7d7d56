/** The venue agent as a process: how it starts, refuses to start, answers the lines of its banner, and stops. */

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bindingNames, frames, result, userMessage } from '../harness/server.js'

const main = fileURLToPath(new URL('../../dist/examples/venue-agent/main.js', import.meta.url))
const index = new URL('../../dist/src/index.js', import.meta.url).href
const run = promisify(execFile)

interface Running {
  readonly url: string
  readonly banner: string
  readonly child: ChildProcess
}

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly said: string
  readonly complained: string
}

let folder = ''
const running = new Set<ChildProcess>()
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'errand-venue-'))
})
afterEach(async () => {
  for (const child of running) child.kill('SIGKILL')
  running.clear()
  await rm(folder, { recursive: true, force: true })
})

/** Starts it in `folder` on a free port. */
function launch(env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [main], { cwd: folder, env: { PATH: process.env['PATH'], PORT: '0', ...env } })
  running.add(child)
  let said = ''
  let complained = ''
  child.stdout.on('data', (text) => (said += text))
  child.stderr.on('data', (text) => (complained += text))
  const ended: Promise<Ended> = once(child, 'close').then(([code, signal]) => ({ code, signal, said, complained }))
  const started = new Promise<Running>((resolve, reject) => {
    child.stdout.on('data', () => {
      const url = /JSON-RPC +(\S+)\/a2a\/v1/.exec(said)?.[1]
      // The banner is one write and ends with an empty line.
      if (url !== undefined && said.endsWith('\n\n')) resolve({ url, banner: said, child })
    })
    void ended.then(({ code }) => reject(new Error(`it ended with ${code}: ${complained}`)))
  })
  started.catch(() => undefined)
  return { child, ended, started }
}

function send(url: string, text: string): Promise<any> {
  return result(fetch, 'JSONRPC', 'SendMessage', { message: userMessage(text, { messageId: crypto.randomUUID() }) }, { url })
}

const incomplete = 'We need a place in Lisbon'

describe('stopping', () => {
  test.each(bindingNames)('SIGTERM ends a stream over %s with UNAVAILABLE, and the process with 0', async (binding) => {
    const { child, ended, started } = launch()
    const { url } = await started
    const { task } = await send(url, incomplete)
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
    const seen = []
    for await (const frame of frames(fetch, binding, 'SubscribeToTask', { id: task.id }, { url })) {
      if (seen.push(frame) === 1) child.kill('SIGTERM')
    }
    expect(seen).toHaveLength(2)
    expect(seen[0]?.data.task.id).toBe(task.id)
    const error = seen[1]?.data.error
    expect(error).toMatchObject(binding === 'JSONRPC' ? { code: -32000 } : { code: 503, status: 'UNAVAILABLE' })
    expect((error.data ?? error.details)[0]).toMatchObject({ reason: 'UNAVAILABLE' })
    expect(await ended).toMatchObject({ code: 0, signal: null, complained: '' })
  })

  test('SIGINT ends it with 0 too', async () => {
    const { child, ended, started } = launch()
    await started
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ code: 0, signal: null })
  })

  test('a run that is under way goes on for its time, though nothing else keeps the process', async () => {
    const script = `
      import { agent, bearerTokens, createServer, sqlite } from ${JSON.stringify(index)}
      const pause = () => new Promise((resolve) => setTimeout(resolve, 300).unref())
      const slow = agent({ name: 'Slow', description: 'Takes its time.' }, async () => { await pause(); return 'done' })
      const options = () => ({ store: sqlite('tasks.db'), url: 'http://agent.test', auth: bearerTokens({ alice: 'alice' }) })
      const headers = { 'a2a-version': '1.0', authorization: 'Bearer alice', 'content-type': 'application/json' }
      const server = await createServer(slow, options())
      const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'go' }] }
      const body = JSON.stringify({ message, configuration: { returnImmediately: true } })
      await server.fetch(new Request('http://agent.test/rest/message:send', { method: 'POST', headers, body }))
      await server.close()
      const again = await createServer(slow, options())
      console.log(await (await again.fetch(new Request('http://agent.test/rest/tasks', { headers }))).text())
      await again.close()
    `
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: folder })
    expect(JSON.parse(stdout).tasks.map(({ status }: any) => status.state)).toEqual(['TASK_STATE_COMPLETED'])
  })

  test('a second SIGTERM does not wait for the work that is under way', async () => {
    const { child, ended, started } = launch()
    const { url } = await started
    const last = []
    for await (const { data } of frames(
      fetch,
      'HTTP+JSON',
      'SendStreamingMessage',
      { message: userMessage('Thorough search: Oslo, 40 people, 1 day') },
      { url },
    )) {
      last.push(data)
      if (data.statusUpdate && child.signalCode === null && last.length === 2) child.kill('SIGTERM')
    }
    expect(last.at(-1)).toMatchObject({ error: { status: 'UNAVAILABLE' } })
    child.kill('SIGTERM')
    expect((await ended).code).toBe(1)
  })

  describe('closeOnSignals()', () => {
    /** What a process says that gets `signals` while its server takes its time to close, and how it ends. */
    async function signalled(signals: string, close = 'await closing; console.log("closed")') {
      const script = `
        import { closeOnSignals } from ${JSON.stringify(index)}
        let closed
        const closing = new Promise((resolve) => (closed = resolve))
        closeOnSignals({ async close() { console.log('closing'); ${close} } })
        ${signals}
        setImmediate(() => closed())
        setTimeout(() => {}, 60_000)
      `
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: folder })
      running.add(child)
      let said = ''
      child.stdout.on('data', (text) => (said += text))
      const [code] = await once(child, 'close')
      return { code, said: said.trim().split('\n') }
    }
    const send = (signal: string) => `process.emit('${signal}');`
    const later = 'const { now } = Date; Date.now = () => now() + 1_000;'

    test.each(['SIGTERM', 'SIGINT'])('%s closes the server once, and then ends the process', async (signal) => {
      expect(await signalled(send(signal))).toEqual({ code: 0, said: ['closing', 'closed'] })
    })

    test.each([
      ['SIGTERM', 'SIGTERM', ''],
      ['SIGINT', 'SIGTERM', ''],
      ['SIGTERM', 'SIGINT', later],
      ['SIGINT', 'SIGINT', later],
    ])('after %s, %s ends it at once', async (first, second, between) => {
      expect(await signalled(send(first) + between + send(second))).toEqual({ code: 1, said: ['closing'] })
    })

    test('a Ctrl-C that npm passes on once more is one', async () => {
      expect(await signalled(send('SIGINT') + send('SIGINT'))).toEqual({ code: 0, said: ['closing', 'closed'] })
    })

    test('a server that cannot be closed ends it with an error', async () => {
      expect(await signalled(send('SIGTERM'), 'throw new Error("no")')).toEqual({ code: 1, said: ['closing'] })
    })
  })

  test('what was answered before the stop is there after the next start', async () => {
    const first = launch()
    const { task } = await send((await first.started).url, incomplete)
    first.child.kill('SIGTERM')
    expect((await first.ended).code).toBe(0)
    const { url } = await launch().started
    expect(await result(fetch, 'HTTP+JSON', 'GetTask', { id: task.id }, { url })).toEqual(task)
  })
})

describe('starting', () => {
  test('a second start on the same file is refused with the pid of the first, which goes on', async () => {
    const first = launch()
    const { url } = await first.started
    const second = await launch().ended
    expect(second.code).not.toBe(0)
    expect(second.said).toBe('')
    expect(second.complained).toMatch(new RegExp(`pid ${first.child.pid}\\b`))
    expect(second.complained.trim().split('\n')).toHaveLength(1)
    expect((await send(url, 'hello')).message).toBeDefined()
  })

  test('the file of a killed process is free at once', async () => {
    const first = launch()
    await first.started
    first.child.kill('SIGKILL')
    await first.ended
    expect((await launch().started).url).toMatch(/^http:/)
  })

  test.each(['0.0.0.0', 'example.com'])('HOST=%s is refused in a sentence', async (HOST) => {
    const { code, said, complained } = await launch({ HOST }).ended
    expect({ code, said }).toEqual({ code: 2, said: '' })
    expect(complained).toContain(`HOST is ${HOST}`)
    expect(complained.trim()).toMatch(/^[A-Z].*\.$/)
    expect(await readdir(folder)).toEqual([])
  })

  test.each(['http', '65536', '80.5'])('PORT=%s is refused in a sentence', async (PORT) => {
    const { code, said, complained } = await launch({ PORT }).ended
    expect({ code, said }).toEqual({ code: 2, said: '' })
    expect(complained.trim()).toMatch(/^PORT takes .*\.$/)
    expect(await readdir(folder)).toEqual([])
  })

  test('a port that is taken is refused in a sentence', async () => {
    const { url } = await launch().started
    const { code, said, complained } = await launch({ PORT: new URL(url).port, ERRAND_STORE: 'other.db' }).ended
    expect({ code, said }).toEqual({ code: 2, said: '' })
    expect(complained).toContain(new URL(url).port)
    expect(complained.trim().split('\n')).toHaveLength(1)
  })

  test('ERRAND_STORE names the file', async () => {
    const file = join(folder, 'mine.db')
    const { banner, url } = await launch({ ERRAND_STORE: file }).started
    await send(url, incomplete)
    expect(banner).toContain(file)
    expect(existsSync(file)).toBe(true)
    expect(existsSync(join(folder, 'venues.db'))).toBe(false)
  })

  test('ERRAND_STORE=:memory: leaves no file', async () => {
    const { url } = await launch({ ERRAND_STORE: ':memory:' }).started
    expect((await send(url, incomplete)).task.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
    expect(await readdir(folder)).toEqual([])
  })

  test('ERRAND_STORE in a folder that is not there is refused in a line that names the folder', async () => {
    const missing = join(folder, 'missing')
    const { code, said, complained } = await launch({ ERRAND_STORE: join(missing, 'tasks.db') }).ended
    expect({ code, said }).toEqual({ code: 2, said: '' })
    expect(complained).toContain(missing)
    expect(complained.trim().split('\n')).toHaveLength(1)
  })
})

describe('the lines of the banner, pasted into a shell', () => {
  let lines: readonly string[] = []
  let started: ChildProcess | undefined
  let home = ''

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'errand-banner-'))
    const child = spawn(process.execPath, [main], { cwd: home, env: { PATH: process.env['PATH'], PORT: '0' } })
    started = child
    let said = ''
    for await (const text of child.stdout) {
      said += text
      if (said.endsWith('\n\n')) break
    }
    lines = said.match(/^ *curl (?:.*\\\n)*.*$/gm) ?? []
  })
  afterAll(async () => {
    started?.kill('SIGKILL')
    await rm(home, { recursive: true, force: true })
  })

  const paste = async (line: string | undefined) => JSON.parse((await run('bash', ['-c', line ?? ''])).stdout)

  test('are three', () => {
    expect(lines).toHaveLength(3)
  })

  test('the first finds venues, and each time it is a new task', async () => {
    const tasks = [(await paste(lines[0])).task, (await paste(lines[0])).task]
    expect(tasks.map(({ status }) => status.state)).toEqual(['TASK_STATE_COMPLETED', 'TASK_STATE_COMPLETED'])
    expect(tasks[0].id).not.toBe(tasks[1].id)
    expect(JSON.stringify(tasks[0].artifacts)).toContain('Lisbon')
  })

  test('the second streams a search stage by stage, each time of a new task', async () => {
    const streams = await Promise.all([untilFirstStage(lines[1]), untilFirstStage(lines[1])])
    for (const frames of streams) {
      expect(frames.map((frame) => Object.keys(frame)[0])).toEqual(['task', 'statusUpdate', 'artifactUpdate'])
      expect(frames[0].task.status.state).toBe('TASK_STATE_SUBMITTED')
      expect(JSON.stringify(frames[2])).toContain('Oslo')
    }
    expect(streams[0]?.[0].task.id).not.toBe(streams[1]?.[0].task.id)
  })

  test('the third is answered directly, twice', async () => {
    for (const answer of [await paste(lines[2]), await paste(lines[2])]) {
      expect(answer).toMatchObject({ jsonrpc: '2.0', id: 1, result: { message: { role: 'ROLE_AGENT' } } })
    }
  })

  /** The whole search takes 20 seconds. */
  async function untilFirstStage(line: string | undefined): Promise<readonly any[]> {
    const frames: any[] = []
    // exec: the process is curl itself, and ends with the signal.
    const curl = spawn('bash', ['-c', `exec ${line?.trim()}`])
    for await (const text of createInterface({ input: curl.stdout })) {
      if (!text.startsWith('data: ')) continue
      frames.push(JSON.parse(text.slice('data: '.length)))
      if (frames.at(-1).artifactUpdate) break
    }
    curl.kill()
    return frames
  }
})

/**
 * The key that a store is sealed with is known again: a server without it does not start, and so no task is lost for it.
 * A single body that cannot be opened is its own task's loss.
 */

import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { agent, inputRequired, jwt, type Server, type ServerOptions, sqlite } from '../../src/index.js'
import { loadSqlite } from '../../src/store/sqlite/driver.js'
import { type VirtualWorld, virtualWorld } from '../../src/testing/virtual-world.js'
import { openServer, result, userMessage } from '../harness/server.js'
import { closeStill, keptLog, type LogLine, until } from '../runtime/kit.js'
import { newFolder } from './secret-traces.js'

const secretKey = 'a secret of more than 32 characters, for tests'
const otherSecret = 'another secret of more than 32 characters'
const hex = 'ab'.repeat(32)

const made = agent({ name: 'Test', description: 'Does what the test says.' }, async (task) => {
  if (task.text === 'ask') return inputRequired('And now?')
  if (task.text === 'claims') return [await task.wait('go'), task.user.claims['team']].join()
  const consent = await task.authorize({ callback: () => 'https://consent.example/' })
  return 'message' in consent ? 'declined' : 'granted'
})

interface Life {
  readonly server: Server
  readonly world: VirtualWorld
  readonly lines: readonly LogLine[]
}

/** A file, and servers on it, one after the other. */
function newPlace(always: Partial<ServerOptions> = {}) {
  const file = join(newFolder(), 'tasks.db')
  async function start(options: Partial<ServerOptions> = {}): Promise<Life> {
    const world = virtualWorld()
    const { log, lines } = keptLog()
    return { server: await openServer(made, { store: sqlite(file), world, log, ...always, ...options }), world, lines }
  }
  return {
    file,
    keyFile: `${file}.key`,
    start,
    /** A server for as long as `act` takes. */
    async during<T>(options: Partial<ServerOptions>, act: (life: Life) => Promise<T>): Promise<T> {
      const life = await start(options)
      try {
        return await act(life)
      } finally {
        await closeStill(life.server, life.world)
      }
    },
  }
}

type Place = ReturnType<typeof newPlace>

const shared = 'more than thirty-two characters of text'
const byToken = jwt({ issuer: 'https://issuer.test', audience: 'agent', secret: shared })
const tokenFor = (team: string) =>
  new SignJWT({ sub: 'alice', team })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('https://issuer.test')
    .setAudience('agent')
    .setExpirationTime(Date.UTC(2026, 0, 1) / 1000 + 600)
    .sign(new TextEncoder().encode(shared))

interface Caller {
  readonly as: string
}

async function send({ server }: Life, text: string, { as }: Caller, taskId?: string): Promise<string> {
  const message = userMessage(text, taskId === undefined ? {} : { taskId })
  const configuration = { returnImmediately: true }
  const { task } = await result(server.fetch, 'JSONRPC', 'SendMessage', { message, configuration }, { as })
  return task.id
}

async function comesTo({ server }: Life, id: string, state: string, { as }: Caller): Promise<any> {
  let task: any
  await until(async () => {
    task = await result(server.fetch, 'JSONRPC', 'GetTask', { id }, { as })
    return task.status.state === `TASK_STATE_${state}`
  })
  return task
}

const resultOf = (task: any) => task.artifacts[0].parts[0].text

/** What can be sealed in a store, and how its task goes on to its end. */
const kinds = [
  {
    what: 'a request for consent',
    always: {},
    caller: async () => ({ as: 'alice' }),
    begin: async (life: Life, caller: Caller) => {
      const id = await send(life, 'consent', caller)
      await comesTo(life, id, 'AUTH_REQUIRED', caller)
      return id
    },
    goOn: async (life: Life, id: string, caller: Caller) => void (await send(life, 'no', caller, id)),
    result: 'declined',
  },
  {
    what: 'what a token said of its bearer',
    always: { auth: byToken },
    caller: async () => ({ as: await tokenFor('blue') }),
    begin: async (life: Life, caller: Caller) => {
      const id = await send(life, 'claims', caller)
      await comesTo(life, id, 'WORKING', caller)
      return id
    },
    goOn: (life: Life, id: string) => life.server.signal(id, 'go', 'went'),
    result: 'went,blue',
  },
] as const

/** What can become of the key, and what makes it good again. */
const accidents: readonly {
  readonly how: string
  readonly before: Partial<ServerOptions>
  readonly after: Partial<ServerOptions>
  readonly happens: (place: Place) => void
  readonly mends: (place: Place) => void
  readonly says: RegExp
}[] = [
  {
    how: 'the key file is missing',
    before: {},
    after: {},
    happens: ({ keyFile }) => renameSync(keyFile, `${keyFile}.away`),
    mends({ keyFile }) {
      // No other one was made in its place.
      expect(existsSync(keyFile)).toBe(false)
      renameSync(`${keyFile}.away`, keyFile)
    },
    says: /the sealing key .+tasks\.db\.key is missing\. Put it back/,
  },
  {
    how: 'the key file is another one',
    before: {},
    after: {},
    happens({ keyFile }) {
      renameSync(keyFile, `${keyFile}.away`)
      writeFileSync(keyFile, `${hex}\n`, { mode: 0o600 })
    },
    mends({ keyFile }) {
      expect(readFileSync(keyFile, 'utf8')).toBe(`${hex}\n`)
      renameSync(`${keyFile}.away`, keyFile)
    },
    says: /the key beside the store is not the one that its tasks were sealed with\. Put the right one back/,
  },
  {
    how: 'the key file is damaged',
    before: {},
    after: {},
    happens({ keyFile }) {
      writeFileSync(`${keyFile}.away`, readFileSync(keyFile))
      writeFileSync(keyFile, 'x')
    },
    mends: ({ keyFile }) => writeFileSync(keyFile, readFileSync(`${keyFile}.away`)),
    says: /tasks\.db\.key is not 64 hex characters and a line break\. Put the right one back/,
  },
  {
    how: 'the key file is open to others',
    before: {},
    after: {},
    happens: ({ keyFile }) => chmodSync(keyFile, 0o644),
    mends: ({ keyFile }) => chmodSync(keyFile, 0o600),
    says: /tasks\.db\.key is open to other users of this machine/,
  },
  {
    how: 'the key file cannot be read',
    before: {},
    after: {},
    happens({ keyFile }) {
      renameSync(keyFile, `${keyFile}.away`)
      mkdirSync(keyFile)
    },
    mends({ keyFile }) {
      rmSync(keyFile, { recursive: true })
      renameSync(`${keyFile}.away`, keyFile)
    },
    says: /the sealing key .+tasks\.db\.key cannot be read/,
  },
  {
    how: 'the option secretKey is another one',
    before: { secretKey },
    after: { secretKey: otherSecret },
    happens: () => {},
    mends: () => {},
    says: /the option secretKey is not the key that the tasks in the store were sealed with\. Start with the one before it/,
  },
  {
    how: 'the option secretKey comes in place of the file',
    before: {},
    after: { secretKey },
    happens: () => {},
    mends: () => {},
    says: /the option secretKey is not the key .+, or without the option if there was none/,
  },
  {
    how: 'the option secretKey is left out',
    before: { secretKey },
    after: {},
    happens: () => {},
    mends: ({ keyFile }) => expect(existsSync(keyFile)).toBe(false),
    says: /the sealing key .+tasks\.db\.key is missing\. .+secretKey/,
  },
]

describe.each(kinds)('a store that holds $what', ({ always, caller: callerOf, begin, goOn, result: expected }) => {
  const end = async (life: Life, id: string, caller: Caller) => {
    await goOn(life, id, caller)
    expect(resultOf(await comesTo(life, id, 'COMPLETED', caller))).toBe(expected)
  }

  test.each(accidents)('is not opened where $how, and its task goes on when that is mended', async (accident) => {
    const place = newPlace(always)
    const caller = await callerOf()
    const id = await place.during(accident.before, (life) => begin(life, caller))
    accident.happens(place)
    // The second time tells that the file was let go of.
    for (let tries = 0; tries < 2; tries++) await expect(place.start(accident.after)).rejects.toThrow(accident.says)
    accident.mends(place)
    await place.during(accident.before, async (life) => {
      await end(life, id, caller)
      expect(life.lines.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([])
    })
  })

  test('takes another key once nothing is left that needs the old one, and knows it from then on', async () => {
    const place = newPlace(always)
    const caller = await callerOf()
    await place.during({}, async (life) => end(life, await begin(life, caller), caller))
    rmSync(place.keyFile)
    const id = await place.during({ secretKey }, (life) => begin(life, caller))
    await expect(place.start()).rejects.toThrow(/is missing/)
    await place.during({ secretKey }, (life) => end(life, id, caller))
  })

  test('is opened without its key where the operator gives it up: what it had sealed fails, and what is new goes on', async () => {
    const place = newPlace(always)
    const caller = await callerOf()
    const id = await place.during({ secretKey }, (life) => begin(life, caller))
    await place.during({ lostKey: 'fail' }, async (life) => {
      const { status } = await comesTo(life, id, 'FAILED', caller)
      expect(status.message.parts[0].text).toBe('What the agent had recorded cannot be read any more.')
      await end(life, await begin(life, caller), caller)
    })
    await place.during({}, (life) => comesTo(life, id, 'FAILED', caller))
  })
})

test('a store that holds nothing sealed is opened with any key, and its tasks go on', async () => {
  const place = newPlace()
  const caller = { as: 'alice' }
  const id = await place.during({}, async (life) => {
    const begun = await send(life, 'ask', caller)
    await comesTo(life, begun, 'INPUT_REQUIRED', caller)
    return begun
  })
  rmSync(place.keyFile)
  await place.during({ secretKey }, (life) => comesTo(life, id, 'INPUT_REQUIRED', caller))
  await place.during({}, async (life) => {
    await send(life, 'consent', caller, id)
    await comesTo(life, id, 'AUTH_REQUIRED', caller)
  })
  expect(readFileSync(place.keyFile, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/)
})

test('a body that is damaged fails its own task, with a line in the log, and no other', async () => {
  const [, claims] = kinds
  const place = newPlace(claims.always)
  const caller = await claims.caller()
  const [hurt, whole] = await place.during(
    {},
    async (life) => [await claims.begin(life, caller), await claims.begin(life, caller)] as const,
  )
  const driver = (await loadSqlite()).open(place.file)
  const damage = `update run_record set body = replace(body, substr(body, 40, 4), 'AAAA')
    where body like '{"sealed"%' and task = (select key from task where id = ?)`
  driver.prepare(damage).run(hurt)
  driver.close()
  await place.during({}, async (life) => {
    await life.server.signal(hurt, 'go', 'went')
    const failed = await comesTo(life, hurt, 'FAILED', caller)
    expect(failed.status.message.parts[0].text).toBe('What the agent had recorded cannot be read any more.')
    const errors = life.lines.filter(({ level }) => level === 'error')
    expect(errors.map(({ message, fields }) => [message, fields['taskId'], String(fields['error'])])).toEqual([
      ['the records of a task cannot be read, and the task is failed', hurt, expect.stringContaining('what was sealed cannot be opened')],
    ])
    await claims.goOn(life, whole)
    expect(resultOf(await comesTo(life, whole, 'COMPLETED', caller))).toBe(claims.result)
  })
})

/** `errand check`: its arguments, its files and its exit codes, against an agent on a socket. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkCommand } from '../../src/cli/check.js'
import { conformanceAgent } from '../../src/cli/conformance-agent.js'
import { UsageError } from '../../src/cli/usage-error.js'
import { openSocket } from '../harness/server.js'
import { openSdkServer } from '../interop/sdk-server.js'

let folder: string
let server: Awaited<ReturnType<typeof openSocket>>

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'errand-check-'))
  server = await openSocket(conformanceAgent(), { idempotency: false })
})

afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

const file = (name: string) => join(folder, name)
const kept = (name: string, content: unknown) => {
  writeFileSync(file(name), JSON.stringify(content))
  return file(name)
}

async function check(...args: string[]) {
  let [out, err] = ['', '']
  const code = await checkCommand(args, {
    out: (text) => {
      out += text
    },
    err: (text) => {
      err += text
    },
  })
  return { code, out, err }
}

test('a conformant agent is told so, after what it will cost', async () => {
  const { code, out, err } = await check(server.url, '--token-a', 'alice', '--token-b', 'bob', '--only', 'C,V,A1,A4,A14,E1')
  expect({ code, last: out.trimEnd().split('\n').at(-1) }).toEqual({ code: 0, last: 'conformant' })
  expect(err).toMatch(/^\d+ trials, \d+ messages at most\n$/)
})

test('each report is written where it is asked for, and none shows a token', async () => {
  const names = ['report.json', 'report.xml', 'report.html', 'badge.svg']
  const [json = '', junit = '', html = '', badge = ''] = names.map(file)
  await check(server.url, '--token-a', 'alice', '--only', 'L14', '--json', json, '--junit', junit, '--html', html, '--badge', badge)
  expect(JSON.parse(readFileSync(json, 'utf8'))).toMatchObject({ schema: 'errand-check/1', conclusion: 'conformant' })
  expect(readFileSync(junit, 'utf8')).toContain('<testsuite name="L Listing"')
  expect(readFileSync(html, 'utf8')).toContain('A negative pageSize is refused.')
  expect(readFileSync(badge, 'utf8')).toContain('<svg ')
  const again = await check(server.url, '--token-a', 'alice', '--only', 'L14', '--compare', json, '--html', html, '--quiet')
  expect(again).toMatchObject({ code: 0, out: 'conformant\n' })
})

test('headers of callers may come from a file', async () => {
  const auth = kept('auth.json', { a: { Authorization: 'Bearer alice' }, b: { Authorization: 'Bearer bob' } })
  expect(await check(server.url, '--auth', auth, '--only', 'A4', '--quiet')).toMatchObject({ code: 0 })
})

test('nobody there is 3', async () => {
  expect(await check('http://127.0.0.1:1', '--quiet')).toMatchObject({ code: 3, out: 'unreachable\n' })
})

test('what may not be seen to its end is 11', async () => {
  expect(await check(server.url, '--token-a', 'alice', '--no-messages', '--only', 'S', '--quiet')).toMatchObject({
    code: 11,
    out: 'inconclusive\n',
  })
})

test('an agent that wants credentials is not judged without any', async () => {
  expect(await check(server.url, '--only', 'S27,E1,R10,M1', '--quiet')).toMatchObject({ code: 11, out: 'inconclusive\n' })
})

describe('a server of another make is found out', () => {
  // Each verified by hand: the bytes are in the report.
  test.each([
    ['M1', 'takes a message without parts'],
    ['M3', 'takes a message without a role'],
    ['M5', 'takes a part with two kinds of content'],
    ['E27', 'answers another version of JSON-RPC with -32602'],
    ['E30', 'answers a text with -32700'],
    ['R11', 'opens a stream for a message that it should refuse'],
    ['V3', 'refuses version 1.0.1'],
  ])('%s: it %s', async (id) => {
    const other = await openSdkServer()
    try {
      expect(await check(other.url, '--only', id, '--quiet')).toMatchObject({ code: 10, out: 'not conformant\n' })
    } finally {
      await other.close()
    }
  })

  test.each(['S5', 'S24', 'L1', 'L5', 'R16', 'R17', 'R23', 'M8', 'S27', 'E1'])('%s does not fail there', async (id) => {
    const other = await openSdkServer()
    try {
      const json = file(`${id}.json`)
      await check(other.url, '--only', id, '--json', json)
      const { outcomes } = JSON.parse(readFileSync(json, 'utf8'))
      expect(outcomes.filter(({ verdict }: { verdict: string }) => verdict === 'fail')).toEqual([])
    } finally {
      await other.close()
    }
  })
})

describe('arguments that mean nothing are refused with what to do', () => {
  test.each([
    [[], 'the http or https URL of an agent'],
    [['ftp://agent'], 'the http or https URL'],
    [['http://a', 'http://b'], 'one argument'],
    [['http://a', '--only', 'Z'], 'no check or area "Z"'],
    [['http://a', '--transport', 'GRPC'], 'JSONRPC or HTTP+JSON'],
    [['http://a', '--max-messages', 'few'], 'takes a number'],
    [['http://a', '--min-coverage', '2'], 'takes a number'],
    [['http://a', '--public-url', 'here'], '--public-url takes'],
    [['http://a', '--waive', '/no/such/file'], 'ENOENT'],
    [['http://a', '--unheard-of'], 'unheard-of'],
  ])('%j', async (args, text) => {
    await expect(check(...args)).rejects.toThrow(UsageError)
    await expect(check(...args)).rejects.toThrow(text)
  })

  test.each([
    ['--waive', { id: 'L1' }],
    ['--scenario', { asleep: 'x' }],
    ['--auth', { b: {} }],
    ['--compare', { outcomes: 7 }],
  ])('%s with what is none', async (option, content) => {
    await expect(check('http://a', option, kept('wrong.json', content))).rejects.toThrow(UsageError)
  })
})

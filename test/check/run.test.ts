/** Runs of the checker: what it finds, what it spends, and what it makes of an agent that is none. */

import { describe, expect, test } from 'vitest'
import { checks } from '../../src/check/checks/index.js'
import { scenarioOf } from '../../src/check/scenario.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { agentByHand, card, checkByHand, checkClean, reported } from './kit.js'

const verdictsOf = (run: Awaited<ReturnType<typeof checkClean>>) =>
  Object.fromEntries(run.outcomes.map((one) => [`${one.check.id} ${one.binding}`, one.verdict]))

test('ids are there once, and each names its area', () => {
  expect(new Set(checks.map(({ id }) => id)).size).toBe(checks.length)
  expect(checks.length).toBeGreaterThanOrEqual(140)
  expect(checks.filter(({ id }) => !/^[CSMLAEQRPVXH]\d+$/.test(id))).toEqual([])
})

describe('what is no agent has a named verdict', () => {
  test.each<[string, Parameters<typeof checkByHand>[0], string]>([
    ['a page', (_, response) => void response.end('<h1>Hello</h1>'), 'no JSON object'],
    ['nothing at that place', (_, response) => void response.writeHead(404).end(), 'HTTP 404'],
    ['a list', (_, response) => void response.end('[]'), 'no JSON object'],
    ['a card without interfaces', agentByHand(() => {}, { ...card, supportedInterfaces: [] }), 'names no interface'],
    ['silence', () => {}, 'no answer within 10000 ms'],
    ['half a card', (_, response) => void response.write('{"name": '), 'did not end'],
    ['the end of the connection', (request) => void request.socket.destroy(), 'did not come'],
    ['a flood', (_, response) => flood(response), 'longer than'],
  ])('%s', async (_, answer, problem) => {
    const run = await checkByHand(answer)
    expect(run.outcomes).toEqual([])
    expect(reported(run)).toMatchObject({ conclusion: 'inconclusive', problem: expect.stringContaining(problem) })
  })

  test('nobody listens', async () => {
    const run = await checkByHand(() => {}, { dial: (await import('../../src/check/probe.js')).systemDial, url: 'http://127.0.0.1:1' })
    expect(reported(run)).toMatchObject({ conclusion: 'unreachable', problem: expect.stringContaining('ECONNREFUSED') })
  })
})

function flood(response: Parameters<Parameters<typeof checkByHand>[0]>[1]): void {
  const piece = 'x'.repeat(1 << 20)
  for (let i = 0; i < 8; i++) response.write(piece)
}

test('an agent that hangs on every call ends each check within its time', async () => {
  const run = await checkByHand(
    agentByHand(() => {}),
    { only: ['S27', 'E1', 'L1'], timeoutMs: 1_000 },
  )
  expect(verdictsOf(run)).toEqual({ 'S27 JSONRPC': 'fail', 'E1 JSONRPC': 'not provoked', 'L1 JSONRPC': 'fail' })
  expect(run.durationMs).toBeLessThanOrEqual(3_000)
})

test('an agent that dies in the middle leaves a whole report', async () => {
  let calls = 0
  const run = await checkByHand(
    agentByHand((request, response) =>
      ++calls > 2 ? request.socket.destroy() : void response.end('{"jsonrpc":"2.0","id":1,"result":{}}'),
    ),
  )
  expect(run.outcomes.length).toBeGreaterThan(150)
  expect(reported(run).conclusion).toBe('not conformant')
})

test('a stream that never ends is left', async () => {
  const streaming = { ...card, capabilities: { streaming: true } }
  const answer = agentByHand((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(
      'data: {"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}}\n\n',
    )
  }, streaming)
  const run = await checkByHand(answer, { only: ['R3'], timeoutMs: 1_000 })
  expect(run.outcomes).toMatchObject([{ verdict: 'fail', wanted: 'a final state at last' }])
})

test('no more messages are sent than may be, and what needed them is not provoked', async () => {
  const run = await checkClean({ only: ['S1', 'S2', 'M1', 'L1'], maxMessages: 2 })
  expect(run.sentMessages).toBe(2)
  expect(verdictsOf(run)).toMatchObject({
    'S1 JSONRPC': 'pass',
    'S1 HTTP+JSON': 'pass',
    'S2 JSONRPC': 'not provoked',
    'L1 JSONRPC': 'pass',
  })
})

test('without messages only what needs none is judged', async () => {
  const run = await checkClean({ maxMessages: 0 })
  expect(run.sentMessages).toBe(0)
  expect(run.outcomes.filter(({ verdict }) => verdict === 'fail')).toEqual([])
  expect(reported(run)).toMatchObject({ conclusion: 'inconclusive', problem: expect.stringContaining('needed for a conclusion') })
})

test('one binding is checked where one is asked for', async () => {
  const run = await checkClean({ only: ['L1', 'Q2'], transports: ['HTTP+JSON'] })
  expect(verdictsOf(run)).toEqual({ 'L1 HTTP+JSON': 'pass', 'Q2 agent': 'not applicable' })
})

test('a prompt that the scenario lacks is not provoked, and never passes', async () => {
  const scenario = scenarioOf({ complete: 'tck-complete-task please' }, virtualWorld())
  const run = await checkClean({ only: ['S7', 'S8', 'S20'], scenario, transports: ['JSONRPC'] })
  expect(verdictsOf(run)).toEqual({ 'S7 JSONRPC': 'pass', 'S8 JSONRPC': 'not provoked', 'S20 JSONRPC': 'not provoked' })
})

test('a failure holds the bytes that show it, without credentials', async () => {
  const answer = agentByHand((_, response) => void response.end('{"jsonrpc":"2.0","id":1,"result":{"tasks":[]}}'))
  const identities = { a: { Authorization: 'Bearer the-secret-of-a' } }
  const run = await checkByHand(answer, { only: ['L1'], identities })
  const [outcome] = reported(run, { secrets: new Map([['the-secret-of-a', '$TOKEN_A']]) }).outcomes
  expect(outcome).toMatchObject({ verdict: 'fail', got: expect.stringContaining('totalSize is missing') })
  expect(outcome?.exchanges[0]?.body).toBe('{"jsonrpc":"2.0","id":1,"result":{"tasks":[]}}')
  expect(outcome?.curl).toContain("-H 'Authorization: Bearer $TOKEN_A'")
  expect(JSON.stringify(outcome)).not.toContain('the-secret')
})

describe('a scenario that is none is refused', () => {
  test.each([[[]], [{ unknown: 'x' }], [{ complete: '' }], [{ complete: { parts: [] } }], [{ complete: { text: 'x' } }]])('%j', (given) => {
    expect(() => scenarioOf(given, virtualWorld())).toThrow(TypeError)
  })
})

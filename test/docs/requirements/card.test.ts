/** The public card: where it is, what it says of the bindings, and how long it may be kept. Spec §5.2, §8. */

import { describe, expect, test } from 'vitest'
import { agent } from '../../../src/index.js'
import { scriptAgent } from '../../harness/script-agent.js'
import { openStill } from '../../runtime/kit.js'

const readCard = (fetching: (request: Request) => Promise<Response>) =>
  fetching(new Request('http://agent.test/.well-known/agent-card.json'))

async function cardOf(options: Parameters<typeof openStill>[1] = {}, subject = scriptAgent): Promise<any> {
  const { fetch } = await openStill(subject, options)
  const answer = await readCard(fetch)
  return { fetch, headers: answer.headers, card: await answer.json() }
}

test('every binding is declared once, in order of preference, with its own address and the version', async () => {
  const { card } = await cardOf({ mounts: { jsonRpc: '/rpc', httpJson: '/api' } })
  expect(card.supportedInterfaces).toEqual([
    { url: 'http://agent.test/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: 'http://agent.test/api', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  ])
})

test('each declared address speaks its declared binding', async () => {
  const { fetch, card } = await cardOf({ mounts: { jsonRpc: '/rpc', httpJson: '/api' } })
  const [jsonRpc, httpJson] = card.supportedInterfaces.map(({ url }: any) => url)
  const headers = { 'A2A-Version': '1.0', authorization: 'Bearer alice', 'content-type': 'application/json' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks' })
  const overJsonRpc = await (await fetch(new Request(jsonRpc, { method: 'POST', headers, body }))).json()
  const overHttpJson = await (await fetch(new Request(`${httpJson}/tasks`, { headers }))).json()
  expect(overJsonRpc.result).toEqual(overHttpJson)
})

test('the card names the scheme by which the server knows its callers', async () => {
  const { card } = await cardOf()
  expect(card.securitySchemes).toEqual({ bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } })
  expect(card.securityRequirements).toEqual([{ schemes: { bearer: { list: [] } } }])
})

test('the card may be kept for a while', async () => {
  const { headers } = await cardOf()
  expect(headers.get('cache-control')).toMatch(/\bmax-age=\d+/)
})

describe('the extended card', () => {
  const both = agent({ name: 'A', description: 'Public.', extendedCard: () => ({ description: 'Extended.' }) }, () => 'x')

  test('is declared exactly where there is one', async () => {
    expect((await cardOf()).card.capabilities.extendedAgentCard).toBe(false)
    expect((await cardOf({}, both)).card.capabilities.extendedAgentCard).toBe(true)
  })

  test('shows nothing of itself in the public one', async () => {
    expect((await cardOf({}, both)).card.description).toBe('Public.')
  })
})

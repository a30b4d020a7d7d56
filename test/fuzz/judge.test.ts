/** The judge of the fuzzers finds what is wrong with an answer, and nothing wrong with a right one. */

import { expect, test } from 'vitest'
import { judge } from './judge.js'

const info = (reason: string) => ({ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org', metadata: {} })
const rpc = (body: object) => ({ status: 200, contentType: 'application/json', text: JSON.stringify(body) })
const rest = (status: number, body: object) => ({ status, contentType: 'application/a2a+json', text: JSON.stringify(body) })
const notFound = { code: -32001, message: 'There is no task.', data: [info('TASK_NOT_FOUND')] }
const httpNotFound = { code: 404, status: 'NOT_FOUND', message: 'There is no task.', details: [info('TASK_NOT_FOUND')] }

test('right answers have no fault', () => {
  expect(judge('JSONRPC', rpc({ jsonrpc: '2.0', id: 1, result: {} }))).toEqual({ faults: [] })
  expect(judge('JSONRPC', rpc({ jsonrpc: '2.0', id: 1, error: notFound }))).toEqual({ reason: 'TASK_NOT_FOUND', faults: [] })
  expect(judge('HTTP+JSON', rest(404, { error: httpNotFound }))).toEqual({ reason: 'TASK_NOT_FOUND', faults: [] })
  expect(judge('HTTP+JSON', { status: 200, contentType: 'text/event-stream', text: 'id: 1\ndata: {"task":{}}\n\n' })).toEqual({
    faults: [],
  })
})

test.each([
  ['HTML', 'HTTP+JSON', { status: 404, contentType: 'text/html', text: '<html>' }],
  ['no JSON', 'JSONRPC', { status: 200, contentType: 'application/json', text: 'oops' }],
  ['a result and an error', 'JSONRPC', rpc({ jsonrpc: '2.0', id: 1, result: {}, error: notFound })],
  ['no id', 'JSONRPC', rpc({ jsonrpc: '2.0', result: {} })],
  ['a code of another row', 'JSONRPC', rpc({ jsonrpc: '2.0', id: 1, error: { ...notFound, code: -32002 } })],
  ['a reason that does not exist', 'JSONRPC', rpc({ jsonrpc: '2.0', id: 1, error: { ...notFound, data: [info('OOPS')] } })],
  ['an error without details', 'JSONRPC', rpc({ jsonrpc: '2.0', id: 1, error: { code: -32001, message: 'x' } })],
  ['an error in another status than its own', 'HTTP+JSON', rest(400, { error: httpNotFound })],
  ['an error with status 200', 'HTTP+JSON', rest(200, { error: httpNotFound })],
  ['an internal error', 'HTTP+JSON', rest(500, { error: { code: 500, status: 'INTERNAL', message: 'x', details: [info('INTERNAL')] } })],
  ['a stack', 'HTTP+JSON', rest(404, { error: { ...httpNotFound, message: 'x\n    at f (/srv/app.js:1:2)' } })],
  ['what the engine says', 'HTTP+JSON', rest(404, { error: { ...httpNotFound, message: 'x.y is not a function' } })],
  ['a frame of two members', 'HTTP+JSON', { status: 200, contentType: 'text/event-stream', text: 'data: {"task":{},"message":{}}\n\n' }],
  [
    'a frame with a forged field',
    'HTTP+JSON',
    { status: 200, contentType: 'text/event-stream', text: 'id: 1\nretry: 1\ndata: {"task":{}}\n\n' },
  ],
  ['an empty stream', 'JSONRPC', { status: 200, contentType: 'text/event-stream', text: '' }],
] as const)('%s is found', (_, binding, heard) => {
  expect(judge(binding, heard).faults).not.toEqual([])
})

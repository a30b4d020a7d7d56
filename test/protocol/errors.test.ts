import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type ErrorName, errorTable } from '../../src/protocol/error-table.js'
import { fromHttpError, fromJsonRpcError, jsonRpcHttpStatus, toHttpError, toJsonRpcError, toStatus } from '../../src/protocol/error-wire.js'
import * as errors from '../../src/protocol/errors.js'

interface Row {
  readonly comment: ErrorName
  readonly reason: string
  readonly jsonRpc: number
  readonly jsonRpcHttp: number
  readonly grpc: string
  readonly http: number
}

const rows: readonly Row[] = JSON.parse(readFileSync(new URL('../../vectors/protocol/errors.json', import.meta.url), 'utf8'))

const classes: Readonly<Record<ErrorName, unknown>> = errors
const samples: Readonly<Record<ErrorName, errors.A2AError>> = {
  TaskNotFoundError: new errors.TaskNotFoundError('t1'),
  TaskNotCancelableError: new errors.TaskNotCancelableError('t1'),
  PushNotificationNotSupportedError: new errors.PushNotificationNotSupportedError(),
  UnsupportedOperationError: new errors.UnsupportedOperationError('no'),
  ContentTypeNotSupportedError: new errors.ContentTypeNotSupportedError('no'),
  InvalidAgentResponseError: new errors.InvalidAgentResponseError(),
  ExtendedAgentCardNotConfiguredError: new errors.ExtendedAgentCardNotConfiguredError(),
  ExtensionSupportRequiredError: new errors.ExtensionSupportRequiredError('urn:x'),
  VersionNotSupportedError: new errors.VersionNotSupportedError('0.3', ['1.0']),
  ParseError: new errors.ParseError(),
  InvalidRequestError: new errors.InvalidRequestError('no'),
  MethodNotFoundError: new errors.MethodNotFoundError('Foo'),
  InvalidParamsError: new errors.InvalidParamsError([{ field: 'message.parts', description: 'must not be empty' }]),
  InternalError: new errors.InternalError({ cause: new Error('secret') }),
  UnauthenticatedError: new errors.UnauthenticatedError(),
  PermissionDeniedError: new errors.PermissionDeniedError('no'),
  ResourceExhaustedError: new errors.ResourceExhaustedError('rate', 'no', { retryAfterSeconds: 3 }),
  UnavailableError: new errors.UnavailableError(),
}

const infoType = 'type.googleapis.com/google.rpc.ErrorInfo'

test('the table has the rows of the specification and no other', () => {
  expect(rows.map(({ comment }) => comment)).toEqual(Object.keys(errorTable))
})

describe.each(rows)('$comment', ({ comment: name, reason, jsonRpc, jsonRpcHttp, grpc, http }) => {
  const error = samples[name]
  const info = { '@type': infoType, reason, domain: 'a2a-protocol.org', metadata: error.metadata }

  test('is an error of its own class with a text', () => {
    expect(error).toBeInstanceOf(classes[name])
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name, reason, httpStatus: http })
    expect(error.message).not.toBe('')
  })

  test('goes out on JSON-RPC with its code and its reason (§9.5)', () => {
    const sent = toJsonRpcError(error)
    expect(sent).toMatchObject({ code: jsonRpc, message: error.message })
    expect(sent.data?.[0]).toEqual(info)
    expect(jsonRpcHttpStatus(error)).toBe(jsonRpcHttp)
  })

  test('goes out on HTTP+JSON with its status and its reason (§11.6)', () => {
    const { status, body } = toHttpError(error)
    expect(status).toBe(http)
    expect(body.error).toMatchObject({ code: http, status: grpc, message: error.message })
    expect(body.error.details[0]).toEqual(info)
    expect(toStatus(error)).toEqual(body)
  })

  test.each(['JSON-RPC', 'HTTP+JSON'])('comes back from %s as it was', (wire) => {
    const back =
      wire === 'JSON-RPC'
        ? fromJsonRpcError(JSON.parse(JSON.stringify(toJsonRpcError(error))))
        : fromHttpError(http, JSON.parse(JSON.stringify(toHttpError(error).body)))
    expect(back).toBeInstanceOf(classes[name])
    expect(back).toMatchObject({ name, reason, message: error.message, metadata: error.metadata, httpStatus: http })
    expect(back.violations).toEqual(error.violations)
  })

  test('comes back by its code alone, or by the HTTP status beside -32000', () => {
    const beside = jsonRpc === -32000 ? { httpStatus: http } : {}
    expect(fromJsonRpcError({ code: jsonRpc, message: 'x' }, beside)).toMatchObject({ name, message: 'x' })
  })
})

describe('reading errors of other peers', () => {
  test('the reason counts more than the code and the status', () => {
    const data = [{ '@type': infoType, reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' }]
    expect(fromJsonRpcError({ code: -32603, message: 'x', data }).name).toBe('TaskNotFoundError')
    expect(fromHttpError(400, { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'x', details: data } }).name).toBe(
      'TaskNotFoundError',
    )
  })

  test('a reason of another domain is not ours', () => {
    const data = [{ '@type': infoType, reason: 'TASK_NOT_FOUND', domain: 'example.com' }]
    expect(fromJsonRpcError({ code: -32004, message: 'x', data }).name).toBe('UnsupportedOperationError')
  })

  test('an unknown reason keeps its text', () => {
    const data = [{ '@type': infoType, reason: 'NEW_THING', domain: 'a2a-protocol.org' }]
    expect(fromJsonRpcError({ code: -31999, message: 'a new thing', data })).toMatchObject({
      name: 'InternalError',
      message: 'a new thing',
    })
  })

  test.each([
    ['NOT_FOUND', 404, 'TaskNotFoundError'],
    ['FAILED_PRECONDITION', 400, 'UnsupportedOperationError'],
    ['INVALID_ARGUMENT', 400, 'InvalidParamsError'],
    ['UNIMPLEMENTED', 404, 'MethodNotFoundError'],
    ['UNAVAILABLE', 503, 'UnavailableError'],
  ])('status %s without a reason', (status, code, name) => {
    expect(fromHttpError(code, { error: { code, status, message: 'x' } }).name).toBe(name)
  })

  test.each([
    [400, 'InvalidRequestError'],
    [401, 'UnauthenticatedError'],
    [403, 'PermissionDeniedError'],
    [404, 'MethodNotFoundError'],
    [405, 'MethodNotFoundError'],
    [413, 'ResourceExhaustedError'],
    [415, 'ContentTypeNotSupportedError'],
    [429, 'ResourceExhaustedError'],
    [500, 'InternalError'],
    [502, 'UnavailableError'],
    [504, 'UnavailableError'],
  ])('HTTP status %i alone', (status, name) => {
    expect(fromHttpError(status, '<html>')).toMatchObject({
      name,
      httpStatus: status,
      message: `The agent answered with HTTP status ${status}.`,
    })
  })

  test.each([
    [null],
    ['text'],
    [7],
    [{ code: 'x', message: 1, data: 'y' }],
    [{ data: [null, 1, { '@type': infoType, metadata: { a: 1 } }] }],
  ])('anything at all becomes an error: %j', (received) => {
    expect(fromJsonRpcError(received)).toBeInstanceOf(errors.InternalError)
    expect(fromHttpError(500, received)).toBeInstanceOf(errors.InternalError)
  })

  test('when to come back is kept', () => {
    expect(fromHttpError(429, null, { retryAfterSeconds: 7 }).retryAfterSeconds).toBe(7)
  })
})

describe('what errors show', () => {
  test('anything else that is thrown becomes an internal error with a fixed text', () => {
    const thrown = new Error('password=hunter2')
    const error = errors.toA2AError(thrown)
    expect(error.cause).toBe(thrown)
    expect(JSON.stringify([toJsonRpcError(error), toHttpError(error)])).not.toContain('hunter2')
    expect(errors.toA2AError('other').message).toBe(error.message)
    expect(errors.toA2AError(undefined).message).toBe(error.message)
  })

  test('an error of ours stays itself', () => {
    expect(errors.toA2AError(samples.TaskNotFoundError)).toBe(samples.TaskNotFoundError)
  })

  test('a task that is not there is answered by its id alone (§13.1)', () => {
    const [a, b] = ['id-a', 'id-b'].map((id) => JSON.stringify(toHttpError(new errors.TaskNotFoundError(id))).replaceAll(id, '#'))
    expect(a).toBe(b)
  })

  test('an answer does not grow with what was asked for', () => {
    expect(JSON.stringify(toJsonRpcError(new errors.TaskNotFoundError('x'.repeat(1e6)))).length).toBeLessThan(1500)
    expect(new errors.TaskNotFoundError(`x${'\u{1f600}'.repeat(1e3)}`).metadata['taskId']).not.toMatch(/\p{Surrogate}/u)
  })

  test('bad fields go out one by one as google.rpc.BadRequest', () => {
    const violations = [
      { field: 'a', description: 'is bad' },
      { field: 'b[0]', description: 'is worse' },
    ]
    expect(toJsonRpcError(new errors.InvalidParamsError(violations)).data?.[1]).toEqual({
      '@type': 'type.googleapis.com/google.rpc.BadRequest',
      fieldViolations: violations,
    })
    expect(toJsonRpcError(new errors.InvalidParamsError('text')).data).toHaveLength(1)
  })

  test('too large is 413, too many is 429, a wrong verb is 405', () => {
    expect(new errors.ResourceExhaustedError('size', 'x').httpStatus).toBe(413)
    expect(new errors.ResourceExhaustedError('rate', 'x').httpStatus).toBe(429)
    expect(new errors.MethodNotFoundError('PUT /tasks', ['GET'])).toMatchObject({ httpStatus: 405, allow: ['GET'] })
    expect(jsonRpcHttpStatus(new errors.MethodNotFoundError('PUT', ['POST']))).toBe(405)
  })
})

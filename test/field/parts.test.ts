/** Field cases of parts, artifacts and files. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, artifact, chunk, completed, sqlite } from '../../src/index.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { openRaw, rawRequest } from '../fuzz/raw-http.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, call, frames, openServer, openSocket, refusal, result, userMessage } from '../harness/server.js'
import { closeStill, foldFrames, openStill, takeAll } from '../runtime/kit.js'
import { sends } from './kit.js'

const doors = { JSONRPC: '/a2a/v1', 'HTTP+JSON': '/rest/message:send' }
const mib = 1 << 20

const echoing = agent({ name: 'Echoing', description: 'Gives back what it gets.', inputModes: ['*/*'] }, async function* (task) {
  yield artifact('same', task.message.parts)
  return completed()
})

describe.each(bindingNames)('over %s', (binding) => {
  test('F068 an artifact in pieces: chunks grow one artifact, and a whole one of its id takes its place', async () => {
    const growing = agent({ name: 'Growing', description: 'Grows an artifact.' }, async function* (task) {
      yield artifact('before', 'stays')
      yield chunk('a1', 'Hello')
      yield chunk('a1', ' world')
      yield chunk('a1', [{ data: { n: 1 } }, '!'], { last: true })
      yield artifact('after', 'stays')
      if (task.text === 'replace') yield artifact('a1', 'anew')
      return completed('done')
    })
    const { fetch } = await openStill(growing)
    const hello = [{ text: 'Hello' }, { text: ' world' }, { data: { n: 1 } }, { text: '!' }]
    for (const [text, parts] of [
      ['keep', hello],
      ['replace', [{ text: 'anew' }]],
    ] as const) {
      const seen = await takeAll(frames(fetch, binding, 'SendStreamingMessage', { message: userMessage(text) }))
      const updates = seen.flatMap(({ data }) => data.artifactUpdate ?? []).filter((update) => update.artifact.artifactId === 'a1')
      expect(updates.map(({ append, lastChunk }) => [append, lastChunk])).toEqual([
        [false, false],
        [true, false],
        [true, true],
        ...(text === 'replace' ? [[false, true]] : []),
      ])
      const task = await result(fetch, binding, 'GetTask', { id: seen[0]?.data.task.id })
      expect(task.artifacts.map((one: any) => [one.artifactId, one.parts])).toEqual([
        ['before', [{ text: 'stays' }]],
        ['a1', parts],
        ['after', [{ text: 'stays' }]],
      ])
      expect(foldFrames(seen)).toEqual(task)
    }
  })

  test.each(sends)('F088 a type the agent does not take: %s refuses it before there is a task', async (operation) => {
    const { fetch } = await openStill(agent({ name: 'Reader', description: 'Reads text.', inputModes: ['text/plain'] }, () => 'read'))
    for (const part of [
      { text: 'x', mediaType: 'application/x-foo' },
      { data: {}, mediaType: 'application/json' },
      { raw: 'AAAA', mediaType: 'image/png' },
      { url: 'https://a.test/b', mediaType: 'text/html' },
    ]) {
      const error = await refusal(fetch, binding, operation, { message: userMessage('x', { parts: [{ text: 'fine' }, part] }) })
      expect(error).toMatchObject({ reason: 'CONTENT_TYPE_NOT_SUPPORTED', code: binding === 'JSONRPC' ? -32005 : 400 })
    }
    expect((await result(fetch, binding, 'ListTasks', {})).totalSize).toBe(0)
    for (const part of [{ text: 'x' }, { text: 'x', mediaType: 'TEXT/Plain; charset=utf-8' }, { data: {} }]) {
      await call(fetch, binding, operation, { message: userMessage('x', { parts: [part] }) })
    }
    expect((await result(fetch, binding, 'ListTasks', {})).totalSize).toBe(3)
  })

  test('F097 a hidden limit: files up to the documented 10 MiB come through, what is larger is 413 in JSON', async () => {
    const server = await openSocket(
      agent({ name: 'Weighing', description: 'Tells the size.', inputModes: ['*/*'] }, (task) => task.message.parts[0]?.raw?.length ?? 0),
    )
    onTestFinished(() => server.close())
    for (const size of [90_000, mib, 9 * mib]) {
      const raw = 'A'.repeat(size - (size % 4))
      const { task } = await result(
        fetch,
        binding,
        'SendMessage',
        { message: userMessage('x', { parts: [{ raw }] }), configuration: { historyLength: 0 } },
        { url: server.url },
      )
      expect(task.artifacts[0].parts).toEqual([{ data: raw.length }])
    }
    const answer = await call(
      fetch,
      binding,
      'SendMessage',
      { message: userMessage('x', { parts: [{ raw: 'A'.repeat(12 * mib) }] }) },
      { url: server.url },
    )
    expect(answer.status).toBe(413)
    expect(answer.text).toContain('RESOURCE_EXHAUSTED')
    expect((await result(fetch, binding, 'ListTasks', {}, { url: server.url })).totalSize).toBe(3)
  })

  test.each<[string, Record<string, string>, string | undefined]>([
    ['an announced body of 200 MB', { 'content-length': String(200 * mib) }, undefined],
    ['a body without a length', { 'transfer-encoding': 'chunked' }, '40000\r\n'],
  ])('F097 no limit at all: %s is refused as soon as it is too long, before it has all come', async (_, more, piece) => {
    const server = await openSocket(scriptAgent)
    onTestFinished(() => server.close())
    const connection = await openRaw(server.url)
    onTestFinished(() => connection.destroy())
    const headers = { 'a2a-version': '1.0', authorization: 'Bearer alice', 'content-type': 'application/json', ...more }
    await connection.write(rawRequest('POST', doors[binding], headers))
    // One piece more than fit, of a body without an end.
    for (let sent = 0; piece && sent <= 10 * mib; sent += 0x40000) await connection.write(`${piece}${' '.repeat(0x40000)}\r\n`)
    const answer = await connection.next()
    expect(answer?.status).toBe(413)
    expect(answer?.headers['content-type']).toBe(binding === 'JSONRPC' ? 'application/json' : 'application/a2a+json')
    expect(JSON.parse(answer?.text ?? '').error.message).toContain('10485760')
  })

  test('F098 bytes that change: they are the same to the agent, the caller, the stream and after a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'errand-field-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const world = virtualWorld()
    const open = () => openServer(echoing, { world, store: sqlite(join(folder, 'tasks.db'), { durability: 'process' }) })
    let { fetch, close } = await open()
    onTestFinished(() => closeStill({ close }, world))
    const every = Uint8Array.from({ length: 256 }, (_, i) => i)
    const sent: readonly (readonly [string, Uint8Array])[] = [
      ['AP/+gA==', Uint8Array.of(0, 0xff, 0xfe, 0x80)],
      ['AP_-gA', Uint8Array.of(0, 0xff, 0xfe, 0x80)],
      ['AP_-gA==', Uint8Array.of(0, 0xff, 0xfe, 0x80)],
      ['', new Uint8Array()],
      [Buffer.from(every).toString('base64url'), every],
    ]
    const parts = sent.map(([raw]) => ({ raw, filename: 'ü.bin', mediaType: 'application/octet-stream' }))
    const expected = sent.map(([, bytes]) => ({
      raw: Buffer.from(bytes).toString('base64'),
      filename: 'ü.bin',
      mediaType: 'application/octet-stream',
    }))
    const seen = await takeAll(frames(fetch, binding, 'SendStreamingMessage', { message: userMessage('x', { parts }) }))
    const { id } = seen[0]?.data.task ?? {}
    expect(foldFrames(seen).artifacts[0].parts).toEqual(expected)
    await closeStill({ close }, world)
    ;({ fetch, close } = await open())
    for (const other of bindingNames) {
      const task = await result(fetch, other, 'GetTask', { id })
      expect([task.artifacts[0].parts, task.history[0].parts]).toEqual([expected, expected])
    }
    expect(await refusal(fetch, binding, 'SendMessage', { message: userMessage('x', { parts: [{ raw: 'not base64!' }] }) })).toMatchObject({
      fields: ['message.parts[0].raw'],
    })
  })
})

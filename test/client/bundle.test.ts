/** The client's door, bundled for no platform in particular: it asks its host for nothing but the Web's interfaces, and is small. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { bundle, runBundle } from '../letter/neutral-bundle.js'
import { openScript } from './kit.js'

const file = new URL('caller.ts', import.meta.url)
const door = await bundle(file, { format: 'esm', minify: true })
// More than a third of it is shared with the server: the errors with their texts, their forms on the wires, the checks of options.
const budget = 13_500
const size = gzipSync(door.code, { level: 9 }).length

describe('the door of the client', () => {
  test(`is one file of ${size} bytes gzipped, within ${budget}`, () => {
    expect(size).toBeLessThanOrEqual(budget)
  })

  test('imports nothing, neither from Node nor from packages', () => {
    expect(door.imports).toEqual([])
    expect(door.warnings).toEqual([])
    expect(door.code).not.toMatch(/["'`]node:|\brequire\(["'`]/)
    // What only signatures need.
    expect(door.code).not.toMatch(/JWS|importJWK/)
  })

  test('leaves out what receives pushes where nobody asks for it', async () => {
    const receiver = /idempotency-key/
    const whole = await bundle(new URL('../../src/client.ts', import.meta.url), { format: 'esm', minify: true })
    expect([whole.imports, whole.warnings]).toEqual([[], []])
    expect(whole.code).toMatch(receiver)
    expect(door.code).not.toMatch(receiver)
  })

  test('sends, streams and asks where there is no process, Buffer, require or setImmediate', async () => {
    const { fetch } = await openScript()
    const { connect } = runBundle(await bundle(file, { format: 'iife' }))
    const client = await connect('http://agent.test', { fetch, auth: 'alice' })
    const sending = client.send('chunks 2')
    const kinds: string[] = []
    for await (const { kind } of sending) kinds.push(kind)
    expect(kinds).toEqual(['task', 'status', 'artifact', 'artifact', 'status'])
    expect(await sending.outcome).toMatchObject({ state: 'completed', text: 'chunk 0;chunk 1;' })
    expect(await client.send('ask').outcome).toMatchObject({ state: 'input-required' })
    await expect(client.task('none').get()).rejects.toMatchObject({ name: 'TaskNotFoundError' })
  })

  test('keeps its process while it waits for the next try, when no socket is open', async () => {
    const { code } = await bundle(file, { format: 'iife' })
    // Timers that keep no process unless they are told to, as those of the host's world do.
    const script = `${code}
      const world = { now: () => 0, timer: (ms, fire, { holds } = {}) => { const t = setTimeout(fire, 1); if (!holds) t.unref(); return () => clearTimeout(t) }, randomBytes: (n) => new Uint8Array(n) }
      let tries = 0
      const fetch = async () => { if (++tries < 3) throw new TypeError('fetch failed'); return Response.json({}) }
      await bundled.connect('http://bytes.test', { world, fetch }).catch((error) => process.stdout.write(tries + ' ' + error.name))`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
    expect(stdout).toBe('3 InvalidAgentResponseError')
  })
})

/** Field cases of extensions. */

import { describe, expect, test } from 'vitest'
import { agent } from '../../src/index.js'
import { bindingNames, call, refusal, requestFor, userMessage } from '../harness/server.js'
import { openStill } from '../runtime/kit.js'

const [u1, u2, u3] = ['https://ext.example/u1', 'https://ext.example/u2', 'urn:example:u3']

const extended = agent(
  { name: 'Extended', description: 'Knows two extensions.', extensions: [{ uri: u1 }, { uri: u3, required: false }] },
  (task) => task.extensions.join(' '),
)

describe.each(bindingNames)('over %s', (binding) => {
  test.each<[string, string | undefined, string | null]>([
    ['one known and one unknown', `${u1},${u2}`, u1],
    ['both known, in the order of the caller', `${u3}, ${u1}`, `${u3}, ${u1}`],
    ['one named twice', `${u1}, ${u1}`, u1],
    ['unknown ones only', `${u2}`, null],
    ['one that only begins like a known one', `${u1}/more`, null],
    ['nothing between the commas', ` , ${u1} ,,`, u1],
    ['an empty header', '', null],
    ['none', undefined, null],
  ])('F110 an activation that nobody is told of: with %s the answer and the run name the active ones', async (_, header, active) => {
    const { fetch } = await openStill(extended)
    for (const operation of ['SendMessage', 'SendStreamingMessage'] as const) {
      const request = requestFor(binding, operation, { message: userMessage('x') })
      if (header !== undefined) request.headers.set('a2a-extensions', header)
      const response = await fetch(request)
      expect(response.headers.get('a2a-extensions')).toBe(active)
      expect(await response.text()).toContain(`"parts":[{"text":"${active?.replace(', ', ' ') ?? ''}"}]`)
    }
    const list = await call(fetch, binding, 'ListTasks', {}, header === undefined ? {} : { headers: { 'a2a-extensions': header } })
    expect(list.headers.get('a2a-extensions')).toBe(active)
  })

  test('F110 one header of two: a repeated header is one list, whatever the case of its name', async () => {
    const { fetch } = await openStill(extended)
    const request = requestFor(binding, 'ListTasks', {})
    for (const uri of [u1, u2, u3]) request.headers.append('A2A-EXTENSIONS', uri)
    expect((await fetch(request)).headers.get('a2a-extensions')).toBe(`${u1}, ${u3}`)
  })

  test('F110 a header of older versions means nothing: an extension named in X-A2A-Extensions is not active', async () => {
    const { fetch } = await openStill(extended)
    const answer = await call(fetch, binding, 'ListTasks', {}, { headers: { 'x-a2a-extensions': u1 } })
    expect(answer.headers.get('a2a-extensions')).toBeNull()
    const strict = agent({ name: 'Strict', description: 'Wants one.', extensions: [{ uri: u1, required: true }] }, () => 'x')
    const { fetch: asked } = await openStill(strict)
    expect(await refusal(asked, binding, 'ListTasks', {}, { headers: { 'x-a2a-extensions': u1 } })).toMatchObject({
      reason: 'EXTENSION_SUPPORT_REQUIRED',
    })
  })
})

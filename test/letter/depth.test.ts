/** How deep a request may be, as an option: the same on both bindings. */

import { expect, test } from 'vitest'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, openServer, refusal, result, userMessage } from '../harness/server.js'

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))
// The request, its message, the list of parts and the part stand around the data.
const around = 4

for (const depth of [8, 64, 65, 1000]) {
  test.each(bindingNames)(`limits.depth ${depth} lets data of that depth in and nothing deeper, over %s`, async (binding) => {
    const server = await openServer(scriptAgent, { limits: { depth } })
    const send = (levels: number) => ({ message: userMessage('', { parts: [{ data: nested(levels) }] }) })
    const { task } = await result(server.fetch, binding, 'SendMessage', send(depth - around))
    expect(task.history[0].parts).toEqual([{ data: nested(depth - around) }])
    expect(await refusal(server.fetch, binding, 'SendMessage', send(depth - around + 1))).toMatchObject({
      reason: 'INVALID_PARAMS',
      fields: ['message.parts[0].data'],
    })
    await server.close()
  })
}

test.each([7, 1001, 0])('limits.depth takes no %s', async (depth) => {
  await expect(openServer(scriptAgent, { limits: { depth } })).rejects.toThrow(
    `createServer: limits: option depth takes a whole number from 8 to 1000; it got ${depth}`,
  )
})

/** Extensions that a client asks for: activated, ignored or missed. Spec §3.3.4, §4.6.3. */

import { describe, expect, test } from 'vitest'
import { agent } from '../../../src/index.js'
import { bindingNames, call, refusal, userMessage } from '../../harness/server.js'
import { openStill } from '../../runtime/kit.js'

const receipts = 'https://example.com/extensions/receipts/v1'
const newerReceipts = 'https://example.com/extensions/receipts/v2'

describe.each(bindingNames)('over %s', (binding) => {
  const open = async (required: boolean) => {
    const seen: (readonly string[])[] = []
    const extended = agent(
      { name: 'Extended', description: 'Notes its extensions.', extensions: [{ uri: receipts, required }] },
      (task) => {
        seen.push(task.extensions)
      },
    )
    const { fetch } = await openStill(extended)
    const send = (list: string) =>
      call(fetch, binding, 'SendMessage', { message: userMessage('hi') }, { headers: { 'A2A-Extensions': list } })
    return { fetch, seen, send }
  }

  test('another version of an extension is ignored, never replaced by the known one', async () => {
    const { seen, send } = await open(false)
    const { status, headers } = await send(newerReceipts)
    expect(status).toBe(200)
    expect(headers.has('a2a-extensions')).toBe(false)
    expect(seen).toEqual([[]])
  })

  test('another version of a required extension is refused, and nothing is stored', async () => {
    const { fetch, seen } = await open(true)
    const headers = { 'A2A-Extensions': newerReceipts }
    const refused = await refusal(fetch, binding, 'SendMessage', { message: userMessage('hi') }, { headers })
    expect(refused).toMatchObject({ reason: 'EXTENSION_SUPPORT_REQUIRED' })
    expect(seen).toEqual([])
    const listing = await call(fetch, binding, 'ListTasks', {}, { headers: { 'A2A-Extensions': receipts } })
    expect(listing.text).toContain('"totalSize":0')
  })
})

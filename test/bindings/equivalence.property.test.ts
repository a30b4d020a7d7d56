/** JSON-RPC and HTTP+JSON are two spellings of one agent: the same calls get the same answers. Spec §5.1. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { operationNames } from '../../src/protocol/operations.js'
import { play, sequences } from './steps.js'

// The clocks are the same, so times are compared as they are; ids and tokens come from different chance and are masked.
test('any sequence of operations is answered alike over JSON-RPC and HTTP+JSON', { timeout: 300_000 }, async () => {
  const succeeded = new Set<string>()
  await fc.assert(
    fc.asyncProperty(sequences, async (steps) => {
      const jsonRpc = await play('JSONRPC', steps, { seed: 1 })
      const httpJson = await play('HTTP+JSON', steps, { seed: 2 })
      expect(httpJson).toEqual(jsonRpc)
      for (const { operation, answer } of jsonRpc) if (!JSON.parse(answer).error) succeeded.add(operation)
    }),
    { numRuns: 500 },
  )
  // Sequences that are only refused would prove little.
  expect(operationNames.filter((operation) => !succeeded.has(operation))).toEqual([])
})

test.each([{ idempotency: false }, { clientContextIds: false }, { push: false }])(
  'servers that differ in %j are told apart',
  async (options) => {
    const { failed } = await fc.check(
      fc.asyncProperty(sequences, async (steps) => {
        const httpJson = await play('HTTP+JSON', steps, { seed: 2, ...options })
        expect(httpJson).toEqual(await play('JSONRPC', steps, { seed: 1 }))
      }),
      { numRuns: 500, endOnFailure: true },
    )
    expect(failed).toBe(true)
  },
)

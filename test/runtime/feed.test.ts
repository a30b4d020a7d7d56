/** Readers of a log whose doorbell may stay silent. */

import { expect, test } from 'vitest'
import { sqlite } from '../../src/index.js'
import { createInbox } from '../../src/runtime/inbox.js'
import { Ledger } from '../../src/runtime/ledger.js'
import type { CommitListener, StoreSource, TaskHeader } from '../../src/store/store.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { scriptAgent } from '../harness/script-agent.js'
import { begin, openStill, statesOf, subscribe, take, takeAll } from './kit.js'

test('who subscribes late misses nothing, though nobody was told of the last commit', async () => {
  let isSilent = false
  const store: StoreSource = {
    async open(options) {
      const opened = await sqlite(':memory:').open(options)
      const onCommit = (listener: CommitListener) => opened.onCommit((...commit) => isSilent || listener(...commit))
      return { ...opened, onCommit }
    },
  }
  const { fetch, world } = await openStill(scriptAgent, { store })
  const id = await begin(fetch, 'slow 1000')
  const early = subscribe(fetch, 'GET', id)
  const [opening] = await take(early, 1)
  void early.next()
  isSilent = true
  await world.advance(2_000)
  expect(statesOf(await takeAll(subscribe(fetch, 'GET', id, { lastEventId: opening?.id })))).toEqual(['COMPLETED'])
})

test('an inbox stops listening with its run', async () => {
  const world = virtualWorld()
  let heard: AbortSignal | undefined
  const inbox = createInbox({
    // What the inbox asks of each.
    store: { events: async () => [] } as never,
    feed: {
      async *follow(_ref: unknown, _after: unknown, signal: AbortSignal) {
        heard = signal
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        yield []
      },
    } as never,
    world,
    header: { inboxSeq: 0 } as TaskHeader,
    ledger: new Ledger({ world, records: [], passedOver: () => undefined }),
    writer: { put: () => undefined } as never,
    place: { leave: () => undefined, enter: async () => undefined },
    reading: (work) => work,
    onWaiting: () => undefined,
    onRecorded: () => undefined,
  })
  const next = inbox.next()
  await world.advance(0)
  expect([inbox.isWaiting, heard?.aborted]).toEqual([true, false])
  inbox.stop(new Error('over'))
  await expect(next).rejects.toThrow('over')
  expect([inbox.isWaiting, heard?.aborted]).toEqual([false, true])
})

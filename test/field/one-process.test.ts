/** Field cases of several servers on one store, as far as one process at a time can meet them. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, artifact, chunk, completed, inputRequired, sqlite } from '../../src/index.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { bindingNames, frames, openServer, result, userMessage } from '../harness/server.js'
import { begin, closeStill, gate, getTask, openStill, subscribe, subscribeDoors, take, takeAll } from '../runtime/kit.js'

const threeTurns = agent({ name: 'Turns', description: 'Takes three turns.' }, async function* (task) {
  yield artifact(`of-turn-${task.turn}`, task.text)
  return task.turn === 3 ? completed('done') : inputRequired(`what after ${task.text}?`)
})

test.each(bindingNames)(
  'F005 an older picture that wins: turns taken by one server after another keep the history and artifacts of all, over %s',
  async (binding) => {
    const folder = mkdtempSync(join(tmpdir(), 'errand-field-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const world = virtualWorld()
    let taskId = ''
    for (const text of ['one', 'two', 'three']) {
      const server = await openServer(threeTurns, { world, store: sqlite(join(folder, 'tasks.db'), { durability: 'process' }) })
      const { task } = await result(server.fetch, binding, 'SendMessage', { message: userMessage(text, taskId === '' ? {} : { taskId }) })
      taskId = task.id
      await closeStill(server, world)
    }
    const server = await openServer(threeTurns, { world, store: sqlite(join(folder, 'tasks.db')) })
    onTestFinished(() => closeStill(server, world))
    const task = await result(server.fetch, binding, 'GetTask', { id: taskId })
    expect(task.artifacts.map((one: any) => one.parts[0].text)).toEqual(['one', 'two', 'three'])
    expect(task.history.map((one: any) => one.parts[0].text)).toEqual(['one', 'what after one?', 'two', 'what after two?', 'three', 'done'])
  },
)

test('F005 two servers on one file: the second refuses to start and says whose it is', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'errand-field-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const first = await openServer(threeTurns, { store: sqlite(join(folder, 'tasks.db')) })
  onTestFinished(() => first.close())
  await expect(openServer(threeTurns, { store: sqlite(join(folder, 'tasks.db')) })).rejects.toThrow(String(process.pid))
})

describe.each(subscribeDoors)('subscribing by %s', (door) => {
  test.each(bindingNames)(
    'F011 events that reach one door only: who subscribes gets what the sender over %s gets, in its order',
    async (binding) => {
      const start = gate()
      const five = agent({ name: 'Five', description: 'Puts out five events.' }, async function* () {
        yield chunk('a', 'begun')
        await start.opened
        for (let i = 0; i < 4; i++) yield chunk('a', `${i}`, { last: i === 3 })
        return completed('done')
      })
      const { fetch } = await openStill(five)
      const sender = frames(fetch, binding, 'SendStreamingMessage', { message: userMessage('go') })
      const seen = await take(sender, 3)
      const { id } = seen[0]?.data.task ?? {}
      const subscribers = [subscribe(fetch, door, id), subscribe(fetch, door, id)]
      const firsts = await Promise.all(subscribers.map((stream) => take(stream, 1)))
      const whole = await getTask(fetch, id)
      for (const [first] of firsts) expect(first?.data).toEqual({ task: whole })
      // All three wait for the next event by then.
      const reading = [sender, ...subscribers].map(takeAll)
      const late = await begin(fetch, 'another task of the same moment')
      start.open()
      const [rest = [], ...others] = await Promise.all(reading)
      const kinds = ['artifactUpdate', 'artifactUpdate', 'artifactUpdate', 'artifactUpdate', 'statusUpdate']
      expect(rest.map(({ data }) => Object.keys(data)[0])).toEqual(kinds)
      expect(others).toEqual([rest, rest])
      expect(late).not.toBe(id)
    },
  )
})

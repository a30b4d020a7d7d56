/** The example of skills does what it says, over both bindings. */

import { describe, expect, test } from 'vitest'
import { roadTrip } from '../../examples/skills.js'
import { bindingNames, refusal, result, userMessage } from '../harness/server.js'
import { openStill } from '../runtime/kit.js'

describe.each(bindingNames)('over %s', (binding) => {
  test('a drive is reckoned with the usual consumption', async () => {
    const { fetch } = await openStill(roadTrip)
    const message = { ...userMessage(''), parts: [{ data: { km: 200, pricePerLitre: 2 } }] }
    const { task } = await result(fetch, binding, 'SendMessage', { message })
    expect(task.artifacts[0].parts).toEqual([{ data: { litres: 13, cost: 26 } }])
  })

  test('miles are turned into kilometres', async () => {
    const { fetch } = await openStill(roadTrip)
    const message = { ...userMessage(''), parts: [{ data: { miles: 100 } }] }
    const { task } = await result(fetch, binding, 'SendMessage', { message })
    expect(task.artifacts[0].parts[0].data.km).toBeCloseTo(160.9344)
  })

  test('a drive backwards is refused by the name of its field', async () => {
    const { fetch } = await openStill(roadTrip)
    const parts = [{ data: { km: -1, pricePerLitre: 2 } }]
    const message = { ...userMessage(''), parts, metadata: { 'urn:errand:skill': 'fuel' } }
    expect(await refusal(fetch, binding, 'SendMessage', { message })).toMatchObject({ fields: ['message.parts[0].data.km'] })
  })

  test('who only says hello is told what there is', async () => {
    const { fetch } = await openStill(roadTrip)
    const { task } = await result(fetch, binding, 'SendMessage', { message: userMessage('hello') })
    expect(task.status.message.parts[0].text).toMatch(
      /- fuel .*km \(number\).*litresPer100Km \(number, optional\)[\s\S]*- distance .*miles/,
    )
  })
})

/** The example of the race shows what it says: whoever waits for the reply refuses every post, whoever binds credentials none. */

import { expect, test } from 'vitest'
import { race } from '../../examples/push-race/race.js'

test('five events: fifteen attempts refused, or five accepted', async () => {
  expect(await race(5)).toEqual({ naive: { attempts: 15, refused: 15 }, binding: { attempts: 5, accepted: 5 } })
})

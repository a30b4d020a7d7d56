/** How something from the list is booked: what is missing is asked for, somebody allows it, the calendar enters it. */

import { artifact, ConsentDeniedError, completed, failed, StepFailedError, type TaskHandle, WaitTimeoutError, working } from 'errand'
import type { Calendar, Order } from './calendar.js'
import { amended, nextQuestion, type OrderDraft, orderOf, orderText, startDraft } from './order-draft.js'
import type { Remembered } from './shortlist-memory.js'
import { venues } from './venues.js'
import { forbids, readDates, readWish, type Wish } from './wish.js'

/** Where an agent books, and what day it is there. */
export interface BookingDesk {
  readonly calendar: Calendar
  /** As `2027-05-12`. */
  readonly today: () => string
}

/** Books what `wish` asks for from `list`. */
export async function* book(task: TaskHandle, wish: Wish, { list, desk }: { readonly list: Remembered; readonly desk: BookingDesk }) {
  // Recorded: a run that is taken up after midnight still means the same "tomorrow".
  const today = await task.step('today', desk.today)
  let draft = startDraft(wish, list, today)
  try {
    for (;;) {
      const question = nextQuestion(draft)
      const reply = question === undefined ? await consentTo(task, draft) : await task.ask(question)
      if ('granted' in reply) return yield* enter(task, desk.calendar, { order: orderOf(draft), token: reply.granted.token })
      const text = reply.message.parts.map((part) => part.text ?? '').join('\n')
      const said = readReply(text, draft)
      if (givesUp.test(text) || forbids(text) || (said === undefined && refuses.test(text)))
        return completed('All right, nothing is booked.')
      draft = said === undefined ? { ...draft, problem: notUnderstood(question === undefined) } : amended(draft, said)
    }
  } catch (error) {
    if (error instanceof ConsentDeniedError) return completed('It was not allowed, so nothing is booked.')
    if (error instanceof WaitTimeoutError) return failed('Nobody allowed it in time, so nothing is booked.')
    throw error
  }
}

const givesUp = /\b(?:never ?mind|forget (?:about )?it|cancel|stop|changed my mind|rather not|(?:do not|don['’]?t) want|no longer)\b/i
// "No, the third one" is a correction.
const refuses = /^\W*(?:no|nope|nah|not now|don['’]?t)\b/i

function consentTo(task: TaskHandle, draft: OrderDraft) {
  const prompt = `Allow one booking of ${orderText(orderOf(draft))}?`
  return task.authorize({
    oauth: 'calendar',
    scopes: ['calendar.book'],
    prompt: draft.problem === undefined ? prompt : `${draft.problem} ${prompt}`,
  })
}

function notUnderstood(waitsForConsent: boolean): string {
  return waitsForConsent ? 'I can take your consent only at the link.' : 'I could not make a booking of that.'
}

/** What a message adds to the order; undefined for nothing. */
function readReply(text: string, { list, offer }: OrderDraft): Wish | undefined {
  const shown = list.offers.map(({ venue }) => venue)
  // A number that stands alone answers "which one?".
  const number = offer === undefined ? /^\W*(\d{1,2})\W*$/.exec(text)?.[1] : undefined
  if (number !== undefined) return { choice: { place: Number(number) } }
  const wish = { ...readDates(text), ...readWish(text, shown, venues) }
  return Object.keys(wish).length > 0 ? wish : undefined
}

async function* enter(task: TaskHandle, calendar: Calendar, { order, token }: { readonly order: Order; readonly token: string }) {
  yield working(`Booking ${orderText(order)}`)
  try {
    const booked = await task.step(
      'book',
      ({ idempotencyKey, signal }) => calendar.book(order, { token, idempotencyKey, signal }),
      // The calendar keeps to the key: it may be asked again without booking twice.
      { retry: 3, timeout: '20s' },
    )
    if ('refused' in booked) return failed(`The calendar did not take the booking: ${booked.refused}. Nothing is booked.`)
    const { confirmation } = booked
    yield artifact('confirmation', [
      `Booked: ${orderText(order)}. Confirmation ${confirmation}.\n`,
      { data: { confirmation, ...order }, mediaType: 'application/json' },
    ])
    return completed(`Booked: ${orderText(order)}. Your confirmation is ${confirmation}.`)
  } catch (error) {
    if (!(error instanceof StepFailedError)) throw error
    return failed(`The calendar did not answer, so I cannot say whether ${order.venue} is booked. Look there before you ask again.`)
  }
}

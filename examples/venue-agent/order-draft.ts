/** An order as far as it is known: what each message adds to it, and what is still to be asked. */

import { spelled } from './brief.js'
import type { Order } from './calendar.js'
import { type CountedDay, type NamedDay, spokenDay, toIsoDay } from './first-day.js'
import { daysText, type Offer } from './search.js'
import type { Remembered } from './shortlist-memory.js'
import { venues } from './venues.js'
import type { Choice, Wish } from './wish.js'

export interface OrderDraft {
  readonly list: Remembered
  /** The day on which it is written, as `2027-05-12`. */
  readonly today: string
  readonly days: number
  readonly offer?: Offer
  /** As `2027-05-12`. */
  readonly from?: string
  /** What cannot be done as it was last said, as a sentence. */
  readonly problem?: string
}

/** What `wish` and the search before it say. */
export function startDraft(wish: Wish, list: Remembered, today: string): OrderDraft {
  const firstDay = wish.firstDay ?? list.firstDay
  return amended({ list, today, days: list.brief.days }, { ...wish, ...(firstDay !== undefined && { firstDay }) })
}

/** `draft` as changed by a later message. */
export function amended(draft: OrderDraft, { choice, firstDay, days }: Wish): OrderDraft {
  const { list, today } = draft
  const offer = choice === undefined ? (draft.offer ?? onlyOf(list.offers)) : chosen(choice, list.offers)
  const from = firstDay === undefined ? draft.from : comingDay(firstDay, today)
  const problem =
    choice !== undefined && offer === undefined
      ? notOnList(choice, list.offers)
      : firstDay !== undefined && from === undefined
        ? 'That day is past, or there is no such day.'
        : undefined
  return {
    ...{ list, today, days: days ?? draft.days },
    ...(offer !== undefined && { offer }),
    ...(from !== undefined && { from }),
    ...(problem !== undefined && { problem }),
  }
}

/** What is missing, as a question after the reason why it is asked again; undefined where nothing is. */
export function nextQuestion({ offer, from, problem, list }: OrderDraft): string | undefined {
  const asks =
    offer === undefined
      ? `Which one shall I book? ${list.offers.map(({ venue }, index) => `${index + 1}. ${venue.name}`).join(', ')}.`
      : from === undefined
        ? `From which day shall I book ${offer.venue.name}?`
        : undefined
  return asks === undefined || problem === undefined ? asks : `${problem} ${asks}`
}

/** @throws {TypeError} while {@link nextQuestion} has one */
export function orderOf({ offer, from, days, list }: OrderDraft): Order {
  if (offer === undefined || from === undefined) throw new TypeError('the order is not complete yet')
  return { venue: `${offer.venue.name}, ${offer.venue.city}`, from, days, people: list.brief.headcount }
}

/** `Lichthof Neun, Berlin, from 12 May 2027 for 2 days, 100 people` */
export function orderText({ venue, from, days, people }: Order): string {
  const when = days === 1 ? `on ${spokenDay(from)}` : `${days > 1 ? 'from' : 'on'} ${spokenDay(from)} for ${daysText(days)}`
  return `${venue}, ${when}, ${spelled(people)} ${people === 1 ? 'person' : 'people'}`
}

function comingDay(firstDay: NamedDay | CountedDay, today: string): string | undefined {
  const day = toIsoDay(firstDay, today)
  return day !== undefined && day >= today ? day : undefined
}

const onlyOf = (offers: readonly Offer[]) => (offers.length === 1 ? offers[0] : undefined)

function chosen(choice: Choice, offers: readonly Offer[]): Offer | undefined {
  if ('venueId' in choice) return offers.find(({ venue }) => venue.id === choice.venueId)
  return choice.place === 0 ? undefined : offers.at(choice.place > 0 ? choice.place - 1 : choice.place)
}

function notOnList(choice: Choice, { length }: readonly Offer[]): string {
  if ('venueId' in choice) return `${venues.find(({ id }) => id === choice.venueId)?.name} is not on your list.`
  return length === 1 ? 'There is only one venue on your list.' : `There are ${length} venues on your list.`
}

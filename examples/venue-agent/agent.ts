/** The venue agent: asks for what is missing, answers with a shortlist of venues, and books one of them. */

import { agent, chunk, completed, inputRequired, rejected, type TaskHandle, type Turn, working } from 'errand'
import { type BookingDesk, book } from './booking.js'
import { isFull, readBrief } from './brief.js'
import { asksForCheaper, question, toFullBrief, understand } from './conversation.js'
import { listed } from './features.js'
import { readNamedDay } from './first-day.js'
import { hasLink, withLinkedBriefs } from './linked-brief.js'
import { cities } from './places.js'
import {
  briefText,
  explain,
  explainCheaper,
  type Shortlist,
  search,
  searchCheaper,
  shortlistData,
  shortlistText,
  stages,
} from './search.js'
import { lastShortlist, type Remembered, remember } from './shortlist-memory.js'
import { venues } from './venues.js'
import { forbids, readWish } from './wish.js'

const stageTime = '4s' // five stages: a thorough search takes 20 seconds
const purpose = `I find venues for events: tell me a city, how many people, for how many days and what the place should have.`

/** @param desk where it books, with consent from the server's provider `calendar`; without one it only searches */
export const createVenueAgent = (desk?: BookingDesk) =>
  agent(
    {
      name: 'Venues',
      description: `Finds venues for events in ${listed(cities)}, from plain text, answers with a shortlist${desk ? ' and books from it' : ''}.`,
      version: '1.1.0',
      tags: ['venues', 'events', 'search', ...(desk ? ['booking'] : [])],
      examples: [
        'We need a place in Lisbon for about 120 people, two days, with catering and wifi',
        'Same again but for 3 days',
        'Our brief is at https://events.example/brief.html',
        'Thorough search: Berlin, 250 attendees, 12th to 14th May, step-free',
        ...(desk ? ['Book the second one for 12 May'] : []),
      ],
      answer,
    },
    (task) => run(task, desk),
  )

export const venueAgent = createVenueAgent()

/** What needs no task: a greeting, thanks, a question about this agent. */
function answer({ text }: Turn): string | undefined {
  if (hasLink(text)) return undefined
  const { topic } = readBrief(text)
  if (topic === 'greeting') return `Hello! ${purpose}`
  if (topic === 'help')
    return `${purpose} I know ${listed(cities)}. Ask for a thorough search if you have 20 seconds, or for the same again with a change.`
  return topic === 'thanks' ? 'You are welcome.' : undefined
}

async function* run(task: TaskHandle, desk: BookingDesk | undefined) {
  const list = lastShortlist(task)
  const wish = readWish(task.text, list?.offers.map(({ venue }) => venue) ?? [], venues)
  if (wish !== undefined && desk === undefined) return completed('I only find venues; to book one, please turn to the venue itself.')
  if (wish !== undefined && desk !== undefined && list !== undefined) return yield* book(task, wish, { list, desk })
  if (list !== undefined && asksForCheaper(task.text)) return yield* showCheaper(task, list)
  return yield* searchFor(task, { mayDecline: list !== undefined, hasNoList: wish !== undefined })
}

interface Before {
  /** There is a list, and so something that "don't book it" may mean. */
  readonly mayDecline: boolean
  /** The message wants to book from a list that there is not. */
  readonly hasNoList: boolean
}

async function* searchFor(task: TaskHandle, { mayDecline, hasNoList }: Before) {
  const { texts, problem = hasNoList ? 'I have no list of venues yet to book from.' : undefined } = await withLinkedBriefs(
    task,
    textsOf(task),
  )
  const understood = understand(texts, toFullBrief(task.context.get('brief')))
  if (task.turn === 1 && understood.latest.topic === 'other' && problem === undefined)
    return mayDecline && forbids(task.text) ? completed('All right, nothing is booked.') : rejected(`That is not about venues. ${purpose}`)
  if (!isFull(understood.brief)) {
    if (task.turn > 1 && givesUp.test(task.text)) return completed('All right, I have stopped looking.')
    const asks = question(understood, task.turn)
    return inputRequired(problem === undefined ? asks : `${problem} ${asks}`)
  }
  const shortlist = search(understood.brief)
  if (understood.thorough) yield* thoroughSearch(task, shortlist)
  else yield* show(shortlist)
  remember(task, shortlist, lastNamedDay(texts))
  return completed(explain(shortlist))
}

function* showCheaper(task: TaskHandle, list: Remembered) {
  const cheaper = searchCheaper(list)
  if (cheaper.offers.length > 0) {
    yield* show(cheaper)
    remember(task, cheaper, list.firstDay)
  }
  return completed(explainCheaper(list, cheaper))
}

const lastNamedDay = (texts: readonly string[]) => texts.map(readNamedDay).findLast((day) => day !== undefined)

/** Whoever was asked may have lost interest instead. */
const givesUp =
  /\b(?:never ?mind|forget (?:about )?it|don['’]?t bother|stop looking|cancel)\b|\b(?:do not|don['’]?t|no longer) need (?:a |any )?(?:venue|place|it|one|this)\b/i

function* show(shortlist: Shortlist) {
  yield working(`Looking for ${briefText(shortlist.brief)}`)
  yield chunk('shortlist', shortlistText(shortlist))
  yield chunk('shortlist', { data: shortlistData(shortlist), mediaType: 'application/json' }, { last: true })
}

async function* thoroughSearch(task: TaskHandle, shortlist: Shortlist) {
  for (const { note, finding } of stages(shortlist)) {
    yield working(note)
    await task.sleep(stageTime)
    yield finding === undefined
      ? chunk('shortlist', { data: shortlistData(shortlist), mediaType: 'application/json' }, { last: true })
      : chunk('shortlist', finding)
  }
}

function textsOf({ history }: TaskHandle): string[] {
  return history
    .filter(({ role }) => role === 'ROLE_USER')
    .map(({ parts }) => parts.flatMap((part) => (part.text === undefined ? [] : [part.text])).join('\n'))
}

/** The venue agent: asks for what is missing, then answers with a shortlist of venues. */

import { agent, chunk, completed, inputRequired, rejected, type TaskHandle, type Turn, working } from 'errand'
import { type FullBrief, isFull, readBrief } from './brief.js'
import { question, toFullBrief, understand } from './conversation.js'
import { listed } from './features.js'
import { hasLink, withLinkedBriefs } from './linked-brief.js'
import { cities } from './places.js'
import { briefData, briefText, explain, search, shortlistData, shortlistText, stages } from './search.js'

const stageTime = '4s' // five stages: a thorough search takes 20 seconds
const purpose = `I find venues for events: tell me a city, how many people, for how many days and what the place should have.`

export const venueAgent = agent(
  {
    name: 'Venues',
    description: `Finds venues for events in ${listed(cities)}, from plain text, and answers with a shortlist.`,
    version: '1.0.0',
    tags: ['venues', 'events', 'search'],
    examples: [
      'We need a place in Lisbon for about 120 people, two days, with catering and wifi',
      'Same again but for 3 days',
      'Our brief is at https://events.example/brief.html',
      'Thorough search: Berlin, 250 attendees, 12th to 14th May, step-free',
    ],
    answer,
  },
  run,
)

/** What needs no task: a greeting, thanks, a question about this agent. */
function answer({ text }: Turn): string | undefined {
  if (hasLink(text)) return undefined
  const { topic } = readBrief(text)
  if (topic === 'greeting') return `Hello! ${purpose}`
  if (topic === 'help')
    return `${purpose} I know ${listed(cities)}. Ask for a thorough search if you have 20 seconds, or for the same again with a change.`
  return topic === 'thanks' ? 'You are welcome.' : undefined
}

async function* run(task: TaskHandle) {
  const { texts, problem } = await withLinkedBriefs(task, textsOf(task))
  const understood = understand(texts, toFullBrief(task.context.get('brief')))
  if (task.turn === 1 && understood.latest.topic === 'other' && problem === undefined)
    return rejected(`That is not about venues. ${purpose}`)
  if (!isFull(understood.brief)) {
    if (task.turn > 1 && givesUp.test(task.text)) return completed('All right, I have stopped looking.')
    const asks = question(understood, task.turn)
    return inputRequired(problem === undefined ? asks : `${problem} ${asks}`)
  }
  yield* understood.thorough ? thoroughSearch(task, understood.brief) : quickSearch(understood.brief)
  task.context.set('brief', briefData(understood.brief))
  return completed(explain(search(understood.brief)))
}

/** Whoever was asked may have lost interest instead. */
const givesUp =
  /\b(?:never ?mind|forget (?:about )?it|don['’]?t bother|stop looking|cancel)\b|\b(?:do not|don['’]?t|no longer) need (?:a |any )?(?:venue|place|it|one|this)\b/i

function* quickSearch(brief: FullBrief) {
  const shortlist = search(brief)
  yield working(`Looking for ${briefText(brief)}`)
  yield chunk('shortlist', shortlistText(shortlist))
  yield chunk('shortlist', { data: shortlistData(shortlist), mediaType: 'application/json' }, { last: true })
}

async function* thoroughSearch(task: TaskHandle, brief: FullBrief) {
  const shortlist = search(brief)
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

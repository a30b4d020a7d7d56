/** What a message is about: a search for a venue, a greeting, thanks, a question about this agent, or something else. */

import { anyOf } from './words.js'

export type Topic = 'search' | 'greeting' | 'help' | 'thanks' | 'other'

const aWordOf = (...lines: string[]) => new RegExp(`\\b${anyOf(...lines)}\\b`)
/** Matches a text that has no other words than these. */
const onlyOf = (...lines: string[]) => new RegExp(`^(?:${anyOf(...lines)}(?: |$))*$`)

/** What else was found in a message. */
export interface Signals {
  readonly city: boolean
  readonly unknownPlace: boolean
  readonly headcount: boolean
  readonly days: boolean
  readonly features: number
  readonly bareNumbers: number
  /** "same again" or "thorough search". */
  readonly command: boolean
  /** "how about …", "make it …": only with something to change. */
  readonly change: boolean
  /** The words that nothing was made of. */
  readonly rest: string
}

const greeting = onlyOf(
  'oh|well|and|a|very|to|you|u|all|there|everyone|everybody|folks|team|again|venue|venues|agent|bot|assistant|friend',
  'mate|dear|sir|madam|hi|hiya|hey|heya|hello|helo|hallo|hullo|howdy|yo|hola|ola|ciao|salut|bonjour|moin|servus|hej',
  'hei|greetings|welcome|morning|afternoon|evening|day|good|goodmorning|gday|guten|tag|morgen|bom|dia|how|are|is|it',
  'going|doing|today|whats|up|sup|nice|meet|meeting|i|m|am|im|my|name|the|please|pleased|x|ping|test|can|hear|me',
  'anyone|anybody|home|,',
)
const greets = aWordOf(
  'hi|hiya|hey|heya|hello|helo|hallo|hullo|howdy|yo|hola|ola|ciao|salut|bonjour|moin|servus|hej|hei|greetings',
  'good ?(?:morning|afternoon|evening|day)|gday|guten (?:tag|morgen)|bom dia|morning|afternoon|evening|sup|whats up',
  'how are you|ping|anyone|anybody',
)
const thanks = onlyOf(
  'ok|okay|great|perfect|super|cool|nice|no|thats|that is|all|many|very|much|so|a lot|lots|for|your|the|help|you|to',
  'now|then|and|thanks|thank|thx|cheers|bye|goodbye|see|later|have|good|day|,',
)
const thanksFor = aWordOf('thanks|thank you|thx|cheers|bye|goodbye|see you')
const help = new RegExp(
  anyOf(
    '^(?:help(?: me)?(?: please)?|[?])$',
    `\\b${anyOf(
      'what (?:can|do|could|else can) (?:you|u|this)(?: \\w+)? (?:do|offer|help)\\b|what do you do|what can you do',
      'who are you|what are you|how (?:do|does|can) (?:you|this|it|i)(?: \\w+)? (?:work|use)',
      'what (?:is|are) (?:this|you)(?: (?:for|about))?$|how can you help',
      '(?:which|what) (?:cities|towns|places|locations|features) |where do you have|your capabilities',
      'list (?:the |your )?(?:cities|features)',
    )}`,
  ),
)

const introduction = /\b(?:my name is|i am|im|this is) (?!\w+ing\b)[a-z]+(?: here)?(?: (?:from|at|of) [a-z]+(?: [a-z]+)?)?$/

const makes = anyOf('write|compose|tell|sing|recite|make up|give|create|draft|generate')
// What is never a search, even where it mentions a venue.
const neverSearch = aWordOf(
  `${makes}(?: (?:me|us|a|an|some|the|short|nice|little|funny|good|another))* ${anyOf(
    'poems?|jokes?|songs?|stor(?:y|ies)|haikus?|essays?|limericks?|riddles?|code|scripts?|programs?|functions?',
    'letters?|cover letter|emails?|tweets?|recipes?|lyrics|novel|blog(?: post)?|facts?',
  )}`,
  'translate|ignore (?:all |the |your )?(?:previous|prior|above)|system prompt|solve (?:this|the|for)|weather',
  'forecast for|temperature|will it rain|is it raining|exchange rate|stock price|bitcoin|capital (?:city )?of',
  'who (?:won|is|was|invented|wrote)|meaning of life|football (?:score|match)|president|prime minister|horoscope',
  'debug|python|javascript|sql query',
)
// What is something else unless an event is mentioned.
const otherWares = aWordOf(
  'flights?|fly|plane|airlines?|train tickets?|tickets?|taxis?|cabs?|uber|rental car|rent a car|cars?|pizzas?',
  'restaurants?|table for|hotels?|hostels?|airbnb|apartments?|flats?|holidays?|vacation|doctors?|dentists?|plumbers?',
  'electricians?|haircut|hairdresser|barbers?|movies?|films?|cinema|music|playlist|news|football|soccer|shoes?',
  'laptops?|phones?|jobs?|visas?|insurance|recipes?|cook|bake|homework|essay|maths?|sights?|museums?|sightseeing',
  'itinerary|dj|bands?|photographers?|flowers?|florists?|gifts?|presents?|deliver\\w*|shipping|cakes?|interpreters?',
  'translators?|speakers? for|bikes?|parcel|medicine|pharmacy|bank|loan|girlfriend|boyfriend|date night|groceries',
)
// "With a DJ" and "parking for 20 cars" belong to an event.
const companions = '\\b(?:with|and|plus|including|near|close to)(?: (?:a|an|the|some|live|good|our|room for))* '
const extras = new RegExp(anyOf('\\bpark\\w*(?: \\w+)? (?:for )?(?:\\d+ )?cars?\\b', companions + otherWares.source), 'g')
const questions = new RegExp(
  `^(?:, )?${anyOf(
    'what|whats|who|whos|why|when|how|explain|define|calculate|compute|tell me about',
    '(?:does|do|did|is|are)(?! there| you have| you know| anyone)',
  )}\\b`,
)

const event = aWordOf(
  'venues?|halls?|conferences?|event|events|congress|convention|summit|off ?sites?|retreats?|kick ?offs?|workshops?',
  'seminars?|trainings?|meetings?|meet ?ups?|hackathons?|weddings?|part(?:y|ies)|gala|launch|symposium|forum',
  'gathering|get together|reception|banquet|exhibition|trade fair|reunion|celebration|birthday|anniversary|ballroom',
  'auditorium|theatre|theater|function room|board ?room|meeting room|event space|lecture|training course|town ?hall|all hands',
  'assembly|ceremony|festival|concert|agm|away ?day|team ?(?:day|building)|christening|baptism|graduation|prom',
  'class|presentation|demo day|bootcamp|christmas do|award\\w*|rehearsal|fundraiser|tournament|shortlist',
)
const space = aWordOf('places?|spaces?|rooms?|locations?|somewhere|lofts?|barns?|castles?|studios?|spot|facilit(?:y|ies)|shortlist')
const filler = onlyOf(
  'please|pls|plz|thanks|thank you|and|or|the|a|an|in|at|for|of|to|on|with|without|it|its|is|we|i|id|like|want|need',
  'would|yes|yeah|yep|sure|ok|okay|hi|hello|hey|there|good|morning|afternoon|evening|so|then|um|uh|hmm|well|let|lets',
  'us|me|say|go|with|my|our|be|will|maybe|about|around|some|something|anything|nice|near|city|centre|center|central',
  'downtown|area|old|town|looking|are|were|that|this|next|week|month|year|everyone|all|prefer|preferably|rather|guess|think|idea|make',
  'just|only|people|from|have|has|no|not|dear|team|sorry|actually|any|great|cool|x|/|,|\\d+',
)

/** @param words the text's `plainWords` */
export function topicOf(words: string, found: Signals): Topic {
  const mentionsEvent = event.test(words.replace(/\bvenues? (?:agent|bot|assistant)\b/g, ''))
  if (neverSearch.test(words)) return 'other'
  if (help.test(words) && !found.headcount && !found.days) return 'help'
  const anything =
    found.city || found.unknownPlace || found.headcount || found.days || found.features > 0 || found.bareNumbers > 0 || found.command
  const idle = words.replace(/[?]/g, '').trim()
  if (!mentionsEvent && greets.test(idle) && greeting.test(idle.replace(introduction, '').trim()) && !found.city) return 'greeting'
  if (!anything && !mentionsEvent && thanksFor.test(idle) && thanks.test(idle)) return 'thanks'
  if (mentionsEvent) return 'search'
  if (otherWares.test(words.replace(extras, ','))) return 'other'
  if (found.command || (found.change && anything)) return 'search'
  if (found.headcount && found.city) return 'search'
  if (questions.test(words) && !space.test(words) && !/\b(?:what|how) about\b/.test(words)) return 'other'
  if (space.test(words)) return 'search'
  if (anything && (found.headcount || found.days || filler.test(found.rest))) return 'search'
  return found.features > 1 || (found.features > 0 && found.city) ? 'search' : 'other'
}

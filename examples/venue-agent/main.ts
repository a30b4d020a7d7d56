/** Starts the venue agent on a socket with a SQLite file, two development identities and a calendar beside it, and says how to talk to it. */

import { bearerTokens, closeOnSignals, serve, sqlite } from 'errand'
import { createVenueAgent } from './agent.js'
import { calendarAt } from './calendar.js'
import { startCalendar } from './calendar-process.js'

const host = process.env['HOST'] || '127.0.0.1'
const port = readPort(process.env['PORT'] || '4000')
const file = process.env['ERRAND_STORE'] || 'venues.db'

// Their tokens are their names: fit for one's own machine and for nothing else.
const developers = ['alice', 'bob'] as const

if (!/^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host)) {
  fail(
    `HOST is ${host}, but the identities alice and bob are for development on this machine only. Leave HOST out, or set it to 127.0.0.1.`,
  )
}

const said = (error: unknown) => fail(error instanceof Error ? error.message : String(error))
const clientId = 'venue-agent'
const calendar = await startCalendar(file === ':memory:' ? undefined : `${file}.calendar`).catch(said)
const today = () => new Date().toISOString().slice(0, 10)
const server = await serve(createVenueAgent({ calendar: calendarAt(calendar.url), today }), {
  host,
  port,
  store: sqlite(file),
  auth: bearerTokens(Object.fromEntries(developers.map((name) => [name, name]))),
  oauth: { calendar: { authorizationEndpoint: `${calendar.url}/authorize`, tokenEndpoint: `${calendar.url}/token`, clientId } },
}).catch(said)
calendar.register({ id: clientId, name: 'The venue agent', redirectUri: `${server.url}/consent/callback` })

closeOnSignals({
  async close() {
    await server.close()
    // Until here a booking that is under way may need it.
    calendar.stop()
  },
})

console.log(banner(server.url))

function banner(url: string): string {
  const id = '"$(node -p "crypto.randomUUID()")"'
  const send = (path: string, user: string, body: string) =>
    `curl -sN ${url}${path} -H 'A2A-Version: 1.0' -H 'Authorization: Bearer ${user}' -H 'Content-Type: application/json' \\\n    -d '${body.replace('MESSAGE_ID', `'${id}'`)}'`
  const message = (text: string) => `{"message":{"messageId":"MESSAGE_ID","role":"ROLE_USER","parts":[{"text":"${text}"}]}}`
  return `
The venue agent is up. Its tasks are kept in ${file}.

  card       ${url}/.well-known/agent-card.json
  JSON-RPC   ${url}/a2a/v1
  HTTP+JSON  ${url}/rest
  calendar   ${calendar.url}, where "book the second one" leads

You are alice or bob: send "Authorization: Bearer alice" or "Authorization: Bearer bob". Neither sees the other's tasks. Try:

  ${send('/rest/message:send', 'alice', message('We need a place in Lisbon for 120 people for two days, with catering'))}

  ${send('/rest/message:stream', 'alice', message('Thorough search: Oslo, 40 people, 1 day'))}

  ${send('/a2a/v1', 'bob', `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":${message('hello')}}`)}
`
}

function readPort(text: string): number {
  const number = Number(text)
  return Number.isInteger(number) && number >= 0 && number <= 65_535
    ? number
    : fail(`PORT takes a number from 0 to 65535; it is ${JSON.stringify(text)}.`)
}

function fail(reason: string): never {
  console.error(reason)
  process.exit(2)
}

/** The calendar service as a process of its own, beside the agent that books in it: it tells where it listens, and is told who may ask. */

import { listen } from './listen.js'
import { type CalendarService, type Client, createCalendarService } from './service.js'

/** What the process says first. */
export interface CalendarStarted {
  readonly url: string
}

if (process.send === undefined) {
  console.error('The calendar service is started by the venue agent: run "npm start".')
  process.exit(2)
}

// Nobody is registered yet, so nobody can ask for anything.
let service: CalendarService = createCalendarService({ clients: [] })
const { url } = await listen((request) => service(request))
process.once('message', (client: Client) => {
  service = createCalendarService({ clients: [client] })
})
process.send({ url } satisfies CalendarStarted)

// Ctrl-C reaches every process of a terminal; the agent may still need the calendar while it finishes.
process.on('SIGINT', () => {})
// The agent is gone, in whatever way.
process.on('disconnect', () => process.exit(0))

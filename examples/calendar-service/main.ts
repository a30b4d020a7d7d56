/**
 * The calendar service as a process of its own, beside the agent that books in it: it tells where it listens, and is told who
 * may ask. Its argument is the file that it keeps; without one, nothing is kept.
 */

import { closeOnSignals } from 'errand'
import { listen } from './listen.js'
import { inFile, inMemory } from './memory.js'
import { type CalendarService, type Client, createCalendarService } from './service.js'

/** What the process says first. */
export interface CalendarStarted {
  readonly url: string
}

if (process.send === undefined) {
  console.error('The calendar service is started by the venue agent: run "npm start".')
  process.exit(2)
}

const file = process.argv[2]
const memory = file === undefined ? inMemory() : inFile(file)
// Nobody is registered yet, so nobody can ask for anything.
let service: CalendarService = createCalendarService({ clients: [], memory })
const { url, server } = await listen((request) => service(request))
process.once('message', (client: Client) => {
  service = createCalendarService({ clients: [client], memory })
})
process.send({ url } satisfies CalendarStarted)

closeOnSignals({ close: () => new Promise((closed) => void server.close(() => closed())) })
// The agent is gone, in whatever way.
process.on('disconnect', () => process.exit(0))

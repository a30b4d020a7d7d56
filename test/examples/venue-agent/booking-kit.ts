/** The venue agent and its calendar on sockets of this machine, somebody who talks to it, and somebody who is asked for consent. */

import { onTestFinished } from 'vitest'
import { listen } from '../../../examples/calendar-service/listen.js'
import { type CalendarService, createCalendarService } from '../../../examples/calendar-service/service.js'
import { createVenueAgent } from '../../../examples/venue-agent/agent.js'
import { type Calendar, calendarAt } from '../../../examples/venue-agent/calendar.js'
import { virtualWorld } from '../../../src/testing/virtual-world.js'
import { openSocket, requestFor, result, userMessage } from '../../harness/server.js'
import { bookingsOf } from '../calendar-service/kit.js'

export const today = '2027-05-11'

export interface OpenOptions {
  /** Stands between the agent and its calendar. */
  readonly around?: (calendar: Calendar) => Calendar
}

export async function openBooking({ around = (calendar) => calendar }: OpenOptions = {}) {
  // The agent must know the calendar's address, and the calendar the agent's.
  let service: CalendarService = async () => new Response(null, { status: 503 })
  const { url: calendarUrl, server: calendarServer } = await listen((request) => service(request))
  const world = virtualWorld({ now: Date.parse(`${today}T08:00:00Z`) })
  const agent = createVenueAgent({ calendar: around(calendarAt(calendarUrl)), today: () => today })
  const oauth = {
    calendar: { authorizationEndpoint: `${calendarUrl}/authorize`, tokenEndpoint: `${calendarUrl}/token`, clientId: 'venue-agent' },
  }
  const { url, close } = await openSocket(agent, { world, oauth })
  const client = { id: 'venue-agent', name: 'The venue agent', redirectUri: `${url}/consent/callback` }
  service = createCalendarService({ clients: [client] })
  onTestFinished(async () => {
    await close()
    calendarServer.closeAllConnections()
    calendarServer.close()
  })

  const say = async (text: string, more: object = {}) =>
    (await result(fetch, 'HTTP+JSON', 'SendMessage', { message: userMessage(text, { contextId: 'offsite', ...more }) }, { url })).task
  return {
    url,
    world,
    say,
    /** A search, then the wish to book; what the agent says to that. */
    async searchAndSay(wish: string, search = 'A place in Lisbon for 40 people for two days') {
      await say(search)
      return say(wish)
    },
    task: (id: string) => result(fetch, 'HTTP+JSON', 'GetTask', { id }, { url }),
    /** The task when it has come to its end. */
    async ended(id: string) {
      const stream = await fetch(requestFor('HTTP+JSON', 'SubscribeToTask', { id }, { url }))
      // To its end; there is none where the task has come to its own before.
      await stream.text()
      return result(fetch, 'HTTP+JSON', 'GetTask', { id }, { url })
    },
    booked: () => bookingsOf(service, client),
  }
}

export const saidBy = (task: any): string => task.status.message.parts[0].text

/** The link for whoever is asked. */
export const linkOf = (task: any): string => /https?:\S+/.exec(saidBy(task))?.[0] ?? ''

/** Agrees on the agent's page and presses a button on the calendar's, as a browser without scripts does. */
export async function walk(link: string, decision: 'allow' | 'deny'): Promise<Response> {
  const agreed = await post(link, { decision: 'agree' })
  const page = await fetch(agreed.headers.get('location') ?? '')
  const request = /name="request" value="([^"]+)"/.exec(await page.text())?.[1] ?? ''
  const back = await post(new URL('/authorize', page.url).href, { request, decision }, { cookie: cookieOf(page) })
  return fetch(back.headers.get('location') ?? '', { headers: { cookie: cookieOf(agreed) } })
}

const cookieOf = (response: Response) => response.headers.get('set-cookie')?.split(';')[0] ?? ''

function post(url: string, fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const own = { origin: new URL(url).origin, 'sec-fetch-site': 'same-origin' }
  return fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual', headers: { ...own, ...headers } })
}

/** An application that asks the calendar service, and the browser of somebody who decides. */

import { createHash } from 'node:crypto'
import type { CalendarMemory } from '../../../examples/calendar-service/memory.js'
import { type CalendarService, type Client, createCalendarService } from '../../../examples/calendar-service/service.js'

export const client: Client = { id: 'agent', name: 'The <b>agent</b>', redirectUri: 'http://127.0.0.1:4000/consent/callback' }
export const other: Client = { id: 'other', name: 'Another', redirectUri: 'http://127.0.0.1:5000/back' }
export const codeVerifier = 'v'.repeat(43)
const base = 'http://calendar.test'

/** What a request for a code has when nothing is wrong with it. */
export const sound = Object.freeze({
  response_type: 'code',
  client_id: client.id,
  redirect_uri: client.redirectUri,
  scope: 'calendar.book',
  state: 'a+b/c= &d',
  code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
  code_challenge_method: 'S256',
})

/** Changes to a sound request: undefined leaves a parameter out, a list repeats it. */
export type Changes = Readonly<Record<string, string | readonly string[] | undefined>>

export function openCalendar(memory?: CalendarMemory) {
  let time = Date.UTC(2027, 0, 1)
  const service = createCalendarService({ clients: [client, other], now: () => time, ...(memory && { memory }) })
  const calendar = {
    service,
    pass: (seconds: number) => {
      time += seconds * 1000
    },
    ask: (changes: Changes = {}, headers: Readonly<Record<string, string>> = {}) =>
      service(new Request(`${base}/authorize?${parameters(sound, changes)}`, { headers })),
    /** Opens the page and presses one of its buttons. */
    async decide(decision: 'allow' | 'deny', changes: Changes = {}) {
      return press(service, await shown(await calendar.ask(changes)), decision)
    },
    async code(changes: Changes = {}) {
      return answered(await calendar.decide('allow', changes)).get('code') ?? ''
    },
    token: (code: string, changes: Changes = {}, headers: Readonly<Record<string, string>> = {}) =>
      service(new Request(`${base}/token`, { method: 'POST', body: parameters(exchange(code), changes), headers })),
    accessToken: (scope = 'calendar.book', who = client) => accessToken(service, who, scope),
    book: (body: unknown, headers: Readonly<Record<string, string>>) =>
      service(new Request(`${base}/bookings`, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) })),
    booked: () => bookingsOf(service, client),
  }
  return calendar
}

/** A token that somebody allows `who` to have. */
export async function accessToken(service: CalendarService, who: Client, scope: string): Promise<string> {
  const changes = { client_id: who.id, redirect_uri: who.redirectUri }
  const page = await service(new Request(`${base}/authorize?${parameters(sound, { ...changes, scope })}`))
  const back = await press(service, await shown(page), 'allow')
  const code = new URL(back.headers.get('location') ?? '').searchParams.get('code') ?? ''
  const response = await service(new Request(`${base}/token`, { method: 'POST', body: parameters(exchange(code), changes) }))
  return (await response.json()).access_token
}

/** What stands in the calendar. */
export async function bookingsOf(service: CalendarService, reader: Client): Promise<readonly any[]> {
  const authorization = `Bearer ${await accessToken(service, reader, 'calendar.read')}`
  return (await (await service(new Request(`${base}/bookings`, { headers: { authorization } }))).json()).bookings
}

export interface Shown {
  readonly request: string
  readonly cookie: string
}

/** What the form of a page and its cookie hold. */
export async function shown(response: Response): Promise<Shown> {
  const request = /name="request" value="([^"]+)"/.exec(await response.text())?.[1] ?? ''
  return { request, cookie: response.headers.get('set-cookie')?.split(';')[0] ?? '' }
}

export function press(service: CalendarService, { request, cookie }: Shown, decision: string): Promise<Response> {
  const body = new URLSearchParams({ request, decision })
  return service(new Request(`${base}/authorize`, { method: 'POST', body, headers: { cookie } }))
}

/** What the browser takes back to the application. */
export function answered(response: Response): URLSearchParams {
  const location = response.headers.get('location') ?? ''
  if (response.status !== 303 || !location.startsWith(`${client.redirectUri}?`))
    throw new Error(`not sent back: ${response.status} ${location}`)
  return new URL(location).searchParams
}

const exchange = (code: string) => ({
  grant_type: 'authorization_code',
  client_id: client.id,
  redirect_uri: client.redirectUri,
  code,
  code_verifier: codeVerifier,
})

function parameters(usual: Readonly<Record<string, string>>, changes: Changes): URLSearchParams {
  return new URLSearchParams(
    Object.entries({ ...usual, ...changes }).flatMap(([name, value]) =>
      value === undefined ? [] : typeof value === 'string' ? [[name, value]] : value.map((one) => [name, one]),
    ),
  )
}

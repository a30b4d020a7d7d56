/** The calendar service as a child process: started, told who may ask, and ended by its id. */

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { CalendarStarted } from '../calendar-service/main.js'
import type { Client } from '../calendar-service/service.js'

export interface CalendarProcess {
  /** Where it listens. */
  readonly url: string
  readonly register: (client: Client) => void
  readonly stop: () => void
}

const main = fileURLToPath(new URL('../calendar-service/main.js', import.meta.url))

/**
 * @param file keeps what was allowed and booked; nothing is kept without one
 * @throws where the process ends instead of saying where it listens
 */
export async function startCalendar(file: string | undefined): Promise<CalendarProcess> {
  // Detached, or a Ctrl-C of the terminal would reach it too: the agent may still need the calendar while it finishes.
  const child = fork(main, file === undefined ? [] : [file], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], detached: true })
  const { url } = await started(child)
  // The channel alone shall not keep this process; the child sees it close, and ends.
  child.channel?.unref()
  child.unref()
  return { url, register: (client) => void child.send(client), stop: () => void child.kill('SIGTERM') }
}

function started(child: ChildProcess): Promise<CalendarStarted> {
  return new Promise((resolve, reject) => {
    // The only message that the service sends.
    child.once('message', (said) => resolve(said as CalendarStarted))
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`the calendar service ended with ${code} before it listened`)))
  })
}

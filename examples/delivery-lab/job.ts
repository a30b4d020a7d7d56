/** The job: it takes as long as its message says, and reports five times, at its beginning, after each quarter and at its end. */

import { type Agent, agent, completed, rejected, working } from 'errand'

const notes = ['I have begun.', 'A quarter is done.', 'Half of it is done.', 'Three quarters are done.']

/** @param onEnd called at the moment at which a job is finished */
export function thoroughJob(onEnd: () => void): Agent {
  return agent({ name: 'Thorough', description: 'Takes its time, and reports.' }, async function* (task) {
    const [, seconds] = /^Take (\d+) seconds\.$/.exec(task.text) ?? []
    if (seconds === undefined) return rejected('Say how long to take, such as "Take 20 seconds."')
    for (const [number, note] of notes.entries()) {
      yield working(`Report ${number + 1} of 5: ${note}`)
      await task.sleep((Number(seconds) * 1000) / notes.length)
    }
    onEnd()
    return completed('Report 5 of 5: Everything is done.')
  })
}

export const messageFor = (seconds: number) => `Take ${seconds} seconds.`

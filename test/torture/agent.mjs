/**
 * The agent under torture: it does what the first word of a task says, and whatever it puts out names the run that it came from.
 *
 * `judge-outcomes.ts` knows what has to come of each word.
 */

import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { agent, chunk, completed, failed, inputRequired, working } from '../../dist/src/index.js'

/** A whole number, as a Standard Schema. */
const whole = {
  '~standard': {
    version: 1,
    vendor: 'torture',
    validate: (value) => (Number.isInteger(value) ? { value } : { issues: [{ message: 'it has to be a whole number' }] }),
  },
}

/**
 * @param effect the service outside
 * @param say told of each run: that it begins, that it is stopped and why, that its function has ended
 */
export function createScript({ effect, say }) {
  return agent({ name: 'Script', description: 'Does what it is told.' }, async function* (task) {
    const run = `run-${randomUUID()}`
    const [word, count] = task.history[0].parts[0].text.split(' ')
    const step = (name, ms = 0) =>
      task.step(name, async ({ idempotencyKey }) => {
        const value = effect(idempotencyKey, { taskId: task.id, turn: task.turn, step: name, run })
        await delay(ms)
        if (name === 'broken') throw new Error(value)
        return value
      })
    say(`begun ${task.id} ${run}`)
    task.signal.addEventListener('abort', () => say(`stopped ${task.id} ${run} ${task.signal.reason.why}`), { once: true })
    try {
      return yield* (scripts[word] ?? scripts.echo)({ task, run, step, count: Number(count) })
    } finally {
      say(`ended ${task.id} ${run}`)
    }
  })
}

const scripts = {
  async *echo({ task, run }) {
    return completed(run, { run, text: task.text })
  },

  async *fail({ run }) {
    return failed(`${run} It could not be done.`)
  },

  async *trickle({ task, run, count }) {
    for (let left = count; left > 0; left--) {
      yield chunk('drops', `${run}:${left};`, { last: left === 1 })
      await task.sleep(1)
    }
    return completed(run, { run })
  },

  async *ask({ task, run }) {
    yield working(`${run} thinking of a question`)
    const { message } = await task.ask(`${run} What is the answer?`, { key: 'answer' })
    return completed(run, { run, answer: message.messageId })
  },

  /** A question that goes away by itself. */
  async *impatient({ task, run }) {
    try {
      const { message } = await task.ask(`${run} Quick, what is it?`, { key: 'answer', timeout: 150 })
      return completed(run, { run, answer: message.messageId })
    } catch (error) {
      if (error?.name !== 'WaitTimeoutError') throw error
      return completed(run, { run, answer: null })
    }
  },

  async *order({ task, run, step, count }) {
    yield working(`${run} looking`)
    const reserved = await step('reserve', 5)
    const notes = yield* task.stream('notes', async function* () {
      for (let piece = 0; piece < count; piece++) {
        yield `${run}:${piece};`
        await delay(3)
      }
    })
    const many = await task.ask(`${run} How many?`, { key: 'many', schema: whole })
    const booked = await step('book', 5)
    await task.sleep(5)
    return completed(run, { run, reserved, notes, many, booked })
  },

  /** Steps beside each other, one of which fails; `order` is how they came in. */
  async *parallel({ task, run, step }) {
    const order = []
    let reason
    const named = async (name, ms) => {
      try {
        return await step(name, ms)
      } catch (error) {
        if (error?.name !== 'StepFailedError') throw error
        reason = error.reason.message
      } finally {
        order.push(name)
      }
    }
    const steps = [named('left', Math.random() * 30), named('broken', Math.random() * 30), named('right', Math.random() * 30)]
    const first = await Promise.race(steps.map((one) => one.then(() => order[0])))
    const [left, , right] = await Promise.all(steps)
    yield working(`${run} ${order.join(' ')}`)
    await task.sleep(20)
    return completed(run, { run, order, first, left, right, reason })
  },

  /** Long at work. */
  async *linger({ task, run, step, count }) {
    const values = []
    for (let round = 1; round <= count; round++) {
      yield working(`${run} about to do ${round}`)
      values.push(await step(`work-${round}`, 100))
      // Right behind the step: where the task was taken away meanwhile, this is what a stale run tries to say.
      yield working(`${run} did ${round}`)
      await task.sleep(10)
    }
    return completed(run, { run, values })
  },

  async *hold({ task, run }) {
    yield working(`${run} holding`)
    const message = await task.inbox.next()
    return completed(run, { run, by: message?.messageId ?? null })
  },

  async *await({ task, run }) {
    yield working(`${run} waiting for a signal`)
    const signal = await task.wait('go')
    return completed(run, { run, signal })
  },

  /** Three turns; what each step gave is kept in the context. */
  async *turns({ task, run, step }) {
    const before = task.context.get('tallies') ?? []
    const tallies = [...before, await step('tally', 2)]
    task.context.set('tallies', tallies)
    if (task.turn < 3) return inputRequired(`${run} And then?`)
    return completed(run, { run, tallies })
  },
}

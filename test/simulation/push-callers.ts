/** Those who ask to be told by pushes: inside messages and by operations, some of them twice, some until they think better of it. */

import type { Action } from './callers.js'
import { isUnavailable, type Sending } from './calls.js'
import type { Chance } from './chance.js'
import type { Exchange, Life } from './life.js'
import type { PushPlan } from './plan.js'
import type { Intent, PushLaw } from './push-law.js'

export interface PushCallers {
  /** What a message to the task of that place brings. */
  inSend(place: number): Intent | undefined
  /** It is about to be sent. */
  meant(intent: Intent | undefined): void
  actions(server: Life, place: number, taskId: string): readonly Action[]
  hear(): void
  waiting(): readonly string[]
  /** What was accepted is there. */
  judge(sendings: readonly Sending[]): void
}

interface PushCallersOptions {
  readonly chance: Chance
  readonly plan: PushPlan
  readonly law: PushLaw
  readonly violate: (what: string) => void
  readonly action: () => number
}

/** A call of one of the operations. */
interface Asked {
  readonly taskId: string
  /** Undefined where `id` is to be deleted. */
  readonly intent: Intent | undefined
  readonly id: string | undefined
  readonly exchange: Exchange
  readonly sentIn: number
}

/** Few enough that they meet. */
const names = ['one', 'two'] as const

export function createPushCallers({ chance, plan, law, violate, action }: PushCallersOptions): PushCallers {
  const unnamed = new Map<number, Intent>()
  const accepted = new Set<string>()
  let asked: Asked[] = []
  let count = 0

  function make(): Intent {
    const n = ++count
    return {
      ...(chance.is(0.4) && { id: chance.pick(names) }),
      url: `https://hook.test/${n}`,
      token: `token-${n}`,
      authentication: { scheme: 'Bearer', credentials: `credentials-${n}` },
    }
  }

  function inSend(place: number): Intent | undefined {
    if (!chance.is(plan.inSends)) return undefined
    const before = unnamed.get(place)
    // Whoever knows that the task may be there already says it again.
    if (before && chance.is(0.3)) return before
    const intent = make()
    if (intent.id === undefined) unnamed.set(place, intent)
    return intent
  }

  function ask(server: Life, method: string, params: object, more: Omit<Asked, 'exchange' | 'sentIn'>): void {
    asked.push({ ...more, exchange: server.request(method, params), sentIn: action() })
  }

  function create(server: Life, taskId: string): void {
    const intent = make()
    law.meant(intent)
    ask(server, 'CreateTaskPushNotificationConfig', { ...intent, taskId }, { taskId, intent, id: intent.id })
  }

  function remove(server: Life, taskId: string, id: string): void {
    ask(server, 'DeleteTaskPushNotificationConfig', { taskId, id }, { taskId, intent: undefined, id })
  }

  function hearOne({ taskId, intent, id, exchange, sentIn }: Asked): void {
    if (exchange.state === 'lost') return
    const { result, error } = exchange.body
    if (error) {
      if (!isUnavailable(error)) violate(`an operation on a push configuration was answered by ${JSON.stringify(error)}`)
      return
    }
    if (intent) {
      accepted.add(intent.url)
      if (/token-|credentials-/.test(JSON.stringify(result)))
        violate(`a push configuration is shown with its secrets: ${JSON.stringify(result)}`)
      if (intent.id !== undefined && result.id !== intent.id) violate(`the push configuration ${intent.id} was made as ${result.id}`)
      return
    }
    const line = law.line(taskId, id ?? '')
    if (line?.place && line.deletedIn < sentIn) violate(`the deletion of push configuration ${id} was confirmed and not done`)
  }

  return {
    inSend,
    meant(intent) {
      if (intent) law.meant(intent)
    },
    actions: (server, place, taskId) => [
      { weight: plan.creates, name: `wants to be told of ${place}`, act: () => create(server, taskId) },
      {
        weight: plan.deletes,
        name: `wants to be told no more of ${place}`,
        act: () => remove(server, taskId, chance.pick([...law.idsOf(taskId), 'nobody'])),
      },
    ],
    hear() {
      const settled = asked.filter(({ exchange }) => exchange.state !== 'open')
      asked = asked.filter(({ exchange }) => exchange.state === 'open')
      settled.forEach(hearOne)
    },
    waiting: () => asked.map(({ taskId, id }) => `operation on push configuration ${id} of ${taskId}`),
    judge(sendings) {
      for (const { state, push, id } of sendings) {
        if (state === 'accepted' && push && !law.wasMade(push.url)) violate(`message ${id} was accepted and its push configuration is lost`)
      }
      for (const url of accepted) if (!law.wasMade(url)) violate(`the push configuration ${url} was accepted and is lost`)
    },
  }
}

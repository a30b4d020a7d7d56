/** Those who are told by pushes: each answers as its mood is, at once, late or not at all. */

import { AddressRefusedError } from '../../src/net/address-guard.js'
import type { OpenedPost, PostRequest } from '../../src/push/post.js'
import type { Action } from './callers.js'
import type { Chance } from './chance.js'
import type { Life } from './life.js'
import type { Posted, PushLaw } from './push-law.js'
import type { Answer } from './push-reference.js'

export interface Receivers {
  /** The way to them, for one process. */
  open(life: Life): OpenedPost
  actions(): readonly Action[]
  /** Nobody has yet to answer. */
  isDone(): boolean
}

interface ReceiversOptions {
  readonly chance: Chance
  readonly law: PushLaw
  readonly isQuiet: () => boolean
  readonly note: (line: string) => void
  readonly count: (what: string) => void
}

type Mood = 'well' | 'moody' | 'ill' | 'rude'

interface Pending {
  readonly post: Posted
  readonly settle: (answer: Answer) => void
}

const moods: readonly Mood[] = ['well', 'well', 'moody', 'moody', 'ill', 'rude']
const again = [404, 408, 425, 429, 500, 503, 302] as const
const never = [400, 401, 403, 422] as const

export function createReceivers({ chance, law, isQuiet, note, count }: ReceiversOptions): Receivers {
  const pending = new Set<Pending>()
  const moodOf = new Map<string, Mood>()

  function answerOf({ line, number }: Posted): Answer | undefined {
    const mood = moodOf.get(line.config.url) ?? chance.pick(moods)
    moodOf.set(line.config.url, mood)
    const isWell = chance.is({ well: 0.9, moody: 0.5, ill: 0.1, rude: 0.1 }[mood])
    if (isWell) return { status: chance.pick([200, 202, 204]) }
    if (number > 1 && chance.is(0.06)) return { status: 410 }
    if (chance.is(0.06)) return { failure: 'address' }
    if (mood === 'rude' || chance.is(0.2)) return { status: chance.pick(never) }
    if (chance.is(0.2)) return { failure: 'connection' }
    return chance.is(0.2) && !isQuiet() ? undefined : { status: chance.pick(again) }
  }

  function receive(request: PostRequest, signal: AbortSignal, life: Life): Promise<number> {
    return new Promise((resolve, reject) => {
      const post = life.isOver ? undefined : law.posted(request, life)
      if (!post) return
      count('posts')
      note(`${life.number} posts ${request.headers['idempotency-key']}`)
      const one: Pending = {
        post,
        settle(answer) {
          pending.delete(one)
          signal.removeEventListener('abort', leave)
          law.answered(post, answer)
          note(`answers ${post.number} of ${post.line.id} with ${JSON.stringify(answer)}`)
          if ('status' in answer) resolve(answer.status)
          else reject(answer.failure === 'address' ? new AddressRefusedError('address') : new Error('the connection broke'))
        },
      }
      const leave = () => {
        pending.delete(one)
        if (life.isOver) return
        law.givenUp(post)
        reject(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
      life.onOver(() => void pending.delete(one))
      pending.add(one)
      if (chance.is(0.6)) answer(one)
    })
  }

  function answer(one: Pending): void {
    const given = answerOf(one.post)
    if (given) one.settle(given)
    // It hangs: nobody asks it again.
    else pending.delete(one)
  }

  return {
    open: (life) => ({
      post: (request, signal) => receive(request, signal, life),
      async checkAddresses() {},
      async close() {},
    }),
    actions: () => [...pending].map((one) => ({ weight: 1, name: `hears of ${one.post.number}`, act: () => answer(one) })),
    isDone: () => pending.size === 0,
  }
}

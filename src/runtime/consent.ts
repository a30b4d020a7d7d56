/** Requests for consent: who holds the state of one that is open may close it, once and in time. */

import { isFinal } from '../protocol/states.js'
import type { Store, TaskHeader, TaskRef } from '../store/store.js'
import { fromBase64url, hmac, seal, toBase64url, unseal, utf8 } from '../support/crypto.js'
import type { Log } from '../support/log.js'
import { isPlainObject } from '../support/options.js'
import { openBody, sealBody, type Vault } from '../support/vault.js'
import type { World } from '../support/world.js'
import { nextTimestamp, statusEvent } from '../task/make-event.js'
import type { AuthorizeBody, ConsentAsked } from './record-bodies.js'
import type { Grant } from './task.js'

/** Where the server takes consents, from its base URL on. */
export const consentPath = '/consent'

/** The page that asks; `base` is the base URL of the server. */
export const consentLink = (base: string, state: string) => `${base.replace(/\/+$/, '')}${consentPath}/${state}`

/** Where credentials and codes of providers arrive. */
export const consentCallback = (base: string) => `${base.replace(/\/+$/, '')}${consentPath}/callback`

export interface OpenConsent {
  readonly header: TaskHeader
  readonly asked: ConsentAsked
  /** When the request expires, in milliseconds. */
  readonly due: number | undefined
}

/** `gone`: there is no such request, or not any more, and nothing was changed. */
export type ConsentOutcome = 'done' | 'gone'

export interface Consents {
  /**
   * The state of one opening of one question: unguessable, the same whenever it is made, and of no use once that
   * question is closed. Whoever has it may close the question; nothing else can be done with it.
   */
  state(ref: TaskRef, question: string): string
  /** The request that is open under this state. */
  find(state: string): Promise<OpenConsent | undefined>
  grant(state: string, grant: Grant): Promise<ConsentOutcome>
  /** @param reason what the agent is told */
  deny(state: string, reason: string): Promise<ConsentOutcome>
  /** 32 bytes for one purpose that nobody can tell from the state alone: nothing has to be kept for them. */
  derive(purpose: string, state: string): Uint8Array
}

interface ConsentsOptions {
  readonly store: Pick<Store, 'header' | 'records' | 'update'>
  readonly vault: Vault
  readonly world: World
  readonly log: Log
  /** Kept with the store: `store.secret('consent')`. */
  readonly secret: Uint8Array
}

interface Place {
  readonly ref: TaskRef
  readonly question: string
}

/** Why a state is of no use. The log tells; whoever brought the state is told the same in every case. */
type Refusal = 'no state of this server' | 'no such task' | 'the task is over' | 'the question is closed' | 'the question has expired'

export function createConsents({ store, vault, world, log, secret }: ConsentsOptions): Consents {
  function stateOf(ref: TaskRef, question: string): string {
    return toBase64url(seal(secret, [stateContext], utf8(JSON.stringify([ref, question]))))
  }

  function placeOf(state: string): Place | undefined {
    const sealed = fromBase64url(state)
    const plain = sealed && unseal(secret, [stateContext], sealed)
    if (plain === undefined) return undefined
    // What only this server can have sealed, in stateOf.
    const [ref, question] = JSON.parse(new TextDecoder().decode(plain)) as [TaskRef, string]
    return { ref, question }
  }

  function refusalOf(header: TaskHeader, question: string): Refusal | undefined {
    const { waiting } = header
    if (isFinal(header.state)) return 'the task is over'
    if (waiting?.kind !== 'authorize' || waiting.question !== question) return 'the question is closed'
    if (waiting.due !== undefined && waiting.due <= world.now()) return 'the question has expired'
    return undefined
  }

  /** The task whose question is open under this state, and the key of that question's record. */
  async function openTask(
    state: string,
  ): Promise<{ readonly header: TaskHeader; readonly key: string; readonly place: Place } | undefined> {
    const place = placeOf(state)
    if (place === undefined) return refuse('no state of this server')
    const header = await store.header(place.ref)
    if (header === undefined) return refuse('no such task')
    const refusal = refusalOf(header, place.question)
    if (refusal !== undefined) return refuse(refusal, header.id)
    return { header, place, key: header.waiting?.key ?? '' }
  }

  function refuse(reason: Refusal, taskId?: string): undefined {
    log.info('a consent was refused', { reason, ...(taskId !== undefined && { taskId }) })
  }

  async function close(state: string, body: AuthorizeBody, told: string): Promise<ConsentOutcome> {
    const open = await openTask(state)
    if (open === undefined) return 'gone'
    const { header, key, place } = open
    // WebCrypto is asynchronous and transactions are not: what is written is sealed before, for this very question.
    const sealed = await sealBody(vault, { taskId: header.id, turn: header.turn, key }, body)
    const updated = await store.update<Refusal | undefined>(place.ref, (current) => {
      const refusal = refusalOf(current, place.question)
      if (refusal !== undefined) return { result: refusal }
      const events = [statusEvent(current, 'TASK_STATE_WORKING', nextTimestamp(current.statusTimestamp, world.now()))]
      return { result: undefined, write: { events, records: [{ kind: 'authorize', key, body: sealed }], waiting: null, attempt: 0 } }
    })
    // Only a message that came before has another outcome, and there is none here.
    const refusal = updated.outcome === 'updated' ? updated.result : 'the question is closed'
    if (refusal !== undefined) {
      refuse(refusal, header.id)
      return 'gone'
    }
    log.info(told, { taskId: header.id })
    return 'done'
  }

  return {
    state: stateOf,
    async find(state) {
      const open = await openTask(state)
      if (open === undefined) return undefined
      const { header, key } = open
      const record = (await store.records(header.ref, header.turn)).find((one) => one.kind === 'authorize' && one.key === key)
      const body = record && (await openBody(vault, { taskId: header.id, turn: header.turn, key }, record.body))
      // Between the two reads somebody may have closed it.
      if (!isAsked(body)) return refuse('the question is closed', header.id)
      return { header, asked: body.asked, due: header.waiting?.due }
    },
    grant: (state, { token, scopes }) => close(state, { granted: { token, scopes } }, 'consent was given'),
    deny: (state, reason) => close(state, { denied: reason }, 'consent was denied'),
    derive: (purpose, state) => hmac(secret, 'consent', purpose, state),
  }
}

const stateContext = 'consent-state'

/** An open record of `authorize` as the runtime writes it. */
function isAsked(body: unknown): body is { readonly asked: ConsentAsked } {
  return isPlainObject(body) && 'asked' in body
}

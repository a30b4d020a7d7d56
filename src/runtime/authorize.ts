/** `task.authorize`: a request for consent to whoever the link reaches. Spec §7.6. */

import type { Message, Part } from '../protocol/wire.js'
import type { TaskRef } from '../store/store.js'
import { durationMs } from '../support/duration.js'
import { checkOptions, isFunction, isString, isText, isTextList, type OptionRule, show } from '../support/options.js'
import { isWholeText } from '../support/whole-text.js'
import { uuid, type World } from '../support/world.js'
import type { AuthorizeBody, ConsentAsked } from './record-bodies.js'
import { ConsentDeniedError, WaitTimeoutError } from './run-errors.js'
import { timeRule } from './steps.js'
import type { Consent, ConsentRequest } from './task.js'
import type { WaitKeys } from './wait-keys.js'
import type { Wait } from './waits.js'

/** Where people come to agree. */
export interface ConsentDesk {
  /** Names one opening of one question, and nothing else. */
  state(ref: TaskRef, question: string): string
  /** The page for who is asked. */
  pageUrl(state: string): string
  /** Where a place of another kind posts the credential. */
  callbackUrl(): string
  hasProvider(name: string): boolean
}

interface AuthorizeNeeds {
  readonly ref: TaskRef
  readonly world: World
  readonly keys: WaitKeys
  readonly desk: ConsentDesk | undefined
  readonly messageAt: (seq: number) => Promise<Message>
  readonly encode: (key: string, body: object) => Promise<string>
}

const defaultTimeout = '24h'

const words = {
  prompt: { takes: 'a text', ok: (value: unknown) => isString(value) && isWholeText(value) },
  timeout: timeRule,
  key: { takes: 'a text', ok: isText },
}
const oauthRules: Readonly<Record<string, OptionRule>> = {
  oauth: { takes: "the name of a provider of the server's option oauth", ok: isText, required: true },
  scopes: { takes: 'a list of texts', ok: isTextList, required: true },
  ...words,
}
const callbackRules: Readonly<Record<string, OptionRule>> = {
  callback: { takes: 'a function of callbackUrl and state that gives the link', ok: isFunction, required: true },
  ...words,
}

/** @throws {TypeError} for a wrong request, and where the server has no such provider */
export function authorizeWait(request: ConsentRequest, needs: AuthorizeNeeds): Wait<Consent> {
  const { ref, world, keys, messageAt, encode } = needs
  const desk = checked(request, needs.desk)
  const timeout = request.timeout ?? defaultTimeout
  const timeoutMs = durationMs(timeout, 'task.authorize: timeout')
  const prompt =
    request.prompt ?? ('oauth' in request ? `Allow ${request.scopes.join(', ')} at ${request.oauth}.` : 'Your consent is needed.')
  const name = 'oauth' in request ? `${request.oauth} ${request.scopes.join(' ')} ${request.prompt ?? ''}` : prompt
  const key = keys.key('authorize', name, request.key)
  return {
    kind: 'authorize',
    key,
    async prepare() {
      const question = uuid(world)
      const state = desk.state(ref, question)
      const asked: ConsentAsked =
        'oauth' in request
          ? { prompt, scopes: request.scopes, oauth: request.oauth }
          : { prompt, scopes: [], link: checkLink(request.callback({ callbackUrl: desk.callbackUrl(), state })) }
      const body = await encode(key, { asked } satisfies AuthorizeBody)
      const parts: readonly Part[] = [{ text: `${prompt}\n${desk.pageUrl(state)}` }]
      return (draft) => {
        draft.seal()
        draft.status('TASK_STATE_AUTH_REQUIRED', parts, question)
        return { waiting: { question, due: world.now() + timeoutMs }, body }
      }
    },
    judge: async (body) => ({ settled: body as AuthorizeBody }), // What the desk or a message wrote into it.
    overdue: { timeout: true } satisfies AuthorizeBody,
    async read(given) {
      const body = given as AuthorizeBody // Written above, by the desk, and by accepting a message.
      if ('timeout' in body) throw new WaitTimeoutError(`consent within ${timeout}`)
      if ('denied' in body) throw new ConsentDeniedError(body.denied)
      if ('granted' in body) return { granted: body.granted }
      if ('answer' in body) return { message: await messageAt(body.answer) }
      throw new Error('a request for consent that is open was taken for one that is over')
    },
  }
}

function checked(request: ConsentRequest, desk: ConsentDesk | undefined): ConsentDesk {
  const isOAuth = typeof request === 'object' && request !== null && 'oauth' in request
  checkOptions('task.authorize', request, isOAuth ? oauthRules : callbackRules)
  if (!desk) throw new TypeError('task.authorize needs a server that people can reach: createServer() or serve()')
  if (isOAuth && !desk.hasProvider(request.oauth))
    throw new TypeError(`task.authorize: the server's option oauth has no provider ${JSON.stringify(request.oauth)}; name it there`)
  return desk
}

function checkLink(link: unknown): string {
  if (isString(link) && /^https?:\/\//i.test(link) && URL.canParse(link)) return link
  throw new TypeError(`task.authorize: callback must give the link to show, an http or https URL; it gave ${show(link)}`)
}

/** What other places post to the callback: a credential for an open request, or why there is none. */

import { isPlainObject, isText } from '../support/options.js'

export type CallbackBody = { readonly state: string } & (
  | { readonly token: string; readonly scopes: readonly string[] | undefined }
  | { readonly error: string }
)

/** What is wrong with a body, in words for whoever sent it. */
export class CallbackBodyError extends Error {
  override readonly name = 'CallbackBodyError'
  readonly status: 400 | 415

  constructor(status: 400 | 415, message: string) {
    super(message)
    this.status = status
  }
}

/** Characters of a reason: agents may pass it on. */
const longestReason = 200

/** @throws {CallbackBodyError} */
export function parseCallback(contentType: string | undefined, bytes: Uint8Array): CallbackBody {
  const { state, token, error, scopes } = members(mediaType(contentType), textOf(bytes))
  if (!isText(state)) throw broken('state must be the text that the link brought along')
  if ((token === undefined) === (error === undefined)) throw broken('it needs either token or error')
  if (error !== undefined) {
    if (!isText(error) || error.length > longestReason) throw broken(`error must be a text of at most ${longestReason} characters`)
    return { state, error }
  }
  if (!isText(token)) throw broken('token must be a text')
  return { state, token, scopes: scopes === undefined ? undefined : scopesOf(scopes) }
}

/** The fields of a form, in UTF-8; each may be given once. @throws {CallbackBodyError} */
export function parseForm(contentType: string | undefined, bytes: Uint8Array): Record<string, unknown> {
  if (mediaType(contentType) !== form) throw new CallbackBodyError(415, `The body must be ${form}.`)
  return members(form, textOf(bytes))
}

const form = 'application/x-www-form-urlencoded'
const json = 'application/json'

const mediaType = (contentType = '') => contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw broken('it is not UTF-8')
  }
}

function members(type: string, text: string): Record<string, unknown> {
  if (type === form) return formMembers(text)
  if (type !== json) throw new CallbackBodyError(415, `The body must be ${json} or ${form}.`)
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    // What JSON.parse says may quote the body, and the body may hold a credential.
    throw broken('it is no JSON')
  }
  if (!isPlainObject(parsed)) throw broken('it is no object')
  return parsed
}

function formMembers(text: string): Record<string, unknown> {
  const fields = [...new URLSearchParams(text)]
  if (new Set(fields.map(([name]) => name)).size < fields.length) throw broken('a field is there twice')
  return Object.fromEntries(fields)
}

/** A list, or as OAuth writes them (RFC 6749 §3.3). */
function scopesOf(scopes: unknown): readonly string[] {
  if (typeof scopes === 'string') return scopes.split(' ').filter((one) => one !== '')
  if (Array.isArray(scopes) && scopes.every(isText)) return scopes
  throw broken('scopes must be a list of texts')
}

const broken = (what: string) => new CallbackBodyError(400, `The body cannot be used: ${what}.`)

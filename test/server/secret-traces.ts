/** Finds a secret in whatever is stored, sent or logged, in each form in which it could have got there. */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { onTestFinished } from 'vitest'

/** By the place where they were found: texts, or bytes. */
export type Places = Readonly<Record<string, readonly (string | Uint8Array)[]>>

/** Each `place: form` in which there is a secret. */
export function tracesOf(secrets: readonly string[], places: Places): string[] {
  const forms = secrets.flatMap(formsOf)
  return Object.entries(places).flatMap(([place, contents]) => {
    const texts = contents.map((one) => Buffer.from(one).toString('latin1'))
    const found = forms.filter(([, bytes]) => texts.some((text) => text.includes(bytes)))
    return [...new Set(found.map(([form]) => `${place}: ${form}`))]
  })
}

/** Bytes are compared as latin1, one character each. */
function formsOf(secret: string): [form: string, bytes: string][] {
  const utf8 = Buffer.from(secret)
  const json = JSON.stringify(secret).slice(1, -1)
  const texts: [string, string][] = [
    ['raw', secret],
    ['JSON', json],
    ['JSON in JSON', JSON.stringify(json).slice(1, -1)],
    ['percent-encoded', encodeURIComponent(secret)],
    ['form-encoded', new URLSearchParams({ '': secret }).toString().slice(1)],
    ['percent-encoded twice', encodeURIComponent(encodeURIComponent(secret))],
    ['HTML', secret.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')],
    ['UTF-16', utf8.toString('utf16le')],
    ['hex', utf8.toString('hex')],
    ['HEX', utf8.toString('hex').toUpperCase()],
    ...base64Of('base64', secret),
    // What Basic, a data part or a body in a body would make of it.
    ...base64Of('base64 of JSON', json),
  ]
  return texts.map(([form, text]) => [form, form === 'UTF-16' ? Buffer.from(secret, 'utf16le').toString('latin1') : latin1(text)])
}

/** In base64 a text looks otherwise after one, two or three bytes; what its neighbours take part in is left out. */
function base64Of(form: string, text: string): [string, string][] {
  return [0, 1, 2].flatMap((before) =>
    (['base64', 'base64url'] as const).map((alphabet): [string, string] => {
      const encoded = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]).toString(alphabet)
      const whole = Math.floor((before + Buffer.byteLength(text)) / 3) * 4
      return [form, encoded.slice(before === 0 ? 0 : 4, whole)]
    }),
  )
}

const latin1 = (text: string) => Buffer.from(text).toString('latin1')

/** A value with all that hangs on it, as a log may write it: hidden members, stacks and causes. */
export const laidOpen = (value: unknown): string =>
  inspect(value, { depth: null, showHidden: true, maxArrayLength: null, maxStringLength: null, breakLength: Number.POSITIVE_INFINITY })

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'errand-secrets-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/**
 * A copy of a folder as it is now: what would be left of it if the process ended here. Another process makes it, for one
 * that reads a file of its own gives up the locks that it has on it.
 */
export function copyOf(folder: string): string {
  const copy = newFolder()
  execFileSync('cp', ['-pR', `${folder}/.`, copy])
  return copy
}

/** The bytes of every file of a folder that nobody has open, by name. */
export const filesIn = (folder: string): Map<string, Buffer> =>
  new Map(readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => [name, readFileSync(join(folder, name))]))

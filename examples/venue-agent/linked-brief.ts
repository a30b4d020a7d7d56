/** Event briefs behind links: a message may give the address of a brief instead of its text. */

import { AddressRefusedError, type TaskHandle } from 'errand'
import { limits } from './brief.js'

/** More of a page is not looked at. */
const pageCharacters = 10_000
/** Briefs that one conversation remembers. */
const remembered = 4
const link = /\bhttps?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]]/i

export const hasLink = (text: string) => link.test(text)

export interface Linked {
  /** The messages, each link replaced by the brief behind it. */
  readonly texts: string[]
  /** Why the newest one's link could not be read, as a sentence. */
  readonly problem?: string
}

/** Reads the brief that the newest message links to; earlier ones are remembered. */
export async function withLinkedBriefs(task: TaskHandle, texts: readonly string[]): Promise<Linked> {
  const url = link.exec(texts.at(-1) ?? '')?.[0]
  const known = briefsOf(task)
  const read = url === undefined || known.has(url) ? undefined : await readLinked(task, url)
  if (url !== undefined && read?.text !== undefined) {
    known.set(url, read.text)
    task.context.set('linked briefs', [...known].slice(-remembered))
  }
  return {
    // A function, because a brief may hold what replace() takes for a pattern.
    texts: texts.map((text) => text.replace(link, (found) => known.get(found) ?? '')),
    ...(read?.problem !== undefined && { problem: read.problem }),
  }
}

async function readLinked(task: TaskHandle, url: string): Promise<{ readonly text?: string; readonly problem?: string }> {
  try {
    const response = await task.fetch(url, { headers: { accept: 'text/plain, text/html;q=0.9' } })
    const type = response.headers.get('content-type') ?? ''
    if (!response.ok || !/^text\//i.test(type)) {
      await response.body?.cancel()
      return { problem: response.ok ? 'What is at that address is no text.' : 'I found no brief at that address.' }
    }
    const page = (await response.text()).slice(0, pageCharacters)
    return { text: plainText(page, /^text\/html/i.test(type)).slice(0, limits.characters) }
  } catch (error) {
    task.signal.throwIfAborted()
    return {
      problem:
        error instanceof AddressRefusedError
          ? 'I read public pages over https only, and that address is none.'
          : 'I could not read that address.',
    }
  }
}

function plainText(page: string, isHtml: boolean): string {
  return isHtml ? page.replace(/<(script|style)\b[\s\S]*?<\/\1>|<[^>]*>/gi, ' ') : page
}

function briefsOf({ context }: TaskHandle): Map<string, string> {
  const memory: unknown = context.get('linked briefs')
  return new Map(Array.isArray(memory) ? memory.filter(isEntry) : [])
}

function isEntry(value: unknown): value is [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every((one) => typeof one === 'string')
}

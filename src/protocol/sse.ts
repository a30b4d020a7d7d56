/** Server-sent events as text. Spec §9.4.2, §11.7; HTML Living Standard, "Server-sent events". */

export interface SseFrame {
  /** Number of the event, for `Last-Event-ID`. */
  readonly id?: number | string
  /** Absent: a plain message. */
  readonly event?: string
  readonly data: string
}

/** Keeps an idle stream alive; readers pass over it. */
export const keepAlive = ':\n\n'

/** The whole frame with the blank line that ends it. */
export function sseFrame({ id, event, data }: SseFrame): string {
  const head = (id === undefined ? '' : `id: ${oneLine(String(id))}\n`) + (event === undefined ? '' : `event: ${oneLine(event)}\n`)
  return `${head}data: ${lineBreak.test(data) ? data.split(lineBreak).join('\ndata: ') : data}\n\n`
}

// JSON text holds none of these; splitting keeps other data from forging fields of the frame.
const lineBreak = /\r\n|\r|\n/

function oneLine(text: string): string {
  return lineBreak.test(text) || text.includes('\0') ? text.replace(/[\r\n\0]/g, '') : text
}

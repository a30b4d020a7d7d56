/** Reads server-sent events as the HTML standard says, whatever the pieces are in which they come. */

export interface SseEvent {
  readonly id?: string
  readonly event?: string
  readonly data: string
}

export interface SseReader {
  /** The events that this piece completes. */
  push(piece: Uint8Array): readonly SseEvent[]
}

export function createSseReader(): SseReader {
  const decoder = new TextDecoder()
  let rest = ''
  let fields: { id?: string; event?: string; data?: string } = {}

  function take(line: string): SseEvent | undefined {
    if (line === '') {
      const { data, ...head } = fields
      fields = {}
      return data === undefined ? undefined : { ...head, data }
    }
    const colon = line.indexOf(':')
    if (colon === 0) return undefined
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'data') fields.data = fields.data === undefined ? value : `${fields.data}\n${value}`
    else if (name === 'id' || name === 'event') fields[name] = value
    return undefined
  }

  return {
    push(piece) {
      rest += decoder.decode(piece, { stream: true })
      // A carriage return at the end may be half of a line break.
      const held = rest.endsWith('\r') ? 1 : 0
      const lines = rest.slice(0, rest.length - held).split(/\r\n|\r|\n/)
      rest = (lines.pop() ?? '') + (held ? '\r' : '')
      return lines.map(take).filter((event) => event !== undefined)
    },
  }
}

/**
 * An agent that shows every behaviour on request, by the prefixes of the public test kits: of the first text, else of the
 * message id. With a task at hand the new message's prefix counts; one without any goes on with what was asked.
 */

import {
  type Agent,
  type AgentInfo,
  agent,
  artifact,
  chunk,
  completed,
  failed,
  inputRequired,
  rejected,
  type TaskHandle,
  working,
} from '../index.js'

export type Profile = 'full' | 'minimal' | 'required-extension'

/** Long enough to be seen at work by a poll of one second, and to be subscribed to. */
const whileMs = 3_000
const longWhileMs = 5_000

const file = { filename: 'output.txt', mediaType: 'text/plain' }
const fileParts = [{ raw: 'R2VuZXJhdGVkIHRleHQgY29udGVudAo=', ...file }]
const urlParts = [{ url: 'https://example.com/output.txt', ...file }]
const dataParts = [{ data: { key: 'value', count: 42 } }]

type Behaviour = (task: TaskHandle) => ReturnType<AgentInfoRun>
type AgentInfoRun = (task: TaskHandle) => AsyncGenerator<ReturnType<typeof working>, ReturnType<typeof completed> | undefined>

const shows = (parts: Parameters<typeof artifact>[1]): Behaviour =>
  async function* () {
    yield artifact('output', parts)
    return completed()
  }

const streams = (text: string): Behaviour =>
  async function* () {
    yield working()
    yield artifact('output', text)
    return completed()
  }

const delays = (ms: number): Behaviour =>
  async function* (task) {
    yield working('at work')
    await task.sleep(ms)
    yield artifact('output', 'Done after delay')
    return completed('Done after delay')
  }

async function* asks() {
  yield* []
  return inputRequired('What else should I know?')
}

const behaviours: Readonly<Record<string, Behaviour>> = {
  'tck-complete-task': async function* () {
    yield* []
    return completed('Hello from TCK')
  },
  'tck-artifact-text': shows('Generated text content'),
  'tck-artifact-file': shows(fileParts),
  'tck-artifact-file-url': shows(urlParts),
  'tck-artifact-data': shows(dataParts),
  'tck-input-required': asks,
  'tck-multi-turn': asks,
  'tck-auth-required': async function* (task) {
    yield* []
    await task.authorize({
      prompt: 'This needs your consent',
      callback: ({ callbackUrl, state }) =>
        `https://consent.example/?${new URLSearchParams({ callback: callbackUrl, state, task: task.id })}`,
    })
    return completed('Authorized, or told to go on without.')
  },
  'tck-reject-task': async function* () {
    yield* []
    return rejected('rejected')
  },
  'tck-task-failure': async function* () {
    yield* []
    return failed('It could not be done.')
  },
  'tck-stream-001': streams('Stream hello from TCK'),
  'tck-stream-002': async function* () {
    yield* []
    return completed()
  },
  'tck-stream-003': streams('Stream task lifecycle'),
  'tck-stream-basic': streams('Stream hello'),
  'tck-stream-ordering-001': streams('Ordered output'),
  'tck-stream-artifact-text': streams('Streamed text content'),
  'tck-stream-artifact-file': async function* () {
    yield working()
    yield artifact('output', fileParts)
    return completed()
  },
  'tck-stream-artifact-chunked': chunks,
  'tck-stream-chunked': chunks,
  'tck-delayed-complete': delays(whileMs),
  'tck-long-running': delays(whileMs),
  'test-resubscribe-message-id': delays(longWhileMs),
  'tck-cancel': async function* (task) {
    yield working('at work until canceled')
    for (;;) await task.inbox.next()
  },
}

async function* chunks() {
  yield working()
  yield chunk('output', 'chunk-1 ')
  yield chunk('output', 'chunk-2', { last: true })
  return completed()
}

const directReply = 'tck-message-response'
const byLength = [...Object.keys(behaviours), directReply].sort((a, b) => b.length - a.length)

const prefixOf = (text: string) => byLength.find((prefix) => text.startsWith(prefix))

function askedFor({ text, message }: Pick<TaskHandle, 'text' | 'message'>): string | undefined {
  return prefixOf(text) ?? prefixOf(message.messageId)
}

const extensions: Readonly<Record<Profile, AgentInfo['extensions']>> = {
  full: [{ uri: 'urn:errand:conformance:optional', description: 'Changes nothing.' }],
  minimal: undefined,
  'required-extension': [{ uri: 'urn:a2a:tck:required-extension', description: 'Must be listed by callers.', required: true }],
}

export function conformanceAgent(profile: Profile = 'full'): Agent {
  return agent(
    {
      name: 'Conformance agent',
      description: 'Shows every behaviour of the protocol on request.',
      inputModes: ['text/plain', 'application/json'],
      outputModes: ['text/plain', 'application/json'],
      ...(extensions[profile] && { extensions: extensions[profile] }),
      ...(profile === 'full' && { extendedCard: (user) => ({ description: `Shows every behaviour to ${user.id}.` }) }),
      answer: (turn) => (askedFor(turn) === directReply ? 'Direct message response' : undefined),
    },
    async function* (task) {
      const asked = askedFor(task)
      const behaviour = asked === undefined ? undefined : behaviours[asked]
      if (behaviour) return yield* behaviour(task)
      if (task.turn > 1 && !task.text.startsWith('done')) return yield* asks()
      return completed(`You said: ${task.text}`)
    },
  )
}

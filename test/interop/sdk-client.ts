/** A client that nobody here wrote: `@a2a-js/sdk`, found through the card and held to one binding. */

import {
  type Message,
  Role,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  type TaskArtifactUpdateEvent,
  TaskState,
  type TaskStatusUpdateEvent,
} from '@a2a-js/sdk'
import { type Client, ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client'
import type { BindingName } from '../harness/server.js'

/** Reads the card at `url` and takes the interface of `binding` from it. */
export function connect(url: string, binding: BindingName, as = 'alice'): Promise<Client> {
  const fetchImpl = withBearer(as)
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
    preferredTransports: [binding],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  })
  return factory.createFromUrl(url)
}

function withBearer(token: string): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('authorization', `Bearer ${token}`)
    return fetch(input, { ...init, headers })
  }
}

let count = 0

interface SendOptions {
  readonly message?: Partial<Message>
  readonly configuration?: Partial<NonNullable<SendMessageRequest['configuration']>>
}

/** A request to send one text. The SDK's types want every member said, also those that are absent on the wire. */
export function textRequest(text: string, options: SendOptions = {}): SendMessageRequest {
  return {
    tenant: '',
    metadata: undefined,
    message: {
      messageId: `sdk-${++count}`,
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
      ...options.message,
    },
    configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: false, ...options.configuration },
  }
}

/** Parameters of ListTasks with nothing asked for. */
export const everything = {
  tenant: '',
  contextId: '',
  status: TaskState.TASK_STATE_UNSPECIFIED,
  pageToken: '',
  statusTimestampAfter: undefined,
}

/** The task of an answer that is expected to be one. */
export function taskOf(answer: Message | Task): Task {
  if ('messageId' in answer) throw new Error(`a direct message instead of a task: ${JSON.stringify(answer)}`)
  return answer
}

interface Values {
  readonly task: Task
  readonly message: Message
  readonly statusUpdate: TaskStatusUpdateEvent
  readonly artifactUpdate: TaskArtifactUpdateEvent
}

/** The task, message or update inside a frame. */
export function payloadOf<Case extends keyof Values>(frame: StreamResponse | undefined, name: Case): Values[Case] {
  const payload = frame?.payload
  if (payload?.$case !== name) throw new Error(`a frame of ${name} was expected, got ${JSON.stringify(frame)}`)
  // The case was compared the line before, and each case has one type of value.
  return payload.value as Values[Case]
}

/** All texts of a message or an artifact, in order. */
export function textsOf(holder: { readonly parts: Message['parts'] } | undefined): string[] {
  return (holder?.parts ?? []).flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : []))
}

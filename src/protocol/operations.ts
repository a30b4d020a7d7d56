/** The eleven operations and where each is found on each binding. Spec §5.3, §11.3; every path also takes a leading `/{tenant}`. */

import type { MessageName } from './model.js'

/** What the agent card must declare before the operation may be called. */
export type Capability = 'streaming' | 'pushNotifications' | 'extendedAgentCard'

/** Where one operation is found and what it takes and gives. */
export interface OperationRow {
  readonly verbs: readonly ('GET' | 'POST' | 'DELETE')[]
  /** Path of HTTP+JSON; members of the request in braces. */
  readonly path: string
  readonly request: MessageName
  /** `Empty` is `{}` (google.protobuf.Empty on gRPC). */
  readonly response: MessageName | 'Empty'
  /** Answers with a stream of `response`. */
  readonly streaming: boolean
  /** A POST may come without a body. */
  readonly emptyBody: boolean
  readonly capability: Capability | 'none'
}

/** By name, which is the method of JSON-RPC and of gRPC. */
export const operationTable = {
  SendMessage: {
    verbs: ['POST'],
    path: '/message:send',
    request: 'SendMessageRequest',
    response: 'SendMessageResponse',
    streaming: false,
    emptyBody: false,
    capability: 'none',
  },
  SendStreamingMessage: {
    verbs: ['POST'],
    path: '/message:stream',
    request: 'SendMessageRequest',
    response: 'StreamResponse',
    streaming: true,
    emptyBody: false,
    capability: 'streaming',
  },
  GetTask: {
    verbs: ['GET'],
    path: '/tasks/{id}',
    request: 'GetTaskRequest',
    response: 'Task',
    streaming: false,
    emptyBody: false,
    capability: 'none',
  },
  ListTasks: {
    verbs: ['GET'],
    path: '/tasks',
    request: 'ListTasksRequest',
    response: 'ListTasksResponse',
    streaming: false,
    emptyBody: false,
    capability: 'none',
  },
  CancelTask: {
    verbs: ['POST'],
    path: '/tasks/{id}:cancel',
    request: 'CancelTaskRequest',
    response: 'Task',
    streaming: false,
    emptyBody: true,
    capability: 'none',
  },
  // D1: the text and the .proto file differ in the verb.
  SubscribeToTask: {
    verbs: ['GET', 'POST'],
    path: '/tasks/{id}:subscribe',
    request: 'SubscribeToTaskRequest',
    response: 'StreamResponse',
    streaming: true,
    emptyBody: true,
    capability: 'streaming',
  },
  CreateTaskPushNotificationConfig: {
    verbs: ['POST'],
    path: '/tasks/{taskId}/pushNotificationConfigs',
    request: 'TaskPushNotificationConfig',
    response: 'TaskPushNotificationConfig',
    streaming: false,
    emptyBody: false,
    capability: 'pushNotifications',
  },
  GetTaskPushNotificationConfig: {
    verbs: ['GET'],
    path: '/tasks/{taskId}/pushNotificationConfigs/{id}',
    request: 'GetTaskPushNotificationConfigRequest',
    response: 'TaskPushNotificationConfig',
    streaming: false,
    emptyBody: false,
    capability: 'pushNotifications',
  },
  ListTaskPushNotificationConfigs: {
    verbs: ['GET'],
    path: '/tasks/{taskId}/pushNotificationConfigs',
    request: 'ListTaskPushNotificationConfigsRequest',
    response: 'ListTaskPushNotificationConfigsResponse',
    streaming: false,
    emptyBody: false,
    capability: 'pushNotifications',
  },
  DeleteTaskPushNotificationConfig: {
    verbs: ['DELETE'],
    path: '/tasks/{taskId}/pushNotificationConfigs/{id}',
    request: 'DeleteTaskPushNotificationConfigRequest',
    response: 'Empty',
    streaming: false,
    emptyBody: false,
    capability: 'pushNotifications',
  },
  GetExtendedAgentCard: {
    verbs: ['GET'],
    path: '/extendedAgentCard',
    request: 'GetExtendedAgentCardRequest',
    response: 'AgentCard',
    streaming: false,
    emptyBody: false,
    capability: 'extendedAgentCard',
  },
} as const satisfies Readonly<Record<string, OperationRow>>

/** Name of a row, and the JSON-RPC and gRPC method. */
export type OperationName = keyof typeof operationTable

// Object.keys gives the keys of this very table.
export const operationNames = Object.keys(operationTable) as readonly OperationName[]

/** Whether `method` is one of the table, spelled exactly so. */
export function isOperationName(method: string): method is OperationName {
  return Object.hasOwn(operationTable, method)
}

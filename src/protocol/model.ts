/** The A2A 1.0 data model as data: the one place that knows which members exist. Spec §4, package lf.a2a.v1. */

/** A type that is no message: ProtoJSON scalars and the well-known types that A2A uses. */
export type ScalarType = 'string' | 'bytes' | 'bool' | 'int32' | 'Timestamp' | 'Struct' | 'Value' | 'TaskState' | 'Role'

/** One member of a message, found in the table under its JSON name. */
export interface Field {
  /** Field number in the Protocol Buffers encoding. */
  readonly no: number
  /** A scalar or the name of another message. */
  readonly type: string
  /** `optional` has presence: an explicit `""`, 0 or false is kept. `map` is keyed by strings. Absent: a single member. */
  readonly label?: 'optional' | 'repeated' | 'map'
  readonly required?: true
  /** Members of one name exclude each other; exactly one of them is there. */
  readonly oneof?: string
  readonly deprecated?: true
}

/** The enums with their numbers; 0 is never a value on the wire, it means absent. */
export const enums = {
  TaskState: {
    TASK_STATE_UNSPECIFIED: 0,
    TASK_STATE_SUBMITTED: 1,
    TASK_STATE_WORKING: 2,
    TASK_STATE_COMPLETED: 3,
    TASK_STATE_FAILED: 4,
    TASK_STATE_CANCELED: 5,
    TASK_STATE_INPUT_REQUIRED: 6,
    TASK_STATE_REJECTED: 7,
    TASK_STATE_AUTH_REQUIRED: 8,
  },
  Role: {
    ROLE_UNSPECIFIED: 0,
    ROLE_USER: 1,
    ROLE_AGENT: 2,
  },
} as const

/** Every message by name, its members by JSON name in the order in which we write them. */
export const messages = {
  SendMessageConfiguration: {
    acceptedOutputModes: { no: 1, type: 'string', label: 'repeated' },
    taskPushNotificationConfig: { no: 2, type: 'TaskPushNotificationConfig' },
    historyLength: { no: 3, type: 'int32', label: 'optional' },
    returnImmediately: { no: 4, type: 'bool' },
  },
  Task: {
    id: { no: 1, type: 'string', required: true },
    contextId: { no: 2, type: 'string' },
    status: { no: 3, type: 'TaskStatus', required: true },
    artifacts: { no: 4, type: 'Artifact', label: 'repeated' },
    history: { no: 5, type: 'Message', label: 'repeated' },
    metadata: { no: 6, type: 'Struct' },
  },
  TaskStatus: {
    state: { no: 1, type: 'TaskState', required: true },
    message: { no: 2, type: 'Message' },
    timestamp: { no: 3, type: 'Timestamp' },
  },
  Part: {
    text: { no: 1, type: 'string', oneof: 'content' },
    raw: { no: 2, type: 'bytes', oneof: 'content' },
    url: { no: 3, type: 'string', oneof: 'content' },
    data: { no: 4, type: 'Value', oneof: 'content' },
    metadata: { no: 5, type: 'Struct' },
    filename: { no: 6, type: 'string' },
    mediaType: { no: 7, type: 'string' },
  },
  Message: {
    messageId: { no: 1, type: 'string', required: true },
    contextId: { no: 2, type: 'string' },
    taskId: { no: 3, type: 'string' },
    role: { no: 4, type: 'Role', required: true },
    parts: { no: 5, type: 'Part', label: 'repeated', required: true },
    metadata: { no: 6, type: 'Struct' },
    extensions: { no: 7, type: 'string', label: 'repeated' },
    referenceTaskIds: { no: 8, type: 'string', label: 'repeated' },
  },
  Artifact: {
    artifactId: { no: 1, type: 'string', required: true },
    name: { no: 2, type: 'string' },
    description: { no: 3, type: 'string' },
    parts: { no: 4, type: 'Part', label: 'repeated', required: true },
    metadata: { no: 5, type: 'Struct' },
    extensions: { no: 6, type: 'string', label: 'repeated' },
  },
  TaskStatusUpdateEvent: {
    taskId: { no: 1, type: 'string', required: true },
    contextId: { no: 2, type: 'string', required: true },
    status: { no: 3, type: 'TaskStatus', required: true },
    metadata: { no: 4, type: 'Struct' },
  },
  TaskArtifactUpdateEvent: {
    taskId: { no: 1, type: 'string', required: true },
    contextId: { no: 2, type: 'string', required: true },
    artifact: { no: 3, type: 'Artifact', required: true },
    append: { no: 4, type: 'bool' },
    lastChunk: { no: 5, type: 'bool' },
    metadata: { no: 6, type: 'Struct' },
  },
  AuthenticationInfo: {
    scheme: { no: 1, type: 'string', required: true },
    credentials: { no: 2, type: 'string' },
  },
  AgentInterface: {
    url: { no: 1, type: 'string', required: true },
    protocolBinding: { no: 2, type: 'string', required: true },
    tenant: { no: 3, type: 'string' },
    protocolVersion: { no: 4, type: 'string', required: true },
  },
  AgentCard: {
    name: { no: 1, type: 'string', required: true },
    description: { no: 2, type: 'string', required: true },
    supportedInterfaces: { no: 3, type: 'AgentInterface', label: 'repeated', required: true },
    provider: { no: 4, type: 'AgentProvider' },
    version: { no: 5, type: 'string', required: true },
    documentationUrl: { no: 6, type: 'string', label: 'optional' },
    capabilities: { no: 7, type: 'AgentCapabilities', required: true },
    securitySchemes: { no: 8, type: 'SecurityScheme', label: 'map' },
    securityRequirements: { no: 9, type: 'SecurityRequirement', label: 'repeated' },
    defaultInputModes: { no: 10, type: 'string', label: 'repeated', required: true },
    defaultOutputModes: { no: 11, type: 'string', label: 'repeated', required: true },
    skills: { no: 12, type: 'AgentSkill', label: 'repeated', required: true },
    signatures: { no: 13, type: 'AgentCardSignature', label: 'repeated' },
    iconUrl: { no: 14, type: 'string', label: 'optional' },
  },
  AgentProvider: {
    url: { no: 1, type: 'string', required: true },
    organization: { no: 2, type: 'string', required: true },
  },
  AgentCapabilities: {
    streaming: { no: 1, type: 'bool', label: 'optional' },
    pushNotifications: { no: 2, type: 'bool', label: 'optional' },
    extensions: { no: 3, type: 'AgentExtension', label: 'repeated' },
    extendedAgentCard: { no: 4, type: 'bool', label: 'optional' },
  },
  AgentExtension: {
    uri: { no: 1, type: 'string' },
    description: { no: 2, type: 'string' },
    required: { no: 3, type: 'bool' },
    params: { no: 4, type: 'Struct' },
  },
  AgentSkill: {
    id: { no: 1, type: 'string', required: true },
    name: { no: 2, type: 'string', required: true },
    description: { no: 3, type: 'string', required: true },
    tags: { no: 4, type: 'string', label: 'repeated', required: true },
    examples: { no: 5, type: 'string', label: 'repeated' },
    inputModes: { no: 6, type: 'string', label: 'repeated' },
    outputModes: { no: 7, type: 'string', label: 'repeated' },
    securityRequirements: { no: 8, type: 'SecurityRequirement', label: 'repeated' },
  },
  AgentCardSignature: {
    protected: { no: 1, type: 'string', required: true },
    signature: { no: 2, type: 'string', required: true },
    header: { no: 3, type: 'Struct' },
  },
  TaskPushNotificationConfig: {
    tenant: { no: 1, type: 'string' },
    id: { no: 2, type: 'string' },
    taskId: { no: 3, type: 'string' },
    url: { no: 4, type: 'string', required: true },
    token: { no: 5, type: 'string' },
    authentication: { no: 6, type: 'AuthenticationInfo' },
  },
  StringList: {
    list: { no: 1, type: 'string', label: 'repeated' },
  },
  SecurityRequirement: {
    schemes: { no: 1, type: 'StringList', label: 'map' },
  },
  SecurityScheme: {
    apiKeySecurityScheme: { no: 1, type: 'APIKeySecurityScheme', oneof: 'scheme' },
    httpAuthSecurityScheme: { no: 2, type: 'HTTPAuthSecurityScheme', oneof: 'scheme' },
    oauth2SecurityScheme: { no: 3, type: 'OAuth2SecurityScheme', oneof: 'scheme' },
    openIdConnectSecurityScheme: { no: 4, type: 'OpenIdConnectSecurityScheme', oneof: 'scheme' },
    mtlsSecurityScheme: { no: 5, type: 'MutualTlsSecurityScheme', oneof: 'scheme' },
  },
  APIKeySecurityScheme: {
    description: { no: 1, type: 'string' },
    location: { no: 2, type: 'string', required: true },
    name: { no: 3, type: 'string', required: true },
  },
  HTTPAuthSecurityScheme: {
    description: { no: 1, type: 'string' },
    scheme: { no: 2, type: 'string', required: true },
    bearerFormat: { no: 3, type: 'string' },
  },
  OAuth2SecurityScheme: {
    description: { no: 1, type: 'string' },
    flows: { no: 2, type: 'OAuthFlows', required: true },
    oauth2MetadataUrl: { no: 3, type: 'string' },
  },
  OpenIdConnectSecurityScheme: {
    description: { no: 1, type: 'string' },
    openIdConnectUrl: { no: 2, type: 'string', required: true },
  },
  MutualTlsSecurityScheme: {
    description: { no: 1, type: 'string' },
  },
  OAuthFlows: {
    authorizationCode: { no: 1, type: 'AuthorizationCodeOAuthFlow', oneof: 'flow' },
    clientCredentials: { no: 2, type: 'ClientCredentialsOAuthFlow', oneof: 'flow' },
    implicit: { no: 3, type: 'ImplicitOAuthFlow', oneof: 'flow', deprecated: true },
    password: { no: 4, type: 'PasswordOAuthFlow', oneof: 'flow', deprecated: true },
    deviceCode: { no: 5, type: 'DeviceCodeOAuthFlow', oneof: 'flow' },
  },
  AuthorizationCodeOAuthFlow: {
    authorizationUrl: { no: 1, type: 'string', required: true },
    tokenUrl: { no: 2, type: 'string', required: true },
    refreshUrl: { no: 3, type: 'string' },
    scopes: { no: 4, type: 'string', label: 'map', required: true },
    pkceRequired: { no: 5, type: 'bool' },
  },
  ClientCredentialsOAuthFlow: {
    tokenUrl: { no: 1, type: 'string', required: true },
    refreshUrl: { no: 2, type: 'string' },
    scopes: { no: 3, type: 'string', label: 'map', required: true },
  },
  ImplicitOAuthFlow: {
    authorizationUrl: { no: 1, type: 'string' },
    refreshUrl: { no: 2, type: 'string' },
    scopes: { no: 3, type: 'string', label: 'map' },
  },
  PasswordOAuthFlow: {
    tokenUrl: { no: 1, type: 'string' },
    refreshUrl: { no: 2, type: 'string' },
    scopes: { no: 3, type: 'string', label: 'map' },
  },
  DeviceCodeOAuthFlow: {
    deviceAuthorizationUrl: { no: 1, type: 'string', required: true },
    tokenUrl: { no: 2, type: 'string', required: true },
    refreshUrl: { no: 3, type: 'string' },
    scopes: { no: 4, type: 'string', label: 'map', required: true },
  },
  SendMessageRequest: {
    tenant: { no: 1, type: 'string' },
    message: { no: 2, type: 'Message', required: true },
    configuration: { no: 3, type: 'SendMessageConfiguration' },
    metadata: { no: 4, type: 'Struct' },
  },
  GetTaskRequest: {
    tenant: { no: 1, type: 'string' },
    id: { no: 2, type: 'string', required: true },
    historyLength: { no: 3, type: 'int32', label: 'optional' },
  },
  ListTasksRequest: {
    tenant: { no: 1, type: 'string' },
    contextId: { no: 2, type: 'string' },
    status: { no: 3, type: 'TaskState' },
    pageSize: { no: 4, type: 'int32', label: 'optional' },
    pageToken: { no: 5, type: 'string' },
    historyLength: { no: 6, type: 'int32', label: 'optional' },
    statusTimestampAfter: { no: 7, type: 'Timestamp' },
    includeArtifacts: { no: 8, type: 'bool', label: 'optional' },
  },
  ListTasksResponse: {
    tasks: { no: 1, type: 'Task', label: 'repeated', required: true },
    nextPageToken: { no: 2, type: 'string', required: true },
    pageSize: { no: 3, type: 'int32', required: true },
    totalSize: { no: 4, type: 'int32', required: true },
  },
  CancelTaskRequest: {
    tenant: { no: 1, type: 'string' },
    id: { no: 2, type: 'string', required: true },
    metadata: { no: 3, type: 'Struct' },
  },
  GetTaskPushNotificationConfigRequest: {
    tenant: { no: 1, type: 'string' },
    taskId: { no: 2, type: 'string', required: true },
    id: { no: 3, type: 'string', required: true },
  },
  DeleteTaskPushNotificationConfigRequest: {
    tenant: { no: 1, type: 'string' },
    taskId: { no: 2, type: 'string', required: true },
    id: { no: 3, type: 'string', required: true },
  },
  SubscribeToTaskRequest: {
    tenant: { no: 1, type: 'string' },
    id: { no: 2, type: 'string', required: true },
  },
  ListTaskPushNotificationConfigsRequest: {
    tenant: { no: 4, type: 'string' },
    taskId: { no: 1, type: 'string', required: true },
    pageSize: { no: 2, type: 'int32' },
    pageToken: { no: 3, type: 'string' },
  },
  GetExtendedAgentCardRequest: {
    tenant: { no: 1, type: 'string' },
  },
  SendMessageResponse: {
    task: { no: 1, type: 'Task', oneof: 'payload' },
    message: { no: 2, type: 'Message', oneof: 'payload' },
  },
  StreamResponse: {
    task: { no: 1, type: 'Task', oneof: 'payload' },
    message: { no: 2, type: 'Message', oneof: 'payload' },
    statusUpdate: { no: 3, type: 'TaskStatusUpdateEvent', oneof: 'payload' },
    artifactUpdate: { no: 4, type: 'TaskArtifactUpdateEvent', oneof: 'payload' },
  },
  ListTaskPushNotificationConfigsResponse: {
    configs: { no: 1, type: 'TaskPushNotificationConfig', label: 'repeated' },
    nextPageToken: { no: 2, type: 'string' },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Field>>>>

/** Name of a message in the table. */
export type MessageName = keyof typeof messages

/** The member's name in the .proto file, which ProtoJSON accepts on input too: `task_id` for `taskId`. */
export function protoName(jsonName: string): string {
  return jsonName.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

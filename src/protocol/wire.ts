/** TypeScript types of the canonical wire objects. Made by scripts/generate-wire-types.mjs from model.ts: do not edit. */

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

/** Any JSON object: google.protobuf.Struct. */
export interface JsonObject {
  readonly [member: string]: Json
}

/** Exactly one of the members of `Members`. */
type OneOf<Members> = {
  [One in keyof Members]: { readonly [Member in One]: Members[Member] } & { readonly [Other in Exclude<keyof Members, One>]?: never }
}[keyof Members]

export type TaskState =
  | 'TASK_STATE_SUBMITTED'
  | 'TASK_STATE_WORKING'
  | 'TASK_STATE_COMPLETED'
  | 'TASK_STATE_FAILED'
  | 'TASK_STATE_CANCELED'
  | 'TASK_STATE_INPUT_REQUIRED'
  | 'TASK_STATE_REJECTED'
  | 'TASK_STATE_AUTH_REQUIRED'

export type Role =
  | 'ROLE_USER'
  | 'ROLE_AGENT'

export interface SendMessageConfiguration {
  readonly acceptedOutputModes?: readonly string[]
  readonly taskPushNotificationConfig?: TaskPushNotificationConfig
  readonly historyLength?: number
  readonly returnImmediately?: boolean
}

export interface Task {
  readonly id: string
  readonly contextId?: string
  readonly status: TaskStatus
  readonly artifacts?: readonly Artifact[]
  readonly history?: readonly Message[]
  readonly metadata?: JsonObject
}

export interface TaskStatus {
  readonly state: TaskState
  readonly message?: Message
  readonly timestamp?: string
}

export type Part = OneOf<{
  readonly text: string
  readonly raw: string
  readonly url: string
  readonly data: Json
}> & {
  readonly metadata?: JsonObject
  readonly filename?: string
  readonly mediaType?: string
}

export interface Message {
  readonly messageId: string
  readonly contextId?: string
  readonly taskId?: string
  readonly role: Role
  readonly parts: readonly Part[]
  readonly metadata?: JsonObject
  readonly extensions?: readonly string[]
  readonly referenceTaskIds?: readonly string[]
}

export interface Artifact {
  readonly artifactId: string
  readonly name?: string
  readonly description?: string
  readonly parts: readonly Part[]
  readonly metadata?: JsonObject
  readonly extensions?: readonly string[]
}

export interface TaskStatusUpdateEvent {
  readonly taskId: string
  readonly contextId: string
  readonly status: TaskStatus
  readonly metadata?: JsonObject
}

export interface TaskArtifactUpdateEvent {
  readonly taskId: string
  readonly contextId: string
  readonly artifact: Artifact
  readonly append?: boolean
  readonly lastChunk?: boolean
  readonly metadata?: JsonObject
}

export interface AuthenticationInfo {
  readonly scheme: string
  readonly credentials?: string
}

export interface AgentInterface {
  readonly url: string
  readonly protocolBinding: string
  readonly tenant?: string
  readonly protocolVersion: string
}

export interface AgentCard {
  readonly name: string
  readonly description: string
  readonly supportedInterfaces: readonly AgentInterface[]
  readonly provider?: AgentProvider
  readonly version: string
  readonly documentationUrl?: string
  readonly capabilities: AgentCapabilities
  readonly securitySchemes?: { readonly [key: string]: SecurityScheme }
  readonly securityRequirements?: readonly SecurityRequirement[]
  readonly defaultInputModes: readonly string[]
  readonly defaultOutputModes: readonly string[]
  readonly skills: readonly AgentSkill[]
  readonly signatures?: readonly AgentCardSignature[]
  readonly iconUrl?: string
}

export interface AgentProvider {
  readonly url: string
  readonly organization: string
}

export interface AgentCapabilities {
  readonly streaming?: boolean
  readonly pushNotifications?: boolean
  readonly extensions?: readonly AgentExtension[]
  readonly extendedAgentCard?: boolean
}

export interface AgentExtension {
  readonly uri?: string
  readonly description?: string
  readonly required?: boolean
  readonly params?: JsonObject
}

export interface AgentSkill {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly examples?: readonly string[]
  readonly inputModes?: readonly string[]
  readonly outputModes?: readonly string[]
  readonly securityRequirements?: readonly SecurityRequirement[]
}

export interface AgentCardSignature {
  readonly protected: string
  readonly signature: string
  readonly header?: JsonObject
}

export interface TaskPushNotificationConfig {
  readonly tenant?: string
  readonly id?: string
  readonly taskId?: string
  readonly url: string
  readonly token?: string
  readonly authentication?: AuthenticationInfo
}

export interface StringList {
  readonly list?: readonly string[]
}

export interface SecurityRequirement {
  readonly schemes?: { readonly [key: string]: StringList }
}

export type SecurityScheme = OneOf<{
  readonly apiKeySecurityScheme: APIKeySecurityScheme
  readonly httpAuthSecurityScheme: HTTPAuthSecurityScheme
  readonly oauth2SecurityScheme: OAuth2SecurityScheme
  readonly openIdConnectSecurityScheme: OpenIdConnectSecurityScheme
  readonly mtlsSecurityScheme: MutualTlsSecurityScheme
}>

export interface APIKeySecurityScheme {
  readonly description?: string
  readonly location: string
  readonly name: string
}

export interface HTTPAuthSecurityScheme {
  readonly description?: string
  readonly scheme: string
  readonly bearerFormat?: string
}

export interface OAuth2SecurityScheme {
  readonly description?: string
  readonly flows: OAuthFlows
  readonly oauth2MetadataUrl?: string
}

export interface OpenIdConnectSecurityScheme {
  readonly description?: string
  readonly openIdConnectUrl: string
}

export interface MutualTlsSecurityScheme {
  readonly description?: string
}

export type OAuthFlows = OneOf<{
  readonly authorizationCode: AuthorizationCodeOAuthFlow
  readonly clientCredentials: ClientCredentialsOAuthFlow
  /** @deprecated */
  readonly implicit: ImplicitOAuthFlow
  /** @deprecated */
  readonly password: PasswordOAuthFlow
  readonly deviceCode: DeviceCodeOAuthFlow
}>

export interface AuthorizationCodeOAuthFlow {
  readonly authorizationUrl: string
  readonly tokenUrl: string
  readonly refreshUrl?: string
  readonly scopes: { readonly [key: string]: string }
  readonly pkceRequired?: boolean
}

export interface ClientCredentialsOAuthFlow {
  readonly tokenUrl: string
  readonly refreshUrl?: string
  readonly scopes: { readonly [key: string]: string }
}

export interface ImplicitOAuthFlow {
  readonly authorizationUrl?: string
  readonly refreshUrl?: string
  readonly scopes?: { readonly [key: string]: string }
}

export interface PasswordOAuthFlow {
  readonly tokenUrl?: string
  readonly refreshUrl?: string
  readonly scopes?: { readonly [key: string]: string }
}

export interface DeviceCodeOAuthFlow {
  readonly deviceAuthorizationUrl: string
  readonly tokenUrl: string
  readonly refreshUrl?: string
  readonly scopes: { readonly [key: string]: string }
}

export interface SendMessageRequest {
  readonly tenant?: string
  readonly message: Message
  readonly configuration?: SendMessageConfiguration
  readonly metadata?: JsonObject
}

export interface GetTaskRequest {
  readonly tenant?: string
  readonly id: string
  readonly historyLength?: number
}

export interface ListTasksRequest {
  readonly tenant?: string
  readonly contextId?: string
  readonly status?: TaskState
  readonly pageSize?: number
  readonly pageToken?: string
  readonly historyLength?: number
  readonly statusTimestampAfter?: string
  readonly includeArtifacts?: boolean
}

export interface ListTasksResponse {
  readonly tasks: readonly Task[]
  readonly nextPageToken: string
  readonly pageSize: number
  readonly totalSize: number
}

export interface CancelTaskRequest {
  readonly tenant?: string
  readonly id: string
  readonly metadata?: JsonObject
}

export interface GetTaskPushNotificationConfigRequest {
  readonly tenant?: string
  readonly taskId: string
  readonly id: string
}

export interface DeleteTaskPushNotificationConfigRequest {
  readonly tenant?: string
  readonly taskId: string
  readonly id: string
}

export interface SubscribeToTaskRequest {
  readonly tenant?: string
  readonly id: string
}

export interface ListTaskPushNotificationConfigsRequest {
  readonly tenant?: string
  readonly taskId: string
  readonly pageSize?: number
  readonly pageToken?: string
}

export interface GetExtendedAgentCardRequest {
  readonly tenant?: string
}

export type SendMessageResponse = OneOf<{
  readonly task: Task
  readonly message: Message
}>

export type StreamResponse = OneOf<{
  readonly task: Task
  readonly message: Message
  readonly statusUpdate: TaskStatusUpdateEvent
  readonly artifactUpdate: TaskArtifactUpdateEvent
}>

export interface ListTaskPushNotificationConfigsResponse {
  readonly configs?: readonly TaskPushNotificationConfig[]
  readonly nextPageToken?: string
}

/** Every message by its name in the model. */
export interface Wire {
  SendMessageConfiguration: SendMessageConfiguration
  Task: Task
  TaskStatus: TaskStatus
  Part: Part
  Message: Message
  Artifact: Artifact
  TaskStatusUpdateEvent: TaskStatusUpdateEvent
  TaskArtifactUpdateEvent: TaskArtifactUpdateEvent
  AuthenticationInfo: AuthenticationInfo
  AgentInterface: AgentInterface
  AgentCard: AgentCard
  AgentProvider: AgentProvider
  AgentCapabilities: AgentCapabilities
  AgentExtension: AgentExtension
  AgentSkill: AgentSkill
  AgentCardSignature: AgentCardSignature
  TaskPushNotificationConfig: TaskPushNotificationConfig
  StringList: StringList
  SecurityRequirement: SecurityRequirement
  SecurityScheme: SecurityScheme
  APIKeySecurityScheme: APIKeySecurityScheme
  HTTPAuthSecurityScheme: HTTPAuthSecurityScheme
  OAuth2SecurityScheme: OAuth2SecurityScheme
  OpenIdConnectSecurityScheme: OpenIdConnectSecurityScheme
  MutualTlsSecurityScheme: MutualTlsSecurityScheme
  OAuthFlows: OAuthFlows
  AuthorizationCodeOAuthFlow: AuthorizationCodeOAuthFlow
  ClientCredentialsOAuthFlow: ClientCredentialsOAuthFlow
  ImplicitOAuthFlow: ImplicitOAuthFlow
  PasswordOAuthFlow: PasswordOAuthFlow
  DeviceCodeOAuthFlow: DeviceCodeOAuthFlow
  SendMessageRequest: SendMessageRequest
  GetTaskRequest: GetTaskRequest
  ListTasksRequest: ListTasksRequest
  ListTasksResponse: ListTasksResponse
  CancelTaskRequest: CancelTaskRequest
  GetTaskPushNotificationConfigRequest: GetTaskPushNotificationConfigRequest
  DeleteTaskPushNotificationConfigRequest: DeleteTaskPushNotificationConfigRequest
  SubscribeToTaskRequest: SubscribeToTaskRequest
  ListTaskPushNotificationConfigsRequest: ListTaskPushNotificationConfigsRequest
  GetExtendedAgentCardRequest: GetExtendedAgentCardRequest
  SendMessageResponse: SendMessageResponse
  StreamResponse: StreamResponse
  ListTaskPushNotificationConfigsResponse: ListTaskPushNotificationConfigsResponse
}

/** The door for hosts that speak Fetch and nothing else, such as workers at the edge: agents and `createServer()`, without sockets and files. */

export { AddressRefusedError } from './net/address-guard.js'
export { CardSignatureError, type FindKey, type SigningKey, signCard, verifyCard } from './protocol/card-signature.js'
export type { AgentCard, Artifact, Json, JsonObject, Message, Part, Task, TaskState, TaskStatus } from './protocol/wire.js'
export type { PushOptions } from './push/push-options.js'
export {
  type Agent,
  type AgentInfo,
  type AgentOptions,
  type Answer,
  agent,
  type Result,
  type Run,
} from './runtime/agent.js'
export {
  artifact,
  chunk,
  completed,
  type Emission,
  type Ending,
  failed,
  inputRequired,
  type PartLike,
  type PartsLike,
  rejected,
  working,
} from './runtime/output.js'
export { AnswerSchemaError, ConsentDeniedError, RunStoppedError, StepFailedError, WaitTimeoutError } from './runtime/run-errors.js'
export { type Skill, type SkillInfo, type SkillOptions, type Skills, type SkillTask, skill } from './runtime/skill.js'
export type {
  Consent,
  ConsentByCallback,
  ConsentByOAuth,
  ConsentRequest,
  Grant,
  StepContext,
  StepOptions,
  StopReason,
  TaskHandle,
  Turn,
  User,
  WaitOptions,
} from './runtime/task.js'
export { type Auth, anonymous, bearerTokens, type TokenUser } from './server/authenticate.js'
export type { OAuthProvider, OAuthProviders } from './server/consent-providers.js'
export type { Cors } from './server/cors.js'
export { createServer, type Server } from './server/create-server.js'
export { type JwtOptions, jwt } from './server/jwt.js'
export type { Limits, Mounts, Outbound, Scopes, ServerOptions } from './server/options.js'
export type { Delivery } from './store/store.js'

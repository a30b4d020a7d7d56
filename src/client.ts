/** The door for callers: `connect()` and what it gives, for every host that has Fetch. */

export {
  type Client,
  connect,
  type FollowOptions,
  type Outcome,
  type RemoteSkill,
  type RemoteTask,
  type Sending,
  type SendOptions,
  type TaskFilter,
} from './client/connect.js'
export { ConnectionError, type ConnectionFault } from './client/errors.js'
export {
  type CallOptions,
  type ClientAuth,
  type ClientBinding,
  type ClientLimits,
  type ConnectOptions,
  type Credential,
  type CredentialHook,
  type CredentialRequest,
  defaultClientLimits,
  type Fetching,
} from './client/options.js'
export type { PartLike, PartsLike } from './client/parts.js'
export type { PushEvent } from './client/push-event.js'
export {
  defaultPushLimits,
  type PushConfig,
  type PushLimits,
  type PushReceiver,
  type PushReceiverOptions,
  type PushTarget,
  type PushTargetOptions,
  pushReceiver,
} from './client/push-receiver.js'
export type { AgentType, InputOf, OutputOf, SkillsOf, SkillType } from './client/skill-types.js'
export type { TaskEvent } from './client/task-event.js'
export * from './protocol/errors.js'
export type { Artifact, Json, JsonObject, Message, Part, Task, TaskState, TaskStatus } from './protocol/wire.js'
export type { World } from './support/world.js'

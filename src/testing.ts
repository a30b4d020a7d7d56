/** The door for tests of agents: a sandbox with its own clock, and crashes wherever they may come. */

export type { TaskEvent } from './client/task-event.js'
export { type CrashOptions, type CrashReport, crashEverywhere } from './testing/crash-everywhere.js'
export type { RecordedPush } from './testing/push-receivers.js'
export { type Sandbox, type TestOptions, testAgent } from './testing/test-agent.js'

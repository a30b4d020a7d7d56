/** What the four operations on push configurations share. Spec §4.3, §3.1.7 to §3.1.10. */

import { type AddressGuard, AddressRefusedError } from '../net/address-guard.js'
import type { TaskPushNotificationConfig } from '../protocol/wire.js'
import type { Store, StoredPushConfig, TaskRef } from '../store/store.js'
import { uuid, type World } from '../support/world.js'
import { invalid } from './check-params.js'
import type { OperationContext } from './context.js'

/** A configuration as it is kept: with an id, and without the members that the task itself says. */
export function storedConfig({ id, url, token, authentication }: TaskPushNotificationConfig, world: World): StoredPushConfig {
  return { id: id ?? uuid(world), url, ...(token !== undefined && { token }), ...(authentication !== undefined && { authentication }) }
}

/** A configuration as it is shown: never with its token or credentials. */
export function shownConfig(config: StoredPushConfig, taskId: string, tenant: string): TaskPushNotificationConfig {
  const { id, url, authentication } = config
  return {
    ...(tenant !== '' && { tenant }),
    id,
    taskId,
    url,
    ...(authentication !== undefined && { authentication: { scheme: authentication.scheme } }),
  }
}

/** Characters of a configuration's id. */
const longestId = 256

interface Check {
  readonly guard: AddressGuard
  /** Stands before the names of the fields. */
  readonly prefix?: string
}

/** @throws {InvalidParamsError} naming what is wrong with the id or the address (D25) */
export function checkPushConfig({ id, url }: TaskPushNotificationConfig, { guard, prefix = '' }: Check): void {
  if (id !== undefined && (id.length > longestId || hasControls(id))) {
    throw invalid(`${prefix}id`, `must be at most ${longestId} characters without control characters; leave it out to be given one`)
  }
  try {
    guard.checkUrl(url)
  } catch (error) {
    throw error instanceof AddressRefusedError ? invalid(`${prefix}url`, error.demand) : error
  }
}

function hasControls(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for; the id travels in a header
  return /[\u0000-\u001f\u007f]/.test(text)
}

/** A configuration that came inside a send, ready to be kept. */
export interface SentConfig {
  readonly config: StoredPushConfig
  /** Whether it came with an id. */
  readonly isNamed: boolean
}

/** @throws {InvalidParamsError} as {@link checkPushConfig}; whether push is declared was judged before the parameters were read */
export function configOfSend({ guard, world }: OperationContext, config: TaskPushNotificationConfig | undefined): SentConfig | undefined {
  if (config === undefined) return undefined
  checkPushConfig(config, { guard, prefix: 'configuration.taskPushNotificationConfig.' })
  return { config: storedConfig(config, world), isNamed: config.id !== undefined }
}

/** What a message to a task that is there adds to its configurations; undefined where it adds none. */
export async function configToKeep(store: Store, ref: TaskRef, { config, isNamed }: SentConfig): Promise<StoredPushConfig | undefined> {
  // D24: without an id, one that equals a configuration of the task is that one.
  return !isNamed && (await hasEqual(store, ref, config)) ? undefined : config
}

async function hasEqual(store: Store, ref: TaskRef, config: StoredPushConfig): Promise<boolean> {
  for (let after: string | undefined; ; ) {
    const page = await store.listPushConfigs(ref, { limit: 100, ...(after !== undefined && { after }) })
    if (page.some((one) => isSame(one, config))) return true
    after = page.at(-1)?.id
    if (after === undefined) return false
  }
}

function isSame(a: StoredPushConfig, b: StoredPushConfig): boolean {
  const [one, other] = [a.authentication, b.authentication]
  return a.url === b.url && a.token === b.token && one?.scheme === other?.scheme && one?.credentials === other?.credentials
}

/** What the four operations on push configurations share, and those inside a send. Spec §4.3, §3.1.7 to §3.1.10. */

import { AddressRefusedError } from '../net/address-guard.js'
import type { TaskPushNotificationConfig } from '../protocol/wire.js'
import type { Store, StoredPushConfig, TaskHeader } from '../store/store.js'
import { openSecrets, type PushSecrets, sealSecrets } from '../support/push-secrets.js'
import type { Vault } from '../support/vault.js'
import { uuid, type World } from '../support/world.js'
import { invalid } from './check-params.js'
import type { OperationContext } from './context.js'

/** A configuration as a caller gave it, with an id. */
export interface NamedConfig extends TaskPushNotificationConfig {
  readonly id: string
}

export function namedConfig(config: TaskPushNotificationConfig, world: World): NamedConfig {
  return { ...config, id: config.id ?? uuid(world) }
}

/** A configuration as it is kept with its task: without the members that the task itself says, and its secrets sealed. */
export async function storedConfig(vault: Vault, taskId: string, config: NamedConfig): Promise<StoredPushConfig> {
  const { id, url, authentication } = config
  const sealed = await sealSecrets(vault, { taskId, id }, secretsOf(config))
  return { id, url, ...(authentication && { scheme: authentication.scheme }), ...(sealed !== undefined && { sealed }) }
}

/** A configuration as it is shown: never with its token or credentials. */
export function shownConfig({ id, url, scheme }: StoredPushConfig, taskId: string, tenant: string): TaskPushNotificationConfig {
  return { ...(tenant !== '' && { tenant }), id, taskId, url, ...(scheme !== undefined && { authentication: { scheme } }) }
}

function secretsOf({ token, authentication }: TaskPushNotificationConfig): PushSecrets {
  const credentials = authentication?.credentials
  return { ...(token !== undefined && { token }), ...(credentials !== undefined && { credentials }) }
}

/** Characters of a configuration's id, and of a token and credentials. */
const longestId = 256
const longestSecret = 4096

type Check = Pick<OperationContext, 'guard' | 'checkAddresses'>

/**
 * @param prefix stands before the names of the fields
 * @throws {InvalidParamsError} naming what no header may hold, or what is wrong with the address (D25)
 */
export async function checkPushConfig(config: TaskPushNotificationConfig, check: Check, prefix = ''): Promise<void> {
  const { id, url, token, authentication } = config
  if (id !== undefined && (id.length > longestId || hasControls(id))) {
    throw invalid(`${prefix}id`, `must be at most ${longestId} characters without control characters; leave it out to be given one`)
  }
  checkSecret(token, `${prefix}token`)
  if (authentication && !isToken(authentication.scheme)) {
    throw invalid(`${prefix}authentication.scheme`, 'must be the name of an authentication scheme, such as Bearer')
  }
  checkSecret(authentication?.credentials, `${prefix}authentication.credentials`)
  try {
    await check.checkAddresses(check.guard.checkUrl(url))
  } catch (error) {
    throw error instanceof AddressRefusedError ? invalid(`${prefix}url`, error.demand) : error
  }
}

function hasControls(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for; the id travels in a header
  return /[\u0000-\u001f\u007f]/.test(text)
}

/** What it is does not show in the error. */
function checkSecret(text: string | undefined, field: string): void {
  if (text === undefined || (text.length <= longestSecret && /^[!-~]([ -~]*[!-~])?$/.test(text))) return
  throw invalid(
    field,
    `must be at most ${longestSecret} characters of visible ASCII, since it travels in a header; blanks may stand within`,
  )
}

/** RFC 9110 §5.6.2. */
function isToken(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text)
}

/** A configuration that came inside a send. */
export interface SentConfig {
  readonly config: NamedConfig
  /** Whether it came with an id. */
  readonly isNamed: boolean
}

/** @throws {InvalidParamsError} as {@link checkPushConfig}; whether push is declared was judged before the parameters were read */
export async function configOfSend(
  context: OperationContext,
  config: TaskPushNotificationConfig | undefined,
): Promise<SentConfig | undefined> {
  if (config === undefined) return undefined
  await checkPushConfig(config, context, 'configuration.taskPushNotificationConfig.')
  return { config: namedConfig(config, context.world), isNamed: config.id !== undefined }
}

/** What a message to a task that is there adds to its configurations; undefined where it adds none. */
export async function configToKeep(
  { store, vault }: OperationContext,
  task: TaskHeader,
  { config, isNamed }: SentConfig,
): Promise<StoredPushConfig | undefined> {
  // D24: without an id, one that equals a configuration of the task is that one; if that has ended, it begins again.
  const equal = isNamed ? undefined : await findEqual(store, vault, task, config)
  if (equal !== undefined && (await isOpen(store, task, equal))) return undefined
  return storedConfig(vault, task.id, { ...config, id: equal ?? config.id })
}

/** The id of a configuration of the task that has the same address and the same secrets. */
async function findEqual(store: Store, vault: Vault, { ref, id: taskId }: TaskHeader, config: NamedConfig): Promise<string | undefined> {
  const { token, credentials } = secretsOf(config)
  for (let after: string | undefined; ; ) {
    const page = await store.listPushConfigs(ref, { limit: 100, ...(after !== undefined && { after }) })
    for (const { id, url, scheme, sealed } of page) {
      if (url !== config.url || scheme !== config.authentication?.scheme) continue
      // What cannot be opened any more, such as after its key was given up, equals nothing.
      const secrets = await openSecrets(vault, { taskId, id }, sealed).catch(() => undefined)
      if (secrets && secrets.token === token && secrets.credentials === credentials) return id
    }
    after = page.at(-1)?.id
    if (after === undefined) return undefined
  }
}

async function isOpen(store: Store, { ref }: TaskHeader, id: string): Promise<boolean> {
  const open = await Promise.all((await store.pushes(ref)).map((push) => store.push(push)))
  return open.some((push) => push?.config.id === id)
}

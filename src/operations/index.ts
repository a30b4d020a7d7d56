/** All operations behind one door, with the checks that come before each: capability, extensions, parameters, tenant (D16). */

import type { IncomingCall, Invoke, Reply } from '../protocol/call.js'
import { decode } from '../protocol/codec.js'
import {
  ExtensionSupportRequiredError,
  PermissionDeniedError,
  PushNotificationNotSupportedError,
  UnsupportedOperationError,
} from '../protocol/errors.js'
import { type Capability, type OperationName, operationTable } from '../protocol/operations.js'
import type { Wire } from '../protocol/wire.js'
import { isPlainObject } from '../support/options.js'
import { cancelTask } from './cancel-task.js'
import { invalid } from './check-params.js'
import type { Operation, OperationContext } from './context.js'
import { createTaskPushNotificationConfig } from './create-task-push-notification-config.js'
import { deleteTaskPushNotificationConfig } from './delete-task-push-notification-config.js'
import { getExtendedAgentCard } from './get-extended-agent-card.js'
import { getTask } from './get-task.js'
import { getTaskPushNotificationConfig } from './get-task-push-notification-config.js'
import { listTaskPushNotificationConfigs } from './list-task-push-notification-configs.js'
import { listTasks } from './list-tasks.js'
import { sendMessage } from './send-message.js'
import { sendStreamingMessage } from './send-streaming-message.js'
import { subscribeToTask } from './subscribe-to-task.js'

type Request<Name extends OperationName> = Wire[(typeof operationTable)[Name]['request']]

const operations: { readonly [Name in OperationName]: Operation<Request<Name>> } = {
  SendMessage: sendMessage,
  SendStreamingMessage: sendStreamingMessage,
  GetTask: getTask,
  ListTasks: listTasks,
  CancelTask: cancelTask,
  SubscribeToTask: subscribeToTask,
  CreateTaskPushNotificationConfig: createTaskPushNotificationConfig,
  GetTaskPushNotificationConfig: getTaskPushNotificationConfig,
  ListTaskPushNotificationConfigs: listTaskPushNotificationConfigs,
  DeleteTaskPushNotificationConfig: deleteTaskPushNotificationConfig,
  GetExtendedAgentCard: getExtendedAgentCard,
}

/** Every operation of one server. */
export function createInvoke(context: OperationContext): Invoke {
  const known = new Set(context.agent.extensions?.map(({ uri }) => uri))
  const required = context.agent.extensions?.flatMap(({ uri, required }) => (required && uri ? [uri] : [])) ?? []
  return async (name, readParams, call) => {
    checkCapability(context, operationTable[name].capability)
    if (name === 'SendMessage' || name === 'SendStreamingMessage') checkConfigInside(context, readParams())
    for (const uri of required) if (!call.extensions.includes(uri)) throw new ExtensionSupportRequiredError(uri)
    checkScopes(context.scopes[name] ?? context.scopes['*'] ?? [], call.principal.scopes)
    const extensions = call.extensions.filter((uri) => known.has(uri))
    const reply = await run(name, context, readParams(), { ...call, extensions })
    return extensions.length > 0 ? { ...reply, extensions } : reply
  }
}

async function run<Name extends OperationName>(name: Name, context: OperationContext, params: unknown, call: IncomingCall): Promise<Reply> {
  const requestName: (typeof operationTable)[Name]['request'] = operationTable[name].request
  const request: Request<Name> = decode(requestName, params, { maxDepth: context.maxDepth })
  const tenant = request.tenant ?? ''
  if (tenant !== '' && !call.principal.tenants.includes(tenant)) throw invalid('tenant', 'is not one that you may use')
  return operations[name](context, request, { ...call, tenant })
}

/** A push configuration inside a send needs the capability too, and is refused for the lack of it before anything else is read. */
function checkConfigInside({ push }: OperationContext, params: unknown): void {
  if (push || !isPlainObject(params) || !isPlainObject(params['configuration'])) return
  const { taskPushNotificationConfig, task_push_notification_config: snakeCase } = params['configuration']
  if ((taskPushNotificationConfig ?? snakeCase ?? undefined) !== undefined) throw new PushNotificationNotSupportedError()
}

function checkScopes(needed: readonly string[], granted: readonly string[]): void {
  if (needed.every((scope) => granted.includes(scope))) return
  throw new PermissionDeniedError(`This operation needs a credential with the scopes ${needed.join(' ')}.`, needed)
}

function checkCapability({ agent, push }: OperationContext, capability: Capability | 'none'): void {
  if (capability === 'pushNotifications' && !push) throw new PushNotificationNotSupportedError()
  if (capability === 'extendedAgentCard' && !agent.extendedCard) {
    throw new UnsupportedOperationError('This agent has no extended agent card. Use the public one at /.well-known/agent-card.json.')
  }
}

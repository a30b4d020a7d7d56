/** A server that nobody here wrote: `@a2a-js/sdk` on express, with an agent that understands a few words. */

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { AgentCard, Task, TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent } from '@a2a-js/sdk'
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server'
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express'
// @ts-expect-error express brings no types of its own
import express from 'express'
import { type Gate, gate } from '../runtime/kit.js'

export interface SdkServer {
  readonly url: string
  /** The agent stops in the middle of `slow` until it is opened. */
  readonly middle: Gate
  close(): Promise<void>
}

export async function openSdkServer(): Promise<SdkServer> {
  const middle = gate()
  const app = express()
  const http = app.listen(0, '127.0.0.1')
  await once(http, 'listening')
  // Listening on a port, the address is one of host and port.
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const card = AgentCard.fromJSON({
    name: 'Foreign',
    description: 'Understands a few words.',
    version: '1',
    capabilities: { streaming: true },
    supportedInterfaces: [
      { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'words', name: 'Words', description: 'A few.', tags: ['words'] }],
  })
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor(middle))
  const userBuilder = UserBuilder.noAuthentication
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }))
  app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder }))
  app.use('/rest', restHandler({ requestHandler, userBuilder }))
  return {
    url,
    middle,
    close: () =>
      new Promise((resolve) => {
        http.closeAllConnections()
        http.close(() => resolve())
      }),
  }
}

/** `slow` stops in the middle; `ask` asks; `fail` fails; anything else is said back in three chunks. */
function executor(middle: Gate): AgentExecutor {
  const canceled = new Set<string>()
  return {
    async execute({ userMessage, taskId, contextId, task }: RequestContext, bus: ExecutionEventBus) {
      const words = userMessage.parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join(' ')
      const now = Task.fromJSON({ id: taskId, contextId, status: { state: 'TASK_STATE_SUBMITTED' } })
      bus.publish(AgentEvent.task(task ?? now))
      const say = (state: TaskState, text?: string) => bus.publish(AgentEvent.statusUpdate(status(taskId, contextId, state, text)))
      const chunk = (text: string, append: boolean, last = false) =>
        bus.publish(
          AgentEvent.artifactUpdate(
            TaskArtifactUpdateEvent.fromJSON({
              taskId,
              contextId,
              append,
              lastChunk: last,
              artifact: { artifactId: 'a', name: 'a', parts: [{ text }] },
            }),
          ),
        )
      say(TaskState.TASK_STATE_WORKING)
      if (words === 'ask') say(TaskState.TASK_STATE_INPUT_REQUIRED, 'What is it?')
      else if (words === 'fail') say(TaskState.TASK_STATE_FAILED, 'It broke.')
      else {
        chunk('one ', false)
        if (words === 'slow') await middle.opened
        if (canceled.has(taskId)) return
        chunk('two ', true)
        chunk(words, true, true)
        say(TaskState.TASK_STATE_COMPLETED)
      }
      bus.finished()
    },
    async cancelTask(taskId: string, bus: ExecutionEventBus) {
      canceled.add(taskId)
      bus.publish(AgentEvent.statusUpdate(status(taskId, '', TaskState.TASK_STATE_CANCELED)))
      bus.finished()
    },
  }
}

function status(taskId: string, contextId: string, state: TaskState, text?: string): TaskStatusUpdateEvent {
  const message = text === undefined ? {} : { message: { messageId: `m-${text}`, role: 'ROLE_AGENT', parts: [{ text }] } }
  const made = TaskStatusUpdateEvent.fromJSON({ taskId, contextId, status: message })
  return { ...made, status: { message: undefined, timestamp: undefined, ...made.status, state } }
}

/** A client that writes down everything it was told. */

import { type BindingName, readFrames, requestFor } from '../harness/server.js'
import { begun, claim, type Ledger, moved, type PushAsked, type Sent, type StreamSeen, wordOf } from './ledger.js'
import type { Victim } from './victim.js'

export type Mode = 'blocking' | 'immediate' | 'stream'

export interface Client {
  /** Settles with the answer, or when the server is gone. A stream: `onFirst` is called with its first frame. */
  send(sent: Sent, mode: Mode, onFirst?: () => void): Promise<void>
  get(taskId: string): Promise<void>
  cancel(taskId: string): Promise<void>
  /** Everything after event `after`, up to the end of the task. */
  resume(taskId: string, after: number): Promise<void>
  /** The task as it is and everything after, up to its end; `onStatus` is called with each status. */
  watch(taskId: string, onStatus: (status: any) => void): Promise<void>
  /** Settles when the signal is acknowledged, refused, or lost with the server. */
  signal(taskId: string, value: string): Promise<void>
  /** Makes a push configuration by its own operation. */
  createPush(taskId: string, asked: PushAsked): Promise<void>
  /** Of one that has an id. */
  deletePush(taskId: string, asked: PushAsked): Promise<void>
  /** All tasks. */
  list(): Promise<readonly { readonly id: string; readonly status: { readonly state: string } }[]>
}

interface ClientOptions {
  readonly url: string
  readonly victim: Victim
  readonly ledger: Ledger
  readonly pickBinding: () => BindingName
  /** Something was acknowledged. */
  readonly onTold: () => void
}

/** What a task may answer that moved on meanwhile. */
const fair: readonly string[] = ['UNSUPPORTED_OPERATION', 'TASK_NOT_CANCELABLE']

export function createClient({ url, victim, ledger, pickBinding, onTold }: ClientOptions): Client {
  async function exchange(
    operation: Parameters<typeof requestFor>[1],
    params: Readonly<Record<string, unknown>>,
    options: Exchange = {},
  ): Promise<void> {
    const binding = pickBinding()
    try {
      const response = await fetch(requestFor(binding, operation, params, { url, headers: options.headers ?? {} }))
      if (/event-stream/.test(response.headers.get('content-type') ?? '')) {
        let isWhole = true
        for await (const { id, data } of readFrames(response, binding)) {
          if (!data.error) options.onFrame?.(Number(id), data)
          else isWhole = refused(operation, data.error) === undefined
        }
        if (isWhole && !victim.isEnding) options.onEnd?.()
        return
      }
      const body: any = await response.json()
      if (body.error === undefined) return options.onResult?.(binding === 'JSONRPC' ? body.result : body)
      const reason = refused(`${operation} ${JSON.stringify(params)}`, body.error)
      if (reason !== undefined) options.onRefused?.(reason)
    } catch (error) {
      if (!victim.isEnding) fault(`${operation} broke off while the server was up: ${String(error)} ${String((error as Error).cause)}`) // fetch rejects with errors only
    }
  }

  /** The reason of an error; undefined when the server that gave it was about to end, and means: come back. */
  function refused(what: string, error: any): string | undefined {
    const details: readonly any[] = error.data ?? error.details ?? []
    const reason: string = details.find((detail) => detail.reason !== undefined)?.reason ?? 'no reason'
    if (reason === 'UNAVAILABLE' && victim.isEnding) return undefined
    if (!fair.includes(reason)) fault(`${what} was refused: ${JSON.stringify(error)}`)
    return reason
  }

  function fault(text: string): void {
    ledger.faults.push(text)
  }

  function toldTask(task: any, seq?: number): void {
    claim(ledger, { kind: 'task', taskId: task.id, body: task, ...(seq !== undefined && { seq }) })
    moved(ledger, task.id, task.status)
    onTold()
  }

  function toldEvent(taskId: string, seq: number, data: any): void {
    claim(ledger, { kind: 'event', taskId, seq, body: data })
    if (data.statusUpdate) moved(ledger, taskId, data.statusUpdate.status)
    onTold()
  }

  function answered(sent: Sent, taskId: string): void {
    const { messageId } = sent.message
    sent.attempt = 'answered'
    ledger.touched.add(taskId)
    if (sent.taskId !== undefined && sent.taskId !== taskId)
      fault(`message ${messageId} was answered with task ${sent.taskId} and later with ${taskId}`)
    if (sent.taskId === undefined && sent.message.taskId === undefined) begun(ledger, taskId, wordOf(sent))
    sent.taskId = taskId
    if (sent.push?.state === 'asked') sent.push.state = 'accepted'
  }

  return {
    async send(sent, mode, onFirst) {
      sent.attempt = 'sent'
      let seen: StreamSeen | undefined
      await exchange(
        mode === 'stream' ? 'SendStreamingMessage' : 'SendMessage',
        {
          message: { role: 'ROLE_USER', ...sent.message },
          configuration: {
            ...(mode === 'immediate' && { returnImmediately: true }),
            ...(sent.push && { taskPushNotificationConfig: configOf(sent.push) }),
          },
        },
        {
          onResult({ task }) {
            answered(sent, task.id)
            toldTask(task)
          },
          onRefused(reason) {
            sent.attempt = 'answered'
            sent.refused = reason
          },
          onFrame(seq, data) {
            if (seen !== undefined) {
              seen.seqs.push(seq)
              return toldEvent(seen.taskId, seq, data)
            }
            seen = { taskId: data.task.id, after: seq, seqs: [], until: 'rest', isEnded: false }
            ledger.streams.push(seen)
            answered(sent, data.task.id)
            toldTask(data.task, seq)
            onFirst?.()
          },
          onEnd() {
            if (seen !== undefined) seen.isEnded = true
          },
        },
      )
    },
    get: (taskId) => exchange('GetTask', { id: taskId }, { onResult: (task) => toldTask(task) }),
    cancel: (taskId) =>
      exchange(
        'CancelTask',
        { id: taskId },
        {
          onResult(task) {
            if (task.status.state !== 'TASK_STATE_CANCELED') fault(`the answer to a cancel of ${taskId} is ${task.status.state}`)
            ledger.touched.add(taskId)
            ledger.canceled.add(taskId)
            toldTask(task)
          },
        },
      ),
    resume(taskId, after) {
      const seen: StreamSeen = { taskId, after, seqs: [], until: 'end', isEnded: false }
      ledger.resumed.push(seen)
      return exchange(
        'SubscribeToTask',
        { id: taskId },
        {
          headers: { 'last-event-id': String(after) },
          onFrame(seq, data) {
            seen.seqs.push(seq)
            toldEvent(taskId, seq, data)
          },
          // One that is over already is refused: there is nothing to wait for.
          onEnd() {
            seen.isEnded = true
          },
        },
      )
    },
    watch: (taskId, onStatus) =>
      exchange(
        'SubscribeToTask',
        { id: taskId },
        {
          onFrame(_, { task, statusUpdate }) {
            const status = task?.status ?? statusUpdate?.status
            if (status !== undefined) onStatus(status)
          },
        },
      ),
    async signal(taskId, value) {
      const sent = ledger.signals.get(taskId) ?? { values: new Set(), isKept: false }
      ledger.signals.set(taskId, sent)
      sent.values.add(value)
      const outcome = await victim.signal(taskId, value)
      if (outcome === 'kept') {
        sent.isKept = true
        ledger.acknowledged++
        onTold()
      } else if (outcome !== undefined && outcome !== 'UnsupportedOperationError' && !victim.isEnding) {
        fault(`a signal to ${taskId} was refused: ${outcome}`)
      }
    },
    createPush: (taskId, asked) =>
      exchange(
        'CreateTaskPushNotificationConfig',
        { taskId, ...configOf(asked) },
        {
          onResult(config) {
            asked.state = 'accepted'
            if (asked.id !== undefined && config.id !== asked.id) fault(`the push configuration ${asked.id} was made as ${config.id}`)
            onTold()
          },
        },
      ),
    deletePush(taskId, asked) {
      asked.state = 'deleting'
      return exchange(
        'DeleteTaskPushNotificationConfig',
        { taskId, id: asked.id },
        {
          onResult() {
            asked.state = 'deleted'
            onTold()
          },
        },
      )
    },
    async list() {
      const tasks: any[] = []
      for (let pageToken: string | undefined = ''; pageToken !== undefined; ) {
        const params: Record<string, unknown> = { pageSize: 100, ...(pageToken !== '' && { pageToken }) }
        pageToken = undefined
        await exchange('ListTasks', params, {
          onResult(page) {
            tasks.push(...page.tasks)
            pageToken = page.nextPageToken || undefined
          },
        })
      }
      return tasks
    },
  }
}

function configOf({ id, url, token, credentials }: PushAsked): object {
  const authentication = credentials !== undefined && { authentication: { scheme: 'Bearer', credentials } }
  return { ...(id !== undefined && { id }), url, token, ...authentication }
}

interface Exchange {
  readonly headers?: Readonly<Record<string, string>>
  readonly onResult?: (result: any) => void
  readonly onFrame?: (seq: number, data: any) => void
  readonly onRefused?: (reason: string) => void
  /** A stream has come to its end, and the server is well. */
  readonly onEnd?: () => void
}

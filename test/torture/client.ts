/** A client that writes down everything it was told. */

import { type BindingName, readFrames, requestFor } from '../harness/server.js'
import { claim, type Ledger, moved, type Sent, type StreamSeen } from './ledger.js'
import type { Victim } from './victim.js'

export type Mode = 'blocking' | 'immediate' | 'stream'

export interface Client {
  /** Settles with the answer, or when the server is gone. A stream: `onFirst` is called with its first frame. */
  send(sent: Sent, mode: Mode, onFirst?: () => void): Promise<void>
  get(taskId: string): Promise<void>
  cancel(taskId: string): Promise<void>
  /** Everything after event `after`, up to the end of the task. */
  resume(taskId: string, after: number): Promise<void>
  /** Ids of all tasks. */
  list(): Promise<readonly string[]>
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
        for await (const { id, data } of readFrames(response, binding)) {
          if (data.error) fault(`${operation} ended with ${JSON.stringify(data.error)}`)
          else options.onFrame?.(Number(id), data)
        }
        return
      }
      const body: any = await response.json()
      if (body.error === undefined) return options.onResult?.(binding === 'JSONRPC' ? body.result : body)
      const details: readonly any[] = body.error.data ?? body.error.details ?? []
      const reason: string = details.find((detail) => detail.reason !== undefined)?.reason ?? 'no reason'
      if (!fair.includes(reason)) fault(`${operation} ${JSON.stringify(params)} was refused: ${JSON.stringify(body.error)}`)
      options.onRefused?.(reason)
    } catch (error) {
      if (!victim.isKilled) fault(`${operation} broke off while the server was up: ${String(error)} ${String((error as Error).cause)}`) // fetch rejects with errors only
    }
  }

  function fault(text: string): void {
    ledger.faults.push(text)
  }

  function toldTask(task: any, seq?: number): void {
    claim(ledger, { kind: 'task', taskId: task.id, body: task, ...(seq !== undefined && { seq }) })
    moved(ledger, task.id, task.status.state)
    onTold()
  }

  function toldEvent(taskId: string, seq: number, data: any): void {
    claim(ledger, { kind: 'event', taskId, seq, body: data })
    if (data.statusUpdate) moved(ledger, taskId, data.statusUpdate.status.state)
    onTold()
  }

  function answered(sent: Sent, taskId: string): void {
    const { messageId } = sent.message
    sent.attempt = 'answered'
    ledger.touched.add(taskId)
    if (sent.taskId !== undefined && sent.taskId !== taskId)
      fault(`message ${messageId} was answered with task ${sent.taskId} and later with ${taskId}`)
    sent.taskId = taskId
  }

  return {
    async send(sent, mode, onFirst) {
      sent.attempt = 'sent'
      let seen: StreamSeen | undefined
      await exchange(
        mode === 'stream' ? 'SendStreamingMessage' : 'SendMessage',
        {
          message: { role: 'ROLE_USER', ...sent.message },
          ...(mode === 'immediate' && { configuration: { returnImmediately: true } }),
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
            seen = { taskId: data.task.id, after: seq, seqs: [] }
            ledger.streams.push(seen)
            answered(sent, data.task.id)
            toldTask(data.task, seq)
            onFirst?.()
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
            toldTask(task)
          },
        },
      ),
    resume(taskId, after) {
      const seen: StreamSeen = { taskId, after, seqs: [] }
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
        },
      )
    },
    async list() {
      const ids: string[] = []
      for (let pageToken: string | undefined = ''; pageToken !== undefined; ) {
        const params: Record<string, unknown> = { pageSize: 100, ...(pageToken !== '' && { pageToken }) }
        pageToken = undefined
        await exchange('ListTasks', params, {
          onResult(page) {
            ids.push(...page.tasks.map((task: any) => task.id))
            pageToken = page.nextPageToken || undefined
          },
        })
      }
      return ids
    },
  }
}

interface Exchange {
  readonly headers?: Readonly<Record<string, string>>
  readonly onResult?: (result: any) => void
  readonly onFrame?: (seq: number, data: any) => void
  readonly onRefused?: (reason: string) => void
}

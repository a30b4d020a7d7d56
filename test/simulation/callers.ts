/** Those who call: they send, send again, answer what they mean and what they do not, read, cancel, signal and consent. */

import type { TaskHeader } from '../../src/store/store.js'
import { type Cancel, finals, framesOf, type Grant, isFinalFrame, isUnavailable, type Reader, type Sending, type Signal } from './calls.js'
import type { Chance } from './chance.js'
import type { Exchange, Life } from './life.js'
import { namesOf, type Program, signalNames } from './program.js'
import type { PushCallers } from './push-callers.js'

export interface Action {
  readonly weight: number
  readonly name: string
  readonly act: () => void | Promise<void>
}

export interface Scene {
  readonly chance: Chance
  readonly programs: readonly Program[]
  readonly contextId: string | undefined
  readonly cancels: number
  /** Of the task that a message of this text began: who runs the server knows of all. */
  idOf(text: string): string | undefined
  /** The server, if there is one that answers. */
  server(): Life | undefined
  /** The task as it is in the store by now. */
  header(taskId: string): Promise<TaskHeader | undefined>
  isQuiet(): boolean
  violate(what: string): void
  /** Who wants to be told by pushes, if anybody. */
  readonly pushes: PushCallers | undefined
}

export interface Callers {
  readonly sendings: readonly Sending[]
  readonly readers: readonly Reader[]
  readonly signals: readonly Signal[]
  readonly grants: readonly Grant[]
  /** Ids of the tasks that a cancel was confirmed for. */
  readonly canceled: ReadonlySet<string>
  /** Tasks as GetTask gave them. */
  readonly views: readonly { readonly place: number; readonly task: any }[]
  /** By the place of the task. */
  taskId(place: number): string | undefined
  /** Hears what was answered meanwhile. */
  hear(): void
  actions(): Promise<Action[]>
  /** Nobody waits for anything any more. */
  isDone(): boolean
  /** Who still waits. */
  waiting(): readonly string[]
  /** Whoever waits for an answer or a frame gives up, and tries again. */
  loseHope(): boolean
}

export function createCallers(scene: Scene): Callers {
  const { chance, programs } = scene
  const sendings: Sending[] = []
  const readers: Reader[] = []
  const signals: Signal[] = []
  const grants: Grant[] = []
  const cancels: Cancel[] = []
  const canceled = new Set<string>()
  const views: { place: number; task: any }[] = []
  const looks: { place: number; exchange: Exchange }[] = []
  const ids: (string | undefined)[] = programs.map(() => undefined)
  const questions: string[] = []
  let count = 0

  function write(place: number, text: string, more: Partial<Sending> = {}): Sending {
    const how = chance.is(0.75) ? 'at once' : chance.is(0.5) ? 'blocking' : 'stream'
    const sending: Sending = {
      id: `m${++count}`,
      text,
      place,
      meant: undefined,
      named: undefined,
      how,
      push: scene.pushes?.inSend(place),
      answers: [],
      ...more,
      state: 'ready',
    }
    sendings.push(sending)
    return sending
  }

  function send(server: Life, sending: Sending): void {
    const { id, text, place, named, how, push } = sending
    const taskId = ids[place]
    const message = {
      messageId: id,
      role: 'ROLE_USER',
      parts: [{ text }],
      ...(isFirst(sending) ? scene.contextId !== undefined && { contextId: scene.contextId } : { taskId }),
      ...(named !== undefined && { metadata: { 'urn:errand:question': named } }),
    }
    sending.state = 'sent'
    const method = how === 'stream' ? 'SendStreamingMessage' : 'SendMessage'
    const configuration = { returnImmediately: how === 'at once', ...(push && { taskPushNotificationConfig: push }) }
    scene.pushes?.meant(push)
    sending.exchange = server.request(method, { message, configuration })
  }

  const isFirst = (sending: Sending) => sendings.find(({ place }) => place === sending.place) === sending

  function hearSending(sending: Sending): void {
    const { exchange } = sending
    if (!exchange || exchange.state === 'open') return
    delete sending.exchange
    if (exchange.state === 'lost') {
      sending.state = 'ready'
      return
    }
    if (exchange.state === 'streaming') {
      // The stream begins where the message is accepted.
      readers.push({ place: sending.place, state: 'reading', exchange, isPulling: false, sending, frames: [] })
      sending.state = 'accepted'
      return
    }
    const { result, error } = exchange.body
    if (error) {
      if (isUnavailable(error)) sending.state = 'ready'
      else if (/UNSUPPORTED_OPERATION/.test(JSON.stringify(error))) sending.state = 'refused'
      else scene.violate(`the message ${sending.id} was answered by ${JSON.stringify(error)}`)
      return
    }
    accepted(sending, result.task)
  }

  function accepted(sending: Sending, task: any): void {
    sending.state = 'accepted'
    sending.answers.push(task)
    if (!task.history.some(({ messageId }: any) => messageId === sending.id))
      scene.violate(`the message ${sending.id} was accepted and is not in its task`)
    known(sending.place, task.id)
  }

  function known(place: number, id: string): void {
    const before = ids[place]
    ids[place] = id
    if (before !== undefined && before !== id) scene.violate(`the message that began task ${before} began task ${id} as well`)
  }

  function hearReader(reader: Reader): void {
    const { exchange } = reader
    if (!exchange) return
    if (exchange.state === 'lost') {
      away(reader)
      return
    }
    if (reader.state !== 'opening' || exchange.state === 'open') return
    if (exchange.state === 'streaming') {
      reader.state = 'reading'
      return
    }
    delete reader.exchange
    const { error } = exchange.body
    if (!error) scene.violate('a subscription was answered without a stream')
    else if (/UNSUPPORTED_OPERATION/.test(JSON.stringify(error))) {
      reader.state = 'done'
      const last = reader.frames.at(-1)
      if (last && !isFinalFrame(last)) scene.violate('a reader that lacks the final event was told that the task has ended')
    } else if (isUnavailable(error)) reader.state = 'away'
    else scene.violate(`a subscription was answered by ${JSON.stringify(error)}`)
  }

  function away(reader: Reader): void {
    delete reader.exchange
    reader.state = 'away'
    reader.isPulling = false
    if (!reader.sending || reader.frames.length > 0) return
    // Not even the id of the task came back: nobody knows whether the message was accepted.
    reader.state = 'done'
    reader.sending.state = 'ready'
  }

  function pull(reader: Reader, server: Life): void {
    const { exchange } = reader
    const { texts } = exchange ?? {}
    if (!exchange || !texts) return
    reader.isPulling = true
    void texts.next().then(({ done, value }) => {
      if (reader.exchange !== exchange || exchange.state === 'lost') return
      reader.isPulling = false
      if (done) {
        server.streamed(exchange)
        away(reader)
        const last = reader.frames.at(-1)
        if (last && isFinalFrame(last)) reader.state = 'done'
        return
      }
      for (const { seq, data } of framesOf(value)) {
        if (seq === undefined) {
          if (!isUnavailable(data.error)) scene.violate(`a stream broke off with ${JSON.stringify(data)}`)
          continue
        }
        if (data.result.task) known(reader.place, data.result.task.id)
        reader.frames.push({ seq, data: data.result })
      }
    })
  }

  function hearCancel(cancel: Cancel): void {
    const { exchange, place, life } = cancel
    if (cancel.state === 'done' || exchange.state === 'open') return
    cancel.state = 'done'
    if (exchange.state === 'lost') return
    const { result, error } = exchange.body
    const id = ids[place] ?? ''
    if (error) {
      if (!/TASK_NOT_CANCELABLE/.test(JSON.stringify(error)) && !isUnavailable(error))
        scene.violate(`a cancel was answered by ${JSON.stringify(error)}`)
      return
    }
    if (result.status.state !== 'TASK_STATE_CANCELED') scene.violate(`a cancel was answered with ${result.status.state}`)
    canceled.add(id)
    for (const run of life.runs) if (run.id === id && !run.signal.aborted) scene.violate(`task ${id} is canceled and its run was not told`)
  }

  function sendSignal(server: Life, place: number, name: string): void {
    const signal: Signal = { place, name, value: `v${++count}`, state: 'sent' }
    signals.push(signal)
    server.onOver(() => {
      if (signal.state === 'sent') signal.state = 'unknown'
    })
    server.core?.signal(ids[place] ?? '', name, signal.value).then(
      () => settled('accepted'),
      (error) => settled(error?.name === 'UnsupportedOperationError' ? 'refused' : 'unknown'),
    )
    const settled = (state: Signal['state']) => {
      if (signal.state === 'sent') signal.state = state
    }
  }

  function consent(server: Life, place: number, { ref }: TaskHeader, question: string, isGranted: boolean): void {
    const { core } = server
    if (!core) return
    const state = core.consents.state(ref, question)
    const grant: Grant = { place, question, token: isGranted ? `secret-${++count}` : undefined, state: 'sent' }
    grants.push(grant)
    server.onOver(() => {
      if (grant.state === 'sent') grant.state = 'unknown'
    })
    const outcome =
      grant.token === undefined ? core.consents.deny(state, 'no') : core.consents.grant(state, { token: grant.token, scopes: ['all'] })
    const settled = (how: Grant['state']) => {
      if (grant.state === 'sent') grant.state = how
    }
    outcome.then(settled, () => settled('unknown'))
  }

  /** Messages, consents and signals to a task, by what it waits for. */
  function talk(server: Life, place: number, header: TaskHeader): Action[] {
    const { waiting } = header
    const isQuiet = scene.isQuiet()
    // One that blocks may have been taken long ago.
    const isBusy = sendings.some(
      (one) => one.place === place && (one.state === 'ready' || (one.state === 'sent' && one.how !== 'blocking')),
    )
    const question = waiting?.question
    if (question !== undefined && !questions.includes(question)) questions.push(question)
    const actions: Action[] = []
    if (isQuiet) {
      if (!waiting) return []
      if (question !== undefined && waiting.kind !== 'authorize' && !isBusy)
        actions.push({
          weight: 1,
          name: 'answers',
          act: () => say(server, place, `ok ${++count}`, question, chance.is(0.5) ? question : undefined),
        })
      if (
        question !== undefined &&
        waiting.kind === 'authorize' &&
        !grants.some((one) => one.question === question && one.state === 'sent')
      )
        actions.push({ weight: 1, name: 'grants', act: () => consent(server, place, header, question, true) })
      if (waiting.kind === 'wait' && !signals.some((one) => one.place === place && one.state === 'sent'))
        actions.push({ weight: 1, name: 'signals', act: () => sendSignal(server, place, waiting.name ?? '') })
      return actions
    }
    actions.push({
      weight: question === undefined ? 0.12 : 1.2,
      name: 'writes',
      act: () => {
        const text = `${chance.is(0.7) ? 'ok' : 'no'} ${++count}`
        const drawn = chance.fraction()
        if (question !== undefined && drawn < 0.6) return say(server, place, text, question, question)
        if (drawn < (question === undefined ? 0.5 : 0.8)) return say(server, place, text, undefined, undefined)
        const other = chance.is(0.8) && questions.length > 0 ? chance.pick(questions) : 'nobody-asked'
        return say(server, place, text, other, other)
      },
    })
    if (waiting?.kind === 'authorize' && question !== undefined) {
      actions.push({ weight: 0.8, name: 'consents', act: () => consent(server, place, header, question, chance.is(0.8)) })
    }
    if (questions.length > 0)
      actions.push({ weight: 0.03, name: 'consents late', act: () => consent(server, place, header, chance.pick(questions), true) })
    if (namesOf(programs[place] ?? []).length > 0)
      actions.push({
        weight: waiting?.kind === 'wait' ? 0.8 : 0.08,
        name: 'signals',
        act: () => sendSignal(server, place, chance.pick(signalNames)),
      })
    return actions
  }

  function say(server: Life, place: number, text: string, meant: string | undefined, named: string | undefined): void {
    send(server, write(place, text, { meant, named }))
  }

  async function actions(): Promise<Action[]> {
    const server = scene.server()
    if (!server) return []
    const found: Action[] = []
    for (const [place, id] of ids.entries()) {
      if (id === undefined) ids[place] = scene.idOf(`p${place}`)
      if (!sendings.some((one) => one.place === place)) {
        found.push({ weight: 1, name: `begins ${place}`, act: () => send(server, write(place, `p${place}`)) })
        continue
      }
      if (id === undefined) continue
      const header = await scene.header(id)
      if (!header) {
        scene.violate(`task ${id} is gone`)
        continue
      }
      if (!finals.has(header.state)) {
        found.push(...talk(server, place, header))
        if (!scene.isQuiet()) {
          found.push({
            weight: scene.cancels,
            name: `cancels ${place}`,
            act: () => void cancels.push({ place, exchange: server.request('CancelTask', { id }), life: server, state: 'sent' }),
          })
        }
      }
      if (!scene.isQuiet()) {
        found.push(...(scene.pushes?.actions(server, place, id) ?? []))
        found.push({
          weight: 0.1,
          name: `looks ${place}`,
          act: () => void looks.push({ place, exchange: server.request('GetTask', { id }) }),
        })
        if (readers.filter((one) => one.place === place).length < 2)
          found.push({
            weight: 0.3,
            name: `listens ${place}`,
            act: () => void readers.push({ place, state: 'away', isPulling: false, frames: [] }),
          })
      }
    }
    for (const sending of sendings) {
      if (sending.state === 'ready') found.push({ weight: 1.5, name: `sends ${sending.id} again`, act: () => send(server, sending) })
      if (sending.state === 'accepted' && !scene.isQuiet())
        found.push({ weight: 0.02, name: `repeats ${sending.id}`, act: () => send(server, sending) })
    }
    for (const reader of readers) {
      const id = ids[reader.place]
      if (reader.state === 'away' && id !== undefined) {
        const last = reader.frames.at(-1)?.seq
        found.push({
          weight: 1,
          name: `reads ${reader.place} after ${last}`,
          act: () => {
            reader.state = 'opening'
            reader.exchange = server.request('SubscribeToTask', { id }, last)
          },
        })
      }
      if (reader.state === 'reading' && !reader.isPulling) found.push({ weight: 1, name: 'pulls', act: () => pull(reader, server) })
      if (reader.state === 'reading' && !scene.isQuiet()) {
        found.push({
          weight: 0.06,
          name: 'hangs up',
          act: () => {
            if (reader.exchange) server.leave(reader.exchange)
            away(reader)
          },
        })
      }
    }
    return found
  }

  function waiting(): string[] {
    return [
      ...sendings.filter(({ state }) => state === 'ready' || state === 'sent').map(({ id, how }) => `message ${id} (${how})`),
      ...readers
        .filter(({ state, place }) => state !== 'done' && !(state === 'away' && ids[place] === undefined))
        .map(({ place, state, frames, isPulling }) => `reader of ${place}, ${state} ${isPulling} after ${frames.at(-1)?.seq}`),
      ...cancels.filter(({ state }) => state === 'sent').map(({ place }) => `cancel of ${place}`),
      ...signals.filter(({ state }) => state === 'sent').map(({ place, name }) => `signal ${name} to ${place}`),
      ...grants.filter(({ state }) => state === 'sent').map(({ place }) => `consent to ${place}`),
      ...(scene.pushes?.waiting() ?? []),
    ]
  }

  return {
    sendings,
    readers,
    signals,
    grants,
    canceled,
    views,
    taskId: (place) => ids[place],
    actions,
    hear() {
      for (const sending of sendings) hearSending(sending)
      for (const reader of readers) hearReader(reader)
      for (const cancel of cancels) hearCancel(cancel)
      scene.pushes?.hear()
      for (const look of looks.splice(0)) {
        if (look.exchange.state === 'open') looks.push(look)
        else if (look.exchange.state === 'answered' && look.exchange.body.result)
          views.push({ place: look.place, task: look.exchange.body.result })
      }
    },
    isDone: () => waiting().length === 0,
    waiting,
    loseHope() {
      const server = scene.server()
      let any = false
      for (const waiting of [...sendings, ...readers]) {
        if (!waiting.exchange || !server) continue
        any = true
        server.leave(waiting.exchange)
      }
      return any
    },
  }
}

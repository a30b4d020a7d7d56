/**
 * Who is faster: the reply to a send, or what the agent posts about it? Where a job ends before its reply is home, a receiver
 * that has to know the task first refuses everything.
 */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Agent, agent, completed, type Server, serve, sqlite, working } from 'errand'
import type { PushConfig } from 'errand/client'
import { bindingReceiver, naiveReceiver, type Receiver } from './receivers.js'

export interface RaceResult {
  readonly naive: { readonly attempts: number; readonly refused: number }
  readonly binding: { readonly attempts: number; readonly accepted: number }
}

/** @param events posts that a job is worth, the final one included; 2 at least */
export async function race(events: number): Promise<RaceResult> {
  const naive = await run(events, naiveReceiver)
  const binding = await run(events, bindingReceiver)
  return {
    naive: { attempts: naive.length, refused: naive.filter((status) => status === 404).length },
    binding: { attempts: binding.length, accepted: binding.filter((status) => status === 200).length },
  }
}

const nothing = () => {}
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing }

/** The answers to all attempts to post what happened to one task. */
async function run(events: number, open: (url: string) => Receiver): Promise<readonly number[]> {
  const answers: number[] = []
  const http = createServer(async (request, response) => {
    await receiver.answer(request, response)
    answers.push(response.statusCode)
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  // Listening on a port, the address is one of host and port.
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const receiver = open(`${url}/a2a-push`)
  // Push refuses addresses of this machine unless they are named; and nobody waits here for what back-off is for.
  const server = await serve(job(events), {
    store: sqlite(':memory:'),
    push: { backoffMs: 1 },
    outbound: { allow: [url] },
    log: silent,
  })
  try {
    const taskId = await send(`${server.url}/rest`, receiver.config())
    // The reply is still on its way, through a slow proxy say, when the job is done and all that it had to post was posted or given up.
    await posted(server, taskId, events)
    receiver.learn(taskId)
    return answers
  } finally {
    await server.close()
    http.close()
  }
}

function job(events: number): Agent {
  return agent({ name: 'Reporter', description: 'Reports as often as it is told to.' }, async function* () {
    for (let report = 1; report < events; report++) yield working(`Report ${report}`)
    return completed('Done.')
  })
}

/** Until the last event has been delivered or dropped. Event 1 is that the task was made, which is not posted. */
async function posted(server: Server, taskId: string, events: number): Promise<void> {
  for (;;) {
    const deliveries = await server.deliveries(taskId)
    if (deliveries.some(({ number, outcome }) => number === events + 1 && outcome !== 'failed')) return
    await sleep(5)
  }
}

async function send(url: string, push: PushConfig): Promise<string> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'Go.' }] }
  const reply = await fetch(`${url}/message:send`, {
    method: 'POST',
    headers: { 'content-type': 'application/a2a+json', 'a2a-version': '1.0' },
    body: JSON.stringify({ message, configuration: { taskPushNotificationConfig: push } }),
  })
  // The answer of a server that is part of the experiment.
  const { task } = (await reply.json()) as { readonly task: { readonly id: string } }
  return task.id
}

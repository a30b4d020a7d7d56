/** Agents that a test makes by hand, behind pipes, and runs of the checker against them in a world of their own. */

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { checks } from '../../src/check/checks/index.js'
import { createPipes } from '../../src/check/probe-pipe.js'
import { type Report, reportOf } from '../../src/check/report/report.js'
import { type Run, type RunOptions, runChecks } from '../../src/check/run.js'
import { outcomeOf } from '../../src/cli/quiet-clock.js'
import { openSubject } from '../../src/cli/self-test-subject.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'

export const url = 'http://agent.test'

export const card = {
  name: 'By hand',
  description: 'Made by a test.',
  version: '1.2.3',
  supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'one', name: 'One', description: 'The one.', tags: ['one'] }],
}

/** Serves the card, and hands everything else to `answer`. */
export function agentByHand(answer: RequestListener, shown: unknown = card): RequestListener {
  return (request, response) => {
    if (request.url !== '/.well-known/agent-card.json') return answer(request, response)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(shown))
  }
}

type Chosen = Partial<RunOptions> & { readonly only?: readonly string[] }

export async function checkByHand(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  { only, ...options }: Chosen = {},
): Promise<Run> {
  const world = virtualWorld()
  const pipes = createPipes(answer)
  const chosen = only ? checks.filter(({ id }) => only.includes(id)) : checks
  try {
    return await outcomeOf(runChecks({ url, checks: chosen, world, dial: pipes.dial, ...options }), world, pipes)
  } finally {
    pipes.close()
  }
}

/** A run against the clean server of the self-test. */
export async function checkClean({ only, ...options }: Chosen = {}): Promise<Run> {
  const { outcome, close, ...opened } = await openSubject('full')
  const chosen = only ? checks.filter(({ id }) => only.includes(id)) : checks
  try {
    return await outcome(runChecks({ ...opened, checks: chosen, ...options }))
  } finally {
    await close()
  }
}

export const reported = (run: Run, options: Partial<Parameters<typeof reportOf>[1]> = {}): Report => reportOf(run, { url, ...options })

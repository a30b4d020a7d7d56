/** `errand check URL`: a running agent against the protocol, from outside. */

import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { type Binding, bindings, type Check } from '../check/check.js'
import { checks } from '../check/checks/index.js'
import { isMembers } from '../check/json.js'
import { listenForWebhooks } from '../check/probe-webhooks.js'
import { badge } from '../check/report/badge.js'
import { htmlReport } from '../check/report/html.js'
import { humanReport } from '../check/report/human.js'
import { junitReport } from '../check/report/junit.js'
import { exitCodes, type Report, reportOf } from '../check/report/report.js'
import { runChecks } from '../check/run.js'
import { scenarioOf } from '../check/scenario.js'
import { waiversOf } from '../check/waivers.js'
import type { Headers } from '../check/wire.js'
import { isHttpUrl } from '../support/options.js'
import { systemWorld } from '../support/world.js'
import { UsageError } from './usage-error.js'

export const checkUsage = `errand check URL [options]

  --token-a TOKEN       bearer token of a caller; --token-b that of another one
  --auth FILE           headers of two callers instead: { "a": { "X-Key": "…" }, "b": { … } }
  --scenario FILE       messages that lead somewhere: { "inputRequired": "…", "failed": "…", … }
  --transport NAME      JSONRPC or HTTP+JSON; may be given twice. Default: all that the card declares
  --only IDS            checks or areas, with commas: C,E1,S
  --max-messages N      send no more messages than that
  --no-messages         send none
  --timeout SECONDS     for one answer. Default 10
  --public-url URL      where the agent reaches this machine, for push; --webhook-port N is where it listens
  --waive FILE          known failures: [{ "id": "S9", "reason": "…", "until": "2026-12-31" }]
  --min-coverage PART   below it there is no conclusion, 0 to 1. Default 0.6
  --json FILE  --junit FILE  --html FILE  --badge FILE
  --compare FILE        an earlier --json, for the page to show what changed
  --quiet               the conclusion only

Exit codes: 0 conformant, 10 a MUST failed, 11 inconclusive, 3 unreachable, 2 usage.
`

const options = {
  'token-a': { type: 'string' },
  'token-b': { type: 'string' },
  auth: { type: 'string' },
  scenario: { type: 'string' },
  transport: { type: 'string', multiple: true },
  only: { type: 'string' },
  'max-messages': { type: 'string' },
  'no-messages': { type: 'boolean' },
  timeout: { type: 'string' },
  'public-url': { type: 'string' },
  'webhook-port': { type: 'string' },
  waive: { type: 'string' },
  'min-coverage': { type: 'string' },
  json: { type: 'string' },
  junit: { type: 'string' },
  html: { type: 'string' },
  badge: { type: 'string' },
  compare: { type: 'string' },
  quiet: { type: 'boolean' },
} as const

interface Streams {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
}

/**
 * Runs the command and gives its exit code.
 *
 * @throws {UsageError} for arguments and files that cannot be used
 */
export async function checkCommand(args: readonly string[], { out, err }: Streams): Promise<number> {
  const { values, positionals } = parsedArgs(args)
  const [url, ...more] = positionals
  if (!isHttpUrl(url) || more.length > 0) throw new UsageError('check takes one argument: the http or https URL of an agent')
  const identities = await identitiesOf(values)
  const scenario = values.scenario === undefined ? undefined : await fromFile(values.scenario, (given) => scenarioOf(given, systemWorld))
  const waivers = values.waive === undefined ? [] : await fromFile(values.waive, waiversOf)
  const before = values.compare === undefined ? undefined : await fromFile(values.compare, earlierReport)
  const maxMessages = values['no-messages'] ? 0 : numberOf('max-messages', values['max-messages'])
  const minCoverage = numberOf('min-coverage', values['min-coverage'], 1)
  const timeout = numberOf('timeout', values.timeout)
  const chosen = chosenChecks(values.only)
  const transports = transportsOf(values.transport)
  const webhooks = await openWebhooks(url, values)
  try {
    const run = await runChecks({
      url,
      world: systemWorld,
      checks: chosen,
      identities,
      ...(scenario && { scenario }),
      ...(transports && { transports }),
      ...(maxMessages !== undefined && { maxMessages }),
      ...(timeout !== undefined && { timeoutMs: timeout * 1000 }),
      ...(webhooks && { webhooks }),
      onPlan: ({ trials, messages }) => err(`${trials} trials, ${messages} messages at most\n`),
    })
    const report = reportOf(run, { url, waivers, secrets: secretsOf(identities), ...(minCoverage !== undefined && { minCoverage }) })
    await write(values.json, `${JSON.stringify(report, undefined, 1)}\n`)
    await write(values.junit, junitReport(report))
    await write(values.html, htmlReport(report, before))
    await write(values.badge, badge(report))
    out(values.quiet ? `${report.conclusion}\n` : humanReport(report, { colours: process.stdout.isTTY === true }))
    return exitCodes[report.conclusion]
  } finally {
    await webhooks?.close()
  }
}

type Values = ReturnType<typeof parsedArgs>['values']

function parsedArgs(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

async function identitiesOf(values: Values): Promise<{ a?: Headers; b?: Headers }> {
  const bearer = (token: string | undefined) => (token === undefined ? undefined : { Authorization: `Bearer ${token}` })
  const file = values.auth === undefined ? {} : await fromFile(values.auth, callersOf)
  const [a, b] = [bearer(values['token-a']) ?? file.a, bearer(values['token-b']) ?? file.b]
  return { ...(a && { a }), ...(b && { b }) }
}

function callersOf(given: unknown): { a?: Headers; b?: Headers } {
  const isCaller = (one: unknown): one is Headers => isMembers(one) && Object.values(one).every((value) => typeof value === 'string')
  const { a, b, ...rest } = isMembers(given) ? given : { none: true }
  if (Object.keys(rest).length > 0 || !isCaller(a) || (b !== undefined && !isCaller(b)))
    throw new TypeError('it takes an object with a and perhaps b, each an object of headers')
  return { a, ...(b && { b }) }
}

function earlierReport(given: unknown): Pick<Report, 'outcomes' | 'startedAt'> {
  const { outcomes, startedAt } = isMembers(given) ? given : {}
  const isOutcome = (one: unknown) => isMembers(one) && typeof one['id'] === 'string' && typeof one['verdict'] === 'string'
  if (typeof startedAt !== 'string' || !Array.isArray(outcomes) || !outcomes.every(isOutcome))
    throw new TypeError('it is no report of errand check')
  // What is read of it was just looked at.
  return given as unknown as Report
}

function chosenChecks(only: string | undefined): readonly Check[] {
  if (only === undefined) return checks
  const names = only.split(',').map((name) => name.trim())
  const chosen = checks.filter(({ id }) => names.some((name) => id === name || (/^[A-Z]$/.test(name) && id.startsWith(name))))
  const unknown = names.find((name) => !checks.some(({ id }) => id === name || (/^[A-Z]$/.test(name) && id.startsWith(name))))
  if (unknown !== undefined) throw new UsageError(`--only: there is no check or area ${JSON.stringify(unknown)}`)
  return chosen
}

function transportsOf(names: readonly string[] | undefined): readonly Binding[] | undefined {
  return names?.map((name) => {
    const binding = bindings.find((one) => one.toLowerCase() === name.toLowerCase())
    if (!binding) throw new UsageError(`--transport takes ${bindings.join(' or ')}; it got ${JSON.stringify(name)}`)
    return binding
  })
}

function numberOf(name: string, text: string | undefined, most = Number.MAX_SAFE_INTEGER): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (text.trim() === '' || !(number >= 0 && number <= most))
    throw new UsageError(`--${name} takes a number from 0; it got ${JSON.stringify(text)}`)
  return number
}

/** An agent on this machine can reach a receiver here; any other needs to be told where it is. */
async function openWebhooks(url: string, values: Values) {
  const publicUrl = values['public-url']
  const isNear = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname)
  if (publicUrl === undefined && !isNear) return undefined
  if (publicUrl !== undefined && !isHttpUrl(publicUrl)) throw new UsageError('--public-url takes an http or https URL')
  const port = numberOf('webhook-port', values['webhook-port'], 65_535)
  const host = publicUrl === undefined ? '127.0.0.1' : '0.0.0.0'
  return listenForWebhooks({ world: systemWorld, host, ...(port !== undefined && { port }), ...(publicUrl !== undefined && { publicUrl }) })
}

/** Values of headers that prove who is calling, and what stands in their place in reports. */
function secretsOf({ a, b }: { readonly a?: Headers; readonly b?: Headers }): ReadonlyMap<string, string> {
  const secrets = new Map<string, string>()
  for (const [name, headers] of [
    ['A', a],
    ['B', b],
  ] as const) {
    for (const value of Object.values(headers ?? {})) {
      if (value !== undefined) secrets.set(value.replace(/^\w+ /, ''), `$TOKEN_${name}`)
    }
  }
  return secrets
}

async function fromFile<T>(path: string, read: (given: unknown) => T): Promise<T> {
  try {
    return read(JSON.parse(await readFile(path, 'utf8')))
  } catch (cause) {
    throw new UsageError(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

async function write(path: string | undefined, text: string): Promise<void> {
  if (path !== undefined) await writeFile(path, text)
}

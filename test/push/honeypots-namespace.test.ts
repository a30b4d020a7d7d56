/** honeypots.test.ts once more, in a network of its own: there somebody listens at 10.0.0.5, 169.254.169.254 and 127.0.0.1, and the kernel counts. */

import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { honeypots } from '../net/kit.js'
import { listening, publicAddress } from './honeypots-watch.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))
const name = `errand-honeypots-${process.pid}`

const ip = (...words: readonly string[]) => execFileSync('ip', words, { stdio: 'pipe', encoding: 'utf8' })
const inside = (...words: readonly string[]) => ip('netns', 'exec', name, 'ip', ...words)

/** A test that was killed could not take its network away. */
function takeAwayOld(): void {
  for (const [, old = '', pid] of ip('netns', 'list').matchAll(/^(errand-honeypots-(\d+))\b/gm)) {
    if (!existsSync(`/proc/${pid}`)) ip('netns', 'delete', old)
  }
}

/** Why there can be none here; undefined once it is there. */
function makeNetwork(): string | undefined {
  try {
    takeAwayOld()
    ip('netns', 'add', name)
  } catch (error) {
    return `no network namespace can be made here: ${error instanceof Error ? error.message.trim() : String(error)}`
  }
  onTestFinished(() => void ip('netns', 'delete', name))
  try {
    inside('link', 'set', 'lo', 'up')
    for (const address of [...honeypots, publicAddress]) if (address !== '127.0.0.1') inside('address', 'add', `${address}/32`, 'dev', 'lo')
    return undefined
  } catch (error) {
    return `a network namespace cannot be given addresses here: ${error instanceof Error ? error.message.trim() : String(error)}`
  }
}

test('three honeypots with real listeners see nothing, in a network namespace of their own', { timeout: 300_000 }, async (context) => {
  const reason = makeNetwork()
  if (reason !== undefined) {
    process.stderr.write(`skipped: ${reason}\n`)
    context.skip(reason)
  }
  const command = [process.execPath, vitest, 'run', '--reporter=json', '--root', root, 'test/push/honeypots.test.ts']
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], [listening]: 'yes' }
  const ran = promisify(execFile)('ip', ['netns', 'exec', name, ...command], { env, maxBuffer: 64 << 20 })
  const { stdout } = await ran.catch((error: { readonly stdout: string }) => error)
  const { success, numPassedTests, numTotalTests, testResults } = JSON.parse(stdout.slice(stdout.indexOf('{')))
  const failures = testResults.flatMap(({ message, assertionResults }: any) => [
    message,
    ...assertionResults.flatMap(({ failureMessages }: any) => failureMessages),
  ])
  expect(failures.filter((failure: string) => failure !== '')).toEqual([])
  expect([success, numPassedTests]).toEqual([true, numTotalTests])
})

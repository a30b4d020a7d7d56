#!/usr/bin/env node
/** The command `errand`. */

import { checkCommand, checkUsage } from './check.js'
import { selfTestCommand } from './self-test.js'
import { UsageError } from './usage-error.js'

const streams = {
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
}

async function main([command, ...args]: readonly string[]): Promise<number> {
  if (command !== 'check' || args.includes('--help')) {
    streams.out(checkUsage)
    return args.includes('--help') || command === '--help' ? 0 : 2
  }
  return args.includes('--self-test') ? selfTestCommand(args, streams) : checkCommand(args, streams)
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  streams.err(`${error.message}\n`)
  process.exitCode = 2
}

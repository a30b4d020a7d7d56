/** `errand check --self-test`: the checker against a clean server and every planted defect, in as many processes as there are cores. */

import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { checks } from '../check/checks/index.js'
import { defects } from '../check/defects/index.js'
import { type FalseAlarm, judgeMatrix, type Matrix, runCleanServers, runDefects, type SelfTest } from '../check/defects/self-test.js'
import { matrixPage } from '../check/report/matrix.js'
import { openSubject } from './self-test-subject.js'
import { UsageError } from './usage-error.js'

interface Streams {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
}

/** What one process finds out. */
interface Part {
  readonly falseAlarms: readonly FalseAlarm[]
  readonly matrix: Matrix
}

/** More processes than this gain nothing: each pays for its start. */
const mostProcesses = 8

const usage = 'check --self-test takes --json FILE, --html FILE and nothing else'

export async function selfTestCommand(args: readonly string[], { out, err }: Streams): Promise<number> {
  const { part, json, html } = parsed(args)
  if (part !== undefined) {
    out(JSON.stringify(await runPart(part)))
    return 0
  }
  const count = Math.min(mostProcesses, availableParallelism())
  const parts = await Promise.all(Array.from({ length: count }, (_, i) => partInProcess(`${i}/${count}`, err)))
  const found = Object.assign({}, ...parts.map(({ matrix }) => matrix)) as Matrix
  const matrix = Object.fromEntries(defects.map(({ id }) => [id, found[id] ?? []]))
  const result: SelfTest = { falseAlarms: parts.flatMap(({ falseAlarms }) => falseAlarms), ...judgeMatrix(checks, defects, matrix), matrix }
  if (json !== undefined) await writeFile(json, `${matrixText(result)}\n`)
  if (html !== undefined) await writeFile(html, matrixPage(result, defects))
  out(told(result))
  return result.missed.length + result.falseAlarms.length + result.unproved.length === 0 ? 0 : 10
}

function parsed(args: readonly string[]) {
  try {
    const options = {
      'self-test': { type: 'boolean' },
      part: { type: 'string' },
      json: { type: 'string' },
      html: { type: 'string' },
    } as const
    return parseArgs({ args: [...args], options }).values
  } catch (cause) {
    throw new UsageError(usage, { cause })
  }
}

async function runPart(part: string): Promise<Part> {
  const [index = 0, count = 1] = part.split('/').map(Number)
  const own = defects.filter((_, i) => i % count === index)
  return {
    falseAlarms: index === 0 ? await runCleanServers(checks, openSubject) : [],
    matrix: await runDefects(checks, own, openSubject),
  }
}

function partInProcess(part: string, err: Streams['err']): Promise<Part> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [process.argv[1] ?? '', 'check', '--self-test', '--part', part], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
    child.stderr.setEncoding('utf8').on('data', err)
    child.once('error', reject)
    child.once('close', (code) => {
      if (code !== 0) return reject(new Error(`part ${part} of the self-test ended with ${code}`))
      // Written by this very program.
      return resolve(JSON.parse(text) as Part)
    })
  })
}

/** One defect a line, so that a change is a line. */
export function matrixText({ matrix, ...rest }: SelfTest): string {
  const lines = Object.entries(matrix).map(([defect, caught]) => `    ${JSON.stringify(defect)}: ${JSON.stringify(caught)}`)
  const others = Object.entries(rest).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
  return `{\n${others.join(',\n')},\n  "matrix": {\n${lines.join(',\n')}\n  }\n}`
}

function told({ matrix, missed, falseAlarms, unproved, caught, defects: all, checks: known }: SelfTest): string {
  const width = Math.max(...Object.keys(matrix).map(({ length }) => length))
  return [
    ...Object.entries(matrix).map(([defect, failed]) => `${defect.padEnd(width)}  ${failed.join(' ') || 'not caught'}`),
    '',
    ...missed.map(({ defect, check }) => `MISSED: ${check} does not catch ${defect}`),
    ...falseAlarms.map(
      (alarm) =>
        `FALSE ALARM: ${alarm.check} on ${alarm.binding} of the clean server (${alarm.profile}): wanted ${alarm.wanted}, got ${alarm.got}`,
    ),
    ...unproved.map((check) => `UNPROVED: no defect makes ${check} fail without a flood of others`),
    `${caught.length} of ${all.length} defects caught by ${known.length} checks, ${falseAlarms.length} false alarms`,
    '',
  ].join('\n')
}

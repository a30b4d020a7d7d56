/** Each small example, run as a reader runs it, prints what it is there to show, ends by itself and leaves nothing behind. */

import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'

const printed = {
  hello: ['Hello, Ada!'],
  streaming: [
    'TASK_STATE_WORKING Looking at a snail',
    'line Slowly,',
    'line Slowly, slowly',
    'line Slowly, slowly climbs a snail.',
    'TASK_STATE_COMPLETED It is a short one.',
  ],
  question: ['For how many people? four', 'Inside or on the terrace? on the terrace', 'A table for four, on the terrace.'],
  resume: ['1', '2', '3', 'the cable is pulled', 'the client goes on after event 5', '4', '5', '6', 'all of it: 123456'],
  push: [
    'The task is there; the caller hangs up',
    'TASK_STATE_WORKING Kneading rye bread',
    'TASK_STATE_WORKING In the oven',
    'receipt One of rye bread',
    'TASK_STATE_COMPLETED It is ready.',
  ],
}

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'errand-small-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test.each(Object.entries(printed))('%s', async (name, lines) => {
  const program = fileURLToPath(new URL(`../../dist/examples/small/${name}.js`, import.meta.url))
  // One that does not end is killed before the test gives up on it.
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program], { cwd: folder, timeout: 25_000 })
  expect(stdout.trimEnd().split('\n')).toEqual(lines)
  expect(stderr).toBe('')
  expect(await readdir(folder)).toEqual([])
})

test('there is no other', async () => {
  const files = await readdir(new URL('../../examples/small/', import.meta.url))
  expect(files.sort()).toEqual(
    Object.keys(printed)
      .map((name) => `${name}.ts`)
      .sort(),
  )
})

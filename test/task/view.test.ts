/** What one request sees of a task. */

import { expect, test } from 'vitest'
import type { Task } from '../../src/protocol/wire.js'
import { viewTask } from '../../src/task/view.js'
import vectors from '../../vectors/task/view.json' with { type: 'json' }

const text = JSON.stringify(vectors.task)

test.each(vectors.tests)('$id: $comment ($spec)', ({ view, history, artifacts }) => {
  const seen: Task = JSON.parse(viewTask(text, view))
  expect(seen.history?.map(({ messageId }) => messageId)).toEqual(history)
  expect(seen.artifacts?.map(({ artifactId }) => artifactId)).toEqual(artifacts)
  expect('history' in seen).toBe(history !== undefined)
  expect('artifacts' in seen).toBe(artifacts !== undefined)
  expect({ ...seen, history: 0, artifacts: 0 }).toEqual({ ...vectors.task, history: 0, artifacts: 0 })
})

test('with nothing to change the text is not even parsed', () => {
  expect(viewTask('no JSON', {})).toBe('no JSON')
})

test('a list that includes artifacts has the member when there are none (§3.1.4)', () => {
  const bare = '{"id":"t","status":{"state":"TASK_STATE_WORKING"}}'
  expect(JSON.parse(viewTask(bare, { includeArtifacts: true })).artifacts).toEqual([])
})

test('the status shown is the one given', () => {
  const status = { state: 'TASK_STATE_COMPLETED', timestamp: '2026-01-01T00:00:00.000Z' }
  expect(JSON.parse(viewTask(text, { status: JSON.stringify(status) }))).toEqual({ ...vectors.task, status })
})

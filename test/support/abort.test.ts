/** Signals whose listeners may throw. */

import { expect, test, vi } from 'vitest'
import { guardedSignal } from '../../src/support/abort.js'

const boom = () => {
  throw new Error('boom')
}

test('what a listener throws goes to the one who asked, and the other listeners are called', () => {
  const source = new AbortController()
  const thrown = vi.fn()
  const signal = guardedSignal(source.signal, thrown)
  const called = vi.fn()
  signal.addEventListener('abort', boom)
  signal.addEventListener('abort', { handleEvent: boom })
  signal.onabort = () => boom()
  signal.addEventListener('abort', called)
  source.abort('over')
  expect(thrown).toHaveBeenCalledTimes(3)
  expect(called).toHaveBeenCalledTimes(1)
  expect(signal.reason).toBe('over')
})

test('a listener can be taken back, however it was added', () => {
  const source = new AbortController()
  const signal = guardedSignal(source.signal, () => {})
  const called = vi.fn()
  const object = { handleEvent: called }
  signal.addEventListener('abort', called)
  signal.removeEventListener('abort', called)
  signal.addEventListener('abort', object)
  signal.removeEventListener('abort', object)
  signal.onabort = called
  expect(signal.onabort).toBe(called)
  signal.onabort = null
  source.abort()
  expect(called).not.toHaveBeenCalled()
})

test('a source that was aborted before makes a signal that is', () => {
  const signal = guardedSignal(AbortSignal.abort('early'), () => {})
  expect(signal.aborted).toBe(true)
  expect(signal.reason).toBe('early')
})

test('what takes a signal takes this one', async () => {
  const source = new AbortController()
  const signal = guardedSignal(source.signal, () => {})
  const any = AbortSignal.any([signal])
  const request = new Request('http://agent.test', { signal })
  source.abort('over')
  expect(any.aborted).toBe(true)
  expect(request.signal.aborted).toBe(true)
})

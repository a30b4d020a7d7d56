/** What is logged: that something broke, and nothing that a caller wants kept secret. Spec §3.3.2, §13.4. */

import { describe, expect, test } from 'vitest'
import { bearerTokens } from '../../../src/index.js'
import { scriptAgent } from '../../harness/script-agent.js'
import { bindingNames, call, result, userMessage } from '../../harness/server.js'
import { openStill, withStore } from '../../runtime/kit.js'

describe.each(bindingNames)('over %s', (binding) => {
  test('a failure of the store is logged with its cause, and not shown', async () => {
    const broken = withStore(() => ({ list: () => Promise.reject(new Error('the disk is full')) }))
    const { fetch, lines } = await openStill(scriptAgent, { store: broken })
    const { text } = await call(fetch, binding, 'ListTasks', {})
    expect(text).not.toContain('disk')
    expect(lines.filter(({ level }) => level === 'error').map(({ fields }) => String(fields['error']))).toEqual(['Error: the disk is full'])
  })

  test('what an agent throws is logged', async () => {
    const { fetch, lines } = await openStill(scriptAgent)
    await result(fetch, binding, 'SendMessage', { message: userMessage('throw') })
    expect(lines.some(({ level, fields }) => level === 'error' && String(fields['error']).includes('secret detail'))).toBe(true)
  })

  test('no line holds a token, the credentials of a webhook or what was said', async () => {
    const { fetch, lines } = await openStill(scriptAgent, { push: true, auth: bearerTokens({ 'tok-secret': 'alice' }) })
    const as = { as: 'tok-secret' }
    const taskPushNotificationConfig = {
      url: 'https://hook.test/',
      token: 'hook-secret',
      authentication: { scheme: 'Bearer', credentials: 'cred-secret' },
    }
    for (const text of ['echo word-secret', 'throw word-secret', 'fail word-secret', 'ask word-secret'])
      await call(fetch, binding, 'SendMessage', { message: userMessage(text), configuration: { taskPushNotificationConfig } }, as)
    await call(fetch, binding, 'SendMessage', { message: { parts: 'word-secret' } }, as)
    await call(fetch, binding, 'ListTasks', {}, { as: 'wrong-secret' })
    expect(JSON.stringify(lines)).not.toMatch(/(tok|hook|cred|word|wrong)-secret/)
  })
})

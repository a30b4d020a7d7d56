/** Field cases of push configurations: how they are kept and shown. Delivery has its own. */

import { describe, expect, test } from 'vitest'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, call, refusal, result, userMessage } from '../harness/server.js'
import { openStill } from '../runtime/kit.js'

const url = 'https://hook.test/path?query=1'
const secrets = { token: 'secret-token', authentication: { scheme: 'Bearer', credentials: 'secret-credentials' } }

describe.each(bindingNames)('over %s', (binding) => {
  const open = async () => {
    const { fetch, lines } = await openStill(scriptAgent, { push: true })
    const { task } = await result(fetch, binding, 'SendMessage', { message: userMessage('ask') })
    return { fetch, lines, taskId: task.id as string }
  }

  test('F061 one configuration takes the place of another: without an id each has its own, with an id it is replaced', async () => {
    const { fetch, taskId } = await open()
    const create = (more: object = {}) => result(fetch, binding, 'CreateTaskPushNotificationConfig', { taskId, url, ...more })
    const [one, two] = [await create(), await create()]
    expect(new Set([one.id, two.id, taskId]).size).toBe(3)
    const list = async () => (await result(fetch, binding, 'ListTaskPushNotificationConfigs', { taskId })).configs
    expect(await list()).toEqual([one, two])
    const again = await create({ id: one.id, url: 'https://other.test/' })
    expect(again).toEqual({ id: one.id, taskId, url: 'https://other.test/' })
    expect(await list()).toEqual([again, two])
  })

  test('F062 a configuration read otherwise elsewhere: each binding shows the same, and the task in the path wins', async () => {
    const { fetch, taskId } = await open()
    const made = await result(fetch, binding, 'CreateTaskPushNotificationConfig', { taskId, id: 'mine', url, ...secrets })
    expect(made).toEqual({ id: 'mine', taskId, url, authentication: { scheme: 'Bearer' } })
    for (const other of bindingNames) {
      expect(await result(fetch, other, 'GetTaskPushNotificationConfig', { taskId, id: 'mine' })).toEqual(made)
      expect(await result(fetch, other, 'ListTaskPushNotificationConfigs', { taskId })).toEqual({ configs: [made], nextPageToken: '' })
    }
    const other = bindingNames.find((name) => name !== binding) ?? binding
    expect(await result(fetch, other, 'DeleteTaskPushNotificationConfig', { taskId, id: 'mine' })).toEqual({})
    expect(await result(fetch, binding, 'ListTaskPushNotificationConfigs', { taskId })).toEqual({ configs: [], nextPageToken: '' })
    const mismatch = new Request(`http://agent.test/rest/tasks/${taskId}/pushNotificationConfigs`, {
      method: 'POST',
      headers: { 'a2a-version': '1.0', authorization: 'Bearer alice', 'content-type': 'application/json' },
      body: JSON.stringify({ taskId: 'another', url }),
    })
    expect(await (await fetch(mismatch)).json()).toMatchObject({
      error: { code: 400, details: [{ reason: 'INVALID_PARAMS' }, { fieldViolations: [{ field: 'taskId' }] }] },
    })
  })

  test('F064 secrets that are told: token and credentials show in no answer, no task, no list and no log', async () => {
    const { fetch, lines, taskId } = await open()
    const texts = [
      await call(fetch, binding, 'CreateTaskPushNotificationConfig', { taskId, id: 'mine', url, ...secrets }),
      await call(fetch, binding, 'GetTaskPushNotificationConfig', { taskId, id: 'mine' }),
      await call(fetch, binding, 'ListTaskPushNotificationConfigs', { taskId }),
      await call(fetch, binding, 'SendMessage', {
        message: userMessage('throw'),
        configuration: { taskPushNotificationConfig: { url, ...secrets } },
      }),
      await call(fetch, binding, 'CreateTaskPushNotificationConfig', { taskId, ...secrets, url: 'no url' }),
      await call(fetch, binding, 'ListTasks', { includeArtifacts: true }),
    ].map(({ text }) => text)
    expect(texts.join() + JSON.stringify(lines)).not.toContain('secret')
    expect(texts[1]).toContain('Bearer')
  })

  test('F008 an address that is none: what is no http address, or holds a password, is refused by its name, both ways', async () => {
    const { fetch, taskId } = await open()
    for (const bad of ['no url', '', 'ftp://hook.test/', 'file:///etc/passwd', 'javascript:alert(1)', 'https://user:pass@hook.test/']) {
      expect(await refusal(fetch, binding, 'CreateTaskPushNotificationConfig', { taskId, url: bad })).toMatchObject({
        reason: 'INVALID_PARAMS',
        fields: ['url'],
      })
      const inside = { message: userMessage('x'), configuration: { taskPushNotificationConfig: { url: bad } } }
      expect(await refusal(fetch, binding, 'SendMessage', inside)).toMatchObject({
        fields: ['configuration.taskPushNotificationConfig.url'],
      })
    }
    expect((await result(fetch, binding, 'ListTasks', {})).totalSize).toBe(1)
  })
})

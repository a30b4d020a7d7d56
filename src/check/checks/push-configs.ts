/** P1–P22: configurations of push notifications. Spec §3.1.7–3.1.10, §4.3, §13.2. */

import { check } from '../check.js'
import { at, brief, listAt, type Members, same, textAt } from '../json.js'
import type { Trial } from '../trial.js'
import { tell } from '../wire.js'

const needs = ['push'] as const

const hook = (t: Trial) => `https://example.com/hooks/${t.fresh()}`

/** A configuration of the finished task, or there is nothing to judge. */
async function made(t: Trial, more: Members = {}) {
  const taskId = String((await t.finished())['id'])
  const url = hook(t)
  const config = await t.ready('CreateTaskPushNotificationConfig', { taskId, url, ...more })
  return { taskId, url, config, id: textAt(config, 'id') }
}

/** Addresses that must not be called: each in one of its forms. */
const closed: readonly (readonly [id: string, what: string, url: string])[] = [
  ['P11', 'this machine', 'https://127.0.0.1/hook'],
  ['P12', 'this machine by its name', 'https://localhost/hook'],
  ['P13', 'this machine in IPv6', 'https://[::1]/hook'],
  ['P14', 'a private network', 'https://10.1.2.3/hook'],
  ['P15', 'the metadata of a cloud', 'http://169.254.169.254/latest/meta-data/'],
  ['P16', 'a private network inside of IPv6', 'https://[::ffff:192.168.0.1]/hook'],
  ['P17', 'this machine as one number', 'https://0x7f000001/hook'],
  ['P18', 'the network of a carrier', 'https://100.64.0.1/hook'],
  ['P19', 'another scheme', 'file:///etc/passwd'],
  ['P20', 'an address with credentials in it', 'https://user:word@example.com/hook'],
]

export const pushConfigChecks = [
  check(
    'P1',
    ['MUST', '3.1.7'],
    'A configuration that was made is answered with its id, its task and its address.',
    { needs },
    async (t) => {
      const taskId = String((await t.finished())['id'])
      const url = hook(t)
      const config = await t.must('CreateTaskPushNotificationConfig', { taskId, url })
      t.want(
        textAt(config, 'id') !== '' && textAt(config, 'url') === url && textAt(config, 'taskId') === taskId,
        'id, taskId and url',
        brief(config),
      )
    },
  ),
  check('P2', ['MUST', '3.1.8'], 'A configuration is read as it was made.', { needs }, async (t) => {
    const { taskId, id, url } = await made(t, { authentication: { scheme: 'Bearer', credentials: 'secret' } })
    const config = await t.must('GetTaskPushNotificationConfig', { taskId, id })
    t.want(textAt(config, 'id') === id && textAt(config, 'url') === url, `id ${id}, url ${url}`, brief(config))
    t.want(textAt(config, 'authentication.scheme') === 'Bearer', 'the scheme Bearer', brief(config))
  }),
  check('P3', ['MUST', '3.1.9'], 'The configurations of a task are listed completely.', { needs, messages: 1 }, async (t) => {
    const taskId = (await t.begin('complete'))['id']
    const ids: string[] = []
    for (let i = 0; i < 3; i++) ids.push(textAt(await t.ready('CreateTaskPushNotificationConfig', { taskId, url: hook(t) }), 'id'))
    const list = listAt(await t.must('ListTaskPushNotificationConfigs', { taskId }), 'configs').map((config) => textAt(config, 'id'))
    t.want(same([...list].sort(), [...ids].sort()), ids.join(', '), list)
  }),
  check('P4', ['MUST', '3.1.10'], 'A configuration that was deleted is gone.', { needs }, async (t) => {
    const { taskId, id } = await made(t)
    await t.must('DeleteTaskPushNotificationConfig', { taskId, id })
    await t.refuses('GetTaskPushNotificationConfig', { taskId, id }, ['TaskNotFoundError'])
  }),
  check('P5', ['MUST', '3.1.10'], 'Deleting a configuration again does what deleting it once did.', { needs }, async (t) => {
    const { taskId, id } = await made(t)
    await t.ready('DeleteTaskPushNotificationConfig', { taskId, id })
    const again = await t.call('DeleteTaskPushNotificationConfig', { taskId, id })
    t.want(again.kind === 'result', 'a result', tell(t.binding, again))
  }),
  check('P6', ['MUST', '3.1.7'], 'Two configurations without an id are two.', { needs }, async (t) => {
    const [one, two] = [await made(t), await made(t)]
    t.want(one.id !== two.id, 'two ids', one.id)
  }),
  check('P7', ['MUST', '3.1.7'], 'A configuration with the id of another one of its task takes its place.', { needs }, async (t) => {
    const { taskId, id } = await made(t)
    const url = hook(t)
    await t.must('CreateTaskPushNotificationConfig', { taskId, id, url })
    const configs = listAt(await t.ready('ListTaskPushNotificationConfigs', { taskId }), 'configs').filter(
      (config) => at(config, 'id') === id,
    )
    t.want(configs.length === 1 && textAt(configs[0], 'url') === url, `one configuration ${id} with ${url}`, brief(configs))
  }),
  check('P8', ['SHOULD', '13.2'], 'Reading a configuration shows no credentials.', { needs }, async (t) => {
    const secrets = { token: `token-${t.fresh()}`, authentication: { scheme: 'Bearer', credentials: `credentials-${t.fresh()}` } }
    const { taskId, id } = await made(t, secrets)
    const config = JSON.stringify(await t.ready('GetTaskPushNotificationConfig', { taskId, id }))
    const shown = [secrets.token, secrets.authentication.credentials].filter((secret) => config.includes(secret))
    t.want(shown.length === 0, 'a configuration without token and credentials', config)
  }),
  check('P9', ['SHOULD', '13.2'], 'Listing configurations shows no credentials.', { needs }, async (t) => {
    const secrets = { token: `token-${t.fresh()}`, authentication: { scheme: 'Bearer', credentials: `credentials-${t.fresh()}` } }
    const { taskId } = await made(t, secrets)
    const list = JSON.stringify(await t.ready('ListTaskPushNotificationConfigs', { taskId }))
    const shown = [secrets.token, secrets.authentication.credentials].filter((secret) => list.includes(secret))
    t.want(shown.length === 0, 'configurations without token and credentials', list)
  }),
  check('P10', ['MUST', '3.1.7'], 'A configuration for a task that is not there is TaskNotFound.', { needs }, async (t) => {
    await t.refuses('CreateTaskPushNotificationConfig', { taskId: `not-there-${t.fresh()}`, url: hook(t) }, ['TaskNotFoundError'])
  }),
  ...closed.map(([id, what, url]) =>
    check(id, ['SHOULD', '13.2'], `A webhook cannot be ${what}.`, { needs }, async (t) => {
      const answer = await t.call('CreateTaskPushNotificationConfig', { taskId: (await t.finished())['id'], url })
      t.want(answer.kind === 'error' && answer.http < 500, `a refusal of ${url}`, tell(t.binding, answer))
    }),
  ),
  check('P21', ['SHOULD', '13.2'], 'A webhook in a send cannot be in a private network either.', { needs, messages: 1 }, async (t) => {
    const configuration = { taskPushNotificationConfig: { url: 'https://192.168.1.1/hook' } }
    const answer = await t.call('SendMessage', { message: t.prompt('complete'), configuration })
    t.want(answer.kind === 'error' && answer.http < 500, 'a refusal', tell(t.binding, answer))
  }),
  check('P22', ['MUST', '5.7'], 'A configuration without an address is refused.', { needs }, async (t) => {
    await t.refuses('CreateTaskPushNotificationConfig', { taskId: (await t.finished())['id'] }, ['InvalidParamsError'])
  }),
  check('P23', ['MUST', '3.1.8'], 'Reading a configuration that is not there is TaskNotFound.', { needs }, async (t) => {
    await t.refuses('GetTaskPushNotificationConfig', { taskId: (await t.finished())['id'], id: `none-${t.fresh()}` }, ['TaskNotFoundError'])
  }),
  check('P24', ['SHOULD', '13.2'], 'A credential that would break into the headers is refused.', { needs }, async (t) => {
    const authentication = { scheme: 'Bearer', credentials: 'a\r\nX-Evil: yes' }
    const answer = await t.call('CreateTaskPushNotificationConfig', { taskId: (await t.finished())['id'], url: hook(t), authentication })
    t.want(answer.kind === 'error' && answer.http < 500, 'a refusal', tell(t.binding, answer))
  }),
]

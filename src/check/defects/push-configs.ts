/** Defects of push configurations. */

import { listAt, type Members, put, textAt } from '../json.js'
import { type Defect, defect } from './defect.js'
import { errorReply, isOf, onParams, onResult, reasonOf, resultOf, resultReply, withParams } from './seam.js'

const create = 'CreateTaskPushNotificationConfig'
const get = 'GetTaskPushNotificationConfig'
const list = 'ListTaskPushNotificationConfigs'
const remove = 'DeleteTaskPushNotificationConfig'

const open = 'https://example.com/taken'

/** An address of this form is let through. */
const takes = (form: RegExp) => () =>
  onParams(create, (params) => (form.test(textAt(params, 'url')) ? { ...params, url: open } : undefined))

const guards: readonly (readonly [id: string, check: string, what: string, form: RegExp])[] = [
  ['guard_loopback', 'P11', 'A webhook may be on the machine itself.', /\/\/127\.0\.0\.1/],
  ['guard_localhost', 'P12', 'A webhook may be on the machine itself, by name.', /\/\/localhost/],
  ['guard_loopback_v6', 'P13', 'A webhook may be on the machine itself, in IPv6.', /\/\/\[::1\]/],
  ['guard_private', 'P14', 'A webhook may be in a private network.', /\/\/10\./],
  ['guard_metadata', 'P15', 'A webhook may be the metadata of a cloud.', /169\.254/],
  ['guard_mapped', 'P16', 'A webhook may be in a private network, written as IPv6.', /ffff:/],
  ['guard_hexadecimal', 'P17', 'A webhook may be on the machine itself, written as one number.', /0x7f/],
  ['guard_carrier', 'P18', 'A webhook may be in the network of a carrier.', /100\.64/],
  ['guard_scheme', 'P19', 'A webhook may have any scheme.', /^file:/],
  ['guard_userinfo', 'P20', 'A webhook may have credentials in its address.', /user:word@/],
]

export const pushConfigDefects: readonly Defect[] = [
  defect('config_without_task', '3.1.7', 'P1', 'A configuration is answered without its task.', () =>
    onResult(create, (config) => put(config, 'taskId', undefined)),
  ),
  defect('config_without_scheme', '3.1.8', 'P2', 'Reading a configuration does not show its scheme.', () =>
    onResult(get, (config) => put(config, 'authentication', undefined)),
  ),
  defect('configs_cut', '3.1.9', 'P3', 'A list of configurations has two at most.', () =>
    onResult(list, (page, { params }) =>
      params['pageSize'] === undefined && listAt(page, 'configs').length === 3
        ? put(page, 'configs', listAt(page, 'configs').slice(0, 2))
        : page,
    ),
  ),
  defect('deleted_config_stays', '3.1.10', 'P4', 'A configuration that was deleted can still be read.', () => {
    const known = new Map<string, unknown>()
    return async (incoming, next) => {
      const id = textAt(incoming.params, 'id')
      const reply = await next(incoming)
      if (isOf(incoming, create)) known.set(textAt(resultOf(incoming, reply), 'id'), resultOf(incoming, reply))
      return isOf(incoming, get) && known.has(id) && reasonOf(reply) === 'TASK_NOT_FOUND' ? resultReply(incoming, known.get(id)) : reply
    }
  }),
  defect('deletes_once', '3.1.10', 'P5', 'Deleting a configuration again is an error.', () => {
    const deleted = new Set<string>()
    return async (incoming, next) => {
      const id = textAt(incoming.params, 'id')
      if (!isOf(incoming, remove) || incoming.who === 'bob-token') return next(incoming)
      if (deleted.has(id)) return errorReply(incoming, 'TaskNotFoundError')
      deleted.add(id)
      return next(incoming)
    }
  }),
  defect('one_config_per_task', '3.1.7', 'P6', 'A configuration without an id gets that of the task.', () =>
    onParams(create, (params) =>
      params['id'] === undefined && params['taskId'] !== undefined ? { ...params, id: params['taskId'] } : undefined,
    ),
  ),
  defect('config_id_not_kept', '3.1.7', 'P7', 'A configuration always gets an id of its own.', () =>
    onParams(create, (params) => put(params, 'id', undefined) as Members),
  ),
  defect('config_shows_credentials', '13.2', 'P8', 'Reading a configuration shows its credentials.', () => {
    const secrets = new Map<string, Members>()
    return async (incoming, next) => {
      const reply = await next(incoming)
      const config = resultOf(incoming, reply)
      if (isOf(incoming, create) && config !== undefined) secrets.set(textAt(config, 'id'), incoming.params)
      const known = secrets.get(textAt(config, 'id'))
      if (!isOf(incoming, get) || known?.['token'] === undefined) return reply
      return resultReply(incoming, put(config, 'authentication', known['authentication']))
    }
  }),
  defect('configs_show_token', '13.2', 'P9', 'Listing configurations shows their tokens.', () => {
    const tokens = new Map<string, unknown>()
    return async (incoming, next) => {
      const reply = await next(incoming)
      const result = resultOf(incoming, reply)
      if (isOf(incoming, create)) tokens.set(textAt(result, 'id'), incoming.params['token'])
      if (!isOf(incoming, list) || result === undefined) return reply
      return resultReply(
        incoming,
        put(
          result,
          'configs',
          listAt(result, 'configs').map((config) => put(config, 'token', tokens.get(textAt(config, 'id')))),
        ),
      )
    }
  }),
  defect('config_of_nothing', '3.1.7', 'P10', 'A configuration is made for a task that is not there.', () => async (incoming, next) => {
    const isNothing = isOf(incoming, create) && textAt(incoming.params, 'taskId').startsWith('not-there')
    return isNothing
      ? resultReply(incoming, { id: 'made', taskId: incoming.params['taskId'], url: incoming.params['url'] })
      : next(incoming)
  }),
  ...guards.map(([id, caughtBy, what, form]) => defect(id, '13.2', caughtBy, what, takes(form))),
  defect('guard_forgotten_in_send', '13.2', 'P21', 'The webhook in a send is not looked at.', () =>
    onParams('SendMessage', (params) =>
      /192\.168/.test(textAt(params, 'configuration.taskPushNotificationConfig.url'))
        ? (put(params, 'configuration.taskPushNotificationConfig.url', open) as Members)
        : undefined,
    ),
  ),
  defect('config_without_address', '5.7', 'P22', 'A configuration without an address is taken.', () =>
    onParams(create, (params) => (params['url'] === undefined ? { ...params, url: open } : undefined)),
  ),
  defect(
    'missing_config_breaks',
    '3.1.8',
    'P23',
    'Reading a configuration that is not there is an internal error.',
    () => async (incoming, next) =>
      isOf(incoming, get) && textAt(incoming.params, 'id').startsWith('none-') ? errorReply(incoming, 'InternalError') : next(incoming),
  ),
  defect(
    'takes_line_breaks',
    '13.2',
    'P24',
    'Credentials may have line breaks.',
    () => (incoming, next) =>
      next(
        isOf(incoming, create) && /[\r\n]/.test(textAt(incoming.params, 'authentication.credentials'))
          ? withParams(incoming, put(incoming.params, 'authentication.credentials', 'a') as Members)
          : incoming,
      ),
  ),
]

/** V and X: versions and extensions. Spec §3.6, §4.6. */

import { check } from '../check.js'
import { headerOf } from '../exchange.js'
import { at, brief, listAt, same, textAt } from '../json.js'
import { optionalExtensions } from '../run.js'
import type { Trial } from '../trial.js'
import { requiredExtensions } from '../trial.js'
import { NotApplicable, NotProvoked } from '../verdict.js'
import { addressOf, headerList, isError, tell } from '../wire.js'

async function servesVersion(t: Trial, version: string): Promise<void> {
  const answer = await t.call('ListTasks', {}, { headers: { 'A2A-Version': version } })
  t.want(answer.kind === 'result', `a result under version ${version}`, tell(t.binding, answer))
}

const refusesVersion = (version: string) => async (t: Trial) => {
  await t.refuses('ListTasks', {}, ['VersionNotSupportedError'], { headers: { 'A2A-Version': version } })
}

/** A version that is 0.3 by its absence: served as that, or not spoken. */
async function isOldVersion(t: Trial, version: string | undefined): Promise<void> {
  const answer = await t.call('ListTasks', {}, { headers: { 'A2A-Version': version } })
  if (answer.kind === 'error' && isError(t.binding, answer, 'VersionNotSupportedError'))
    return t.reading('a request without a version', 'is VersionNotSupported')
  const isNew = answer.kind === 'result' && listAt(answer.result, 'tasks').length >= 0 && at(answer.result, 'totalSize') !== undefined
  t.want(!isNew, 'VersionNotSupported, or an answer of version 0.3', tell(t.binding, answer))
  t.reading('a request without a version', 'is served as version 0.3')
}

const activated = (header: string | undefined) =>
  (header ?? '')
    .split(',')
    .map((uri) => uri.trim())
    .filter((uri) => uri !== '')

const unknown = 'https://example.com/extensions/unheard-of/v1'

export const versionChecks = [
  check('V1', ['MUST', '3.6.2'], 'A version that is not spoken is VersionNotSupported.', {}, refusesVersion('99.0')),
  check('V2', ['MUST', '3.6.2'], 'The version that an interface of the card names is served there.', {}, async (t) => {
    for (const one of listAt(t.card, 'supportedInterfaces')) {
      const [url, version] = [textAt(one, 'url'), textAt(one, 'protocolVersion')]
      if (textAt(one, 'protocolBinding') === t.binding && url === t.door.url && version.startsWith('1')) await servesVersion(t, version)
    }
  }),
  check('V3', ['MUST', '3.6'], 'A patch number changes nothing in the choice of a version.', {}, (t) => servesVersion(t, '1.0.1')),
  check('V4', ['MUST', '3.6.2'], 'No version means 0.3.', {}, (t) => isOldVersion(t, undefined)),
  check('V5', ['MUST', '3.6.2'], 'An empty version means 0.3.', {}, (t) => isOldVersion(t, '')),
  check('V6', ['MUST', '3.6.2'], 'What is no version is VersionNotSupported.', {}, refusesVersion('newest')),
  check('V7', ['MUST', '3.6.2'], 'A later version of the same kind is VersionNotSupported.', {}, refusesVersion('1.7')),
  check('V8', ['SHOULD', '3.6.2'], 'VersionNotSupported names the versions that are spoken.', {}, async (t) => {
    const answer = await t.call('ListTasks', {}, { headers: { 'A2A-Version': '99.0' } })
    if (answer.kind !== 'error') throw new NotProvoked('the version was taken')
    t.want(/\b1\.0\b/.test(JSON.stringify(answer.body)), 'the version 1.0 in the error', brief(answer.body))
  }),
  check(
    'V9',
    ['MUST', '3.6.2'],
    'A stream in a version that is not spoken is refused, and not opened.',
    { needs: ['streaming'], messages: 1 },
    async (t) => {
      await t.refuses('SendStreamingMessage', { message: t.prompt('complete') }, ['VersionNotSupportedError'], {
        headers: { 'A2A-Version': '99.0' },
      })
    },
  ),
  check('V10', ['MUST', '3.6.2'], 'A message in a version that is not spoken makes no task.', { messages: 1 }, async (t) => {
    const before = at(await t.ready('ListTasks', { pageSize: 1 }), 'totalSize')
    await t.call('SendMessage', { message: t.prompt('complete') }, { headers: { 'A2A-Version': '99.0' } })
    const after = at(await t.ready('ListTasks', { pageSize: 1 }), 'totalSize')
    t.want(before === after, `${before} tasks`, after)
  }),
  check('V11', ['SHOULD', '3.6.1'], 'The version is taken from the query where there is no header.', { on: 'HTTP+JSON' }, async (t) => {
    const headers = headerList({ ...t.headersOf(), 'A2A-Version': undefined })
    const exchange = await t.send({ method: 'GET', url: addressOf(t.door, '/tasks?A2A-Version=1.0'), headers })
    t.want(exchange.status === 200, 'HTTP 200', `HTTP ${exchange.status}: ${brief(exchange.body)}`)
  }),
  check('X1', ['MUST', '4.6.3'], 'An extension that the agent does not know does no harm.', {}, async (t) => {
    const extensions = [...requiredExtensions(t.card), unknown].join(', ')
    const answer = await t.call('ListTasks', {}, { headers: { 'A2A-Extensions': extensions } })
    t.want(answer.kind === 'result', 'a result', tell(t.binding, answer))
  }),
  check(
    'X2',
    ['MUST', '3.3.4'],
    'A request without a required extension is ExtensionSupportRequired.',
    { needs: ['required extension'], messages: 1 },
    async (t) => {
      await t.refuses('SendMessage', { message: t.prompt('complete') }, ['ExtensionSupportRequiredError'], {
        headers: { 'A2A-Extensions': undefined },
      })
    },
  ),
  check(
    'X3',
    ['MUST', '4.6.3'],
    'Another version of a required extension does not stand for it.',
    { needs: ['required extension'], messages: 1 },
    async (t) => {
      const others = requiredExtensions(t.card).map((uri) => `${uri}/v999`)
      await t.refuses('SendMessage', { message: t.prompt('complete') }, ['ExtensionSupportRequiredError'], {
        headers: { 'A2A-Extensions': others.join(', ') },
      })
    },
  ),
  check(
    'X4',
    ['SHOULD', '4.6'],
    'An extension that was activated is named in the answer.',
    { needs: ['optional extension'], messages: 1 },
    async (t) => {
      const [uri = ''] = optionalExtensions(t.card)
      const answer = await t.call('SendMessage', { message: t.prompt('complete') }, { headers: { 'A2A-Extensions': uri } })
      if (answer.kind !== 'result') throw new NotProvoked(tell(t.binding, answer))
      const named = activated(headerOf(answer.exchange, 'a2a-extensions'))
      t.want(named.includes(uri), `A2A-Extensions: ${uri}`, named.join(', ') || 'none')
    },
  ),
  check('X5', ['MUST', '4.6'], 'An extension that the agent does not know is not named as active.', { messages: 1 }, async (t) => {
    const extensions = [...requiredExtensions(t.card), unknown].join(', ')
    const answer = await t.call('SendMessage', { message: t.prompt('complete') }, { headers: { 'A2A-Extensions': extensions } })
    if (answer.kind !== 'result') throw new NotProvoked(tell(t.binding, answer))
    const named = activated(headerOf(answer.exchange, 'a2a-extensions'))
    t.want(!named.includes(unknown), 'an answer without it', named)
  }),
  check(
    'X6',
    ['MUST', '3.3.2'],
    'A message that lacks a required extension leaves nothing behind.',
    { needs: ['required extension'], messages: 2 },
    async (t) => {
      const { id } = await t.begin('inputRequired')
      const before = listAt(await t.task(String(id)), 'history')
      await t.call('SendMessage', { message: t.prompt('answer', { taskId: id }) }, { headers: { 'A2A-Extensions': undefined } })
      const after = await t.task(String(id))
      t.want(same(before, listAt(after, 'history')), 'the history as before', brief(at(after, 'history')))
      t.want(textAt(after, 'status.state') === 'TASK_STATE_INPUT_REQUIRED', 'INPUT_REQUIRED as before', textAt(after, 'status.state'))
    },
  ),
  check(
    'X7',
    ['MUST', '9.2'],
    'Extensions are parted by commas, with or without spaces.',
    { needs: ['optional extension'], messages: 1 },
    async (t) => {
      const [uri = ''] = optionalExtensions(t.card)
      const answer = await t.call(
        'SendMessage',
        { message: t.prompt('complete') },
        { headers: { 'A2A-Extensions': `${unknown},${uri} , ${unknown}/2` } },
      )
      if (answer.kind !== 'result') throw new NotProvoked(tell(t.binding, answer))
      const named = headerOf(answer.exchange, 'a2a-extensions')
      if (named === undefined) throw new NotApplicable('the agent does not name what was activated')
      t.want(activated(named).includes(uri), uri, named)
    },
  ),
  check(
    'X8',
    ['MUST', '4.6'],
    'An extension that is not asked for is not active.',
    { needs: ['optional extension'], messages: 1 },
    async (t) => {
      const answer = await t.call('SendMessage', { message: t.prompt('complete') })
      if (answer.kind !== 'result') throw new NotProvoked(tell(t.binding, answer))
      const named = activated(headerOf(answer.exchange, 'a2a-extensions')).filter((uri) => optionalExtensions(t.card).includes(uri))
      t.want(named.length === 0, 'no extension', named)
    },
  ),
]

/** Defects of versions and extensions. */

import { listAt, put } from '../json.js'
import { type Defect, defect } from './defect.js'
import { errorReply, type Incoming, instead, isOf, type Layer, onCard, onError, onReply, sends, withHeaders } from './seam.js'

const versionOf = ({ raw }: Incoming) => raw.header('a2a-version')
const extensionsOf = ({ raw }: Incoming) => raw.header('a2a-extensions') ?? ''

/** Requests of this version are served as if they were of 1.0. */
const serves = (is: (version: string | undefined, incoming: Incoming) => boolean) => (): Layer => (incoming, next) =>
  next(incoming.binding !== undefined && is(versionOf(incoming), incoming) ? withHeaders(incoming, { 'a2a-version': '1.0' }) : incoming)

const refuses = (is: (version: string | undefined) => boolean) => () =>
  instead((incoming) =>
    incoming.operation !== undefined && is(versionOf(incoming)) ? errorReply(incoming, 'VersionNotSupportedError') : undefined,
  )

/** The answer to a send names other extensions as active. */
const names = (change: (asked: string, named: string) => string) => () =>
  onReply((reply, incoming) => {
    if (!isOf(incoming, sends) || reply.status !== 200) return undefined
    const { 'a2a-extensions': named = '', ...headers } = reply.headers
    const now = change(extensionsOf(incoming), named)
    return { ...reply, headers: now === '' ? headers : { ...headers, 'a2a-extensions': now } }
  })

const required = 'urn:a2a:tck:required-extension'
const optional = 'urn:errand:conformance:optional'
const withRequired = (incoming: Incoming) => withHeaders(incoming, { 'a2a-extensions': required })

export const versionDefects: readonly Defect[] = [
  defect(
    'serves_version_99',
    '3.6.2',
    'V1',
    'Lists are served in any version of three digits.',
    serves((version, incoming) => version === '99.0' && isOf(incoming, 'ListTasks')),
  ),
  defect('version_declared_not_spoken', '3.6.2', 'V2', 'The card names a version that is refused.', () =>
    onCard((card) => {
      const doors = listAt(card, 'supportedInterfaces')
      return put(card, 'supportedInterfaces', [...doors, ...doors.map((door) => put(door, 'protocolVersion', '1.1'))])
    }),
  ),
  defect(
    'refuses_patch_numbers',
    '3.6',
    'V3',
    'Version 1.0.1 is refused.',
    refuses((version) => version === '1.0.1'),
  ),
  defect(
    'no_version_is_newest',
    '3.6.2',
    'V4',
    'A request without a version is served as the newest.',
    serves((version, { raw }) => version === undefined && !raw.target.includes('A2A-Version')),
  ),
  defect(
    'empty_version_is_newest',
    '3.6.2',
    'V5',
    'A request with an empty version is served as the newest.',
    serves((version) => version === ''),
  ),
  defect(
    'any_version_text',
    '3.6.2',
    'V6',
    'What is no version is passed over.',
    serves((version) => version === 'newest'),
  ),
  defect(
    'major_version_only',
    '3.6.2',
    'V7',
    'Of a version the first number is looked at.',
    serves((version) => version === '1.7'),
  ),
  defect('versions_not_named', '3.6.2', 'V8', 'VersionNotSupported does not say what is spoken.', () =>
    onError('VERSION_NOT_SUPPORTED', (error, { binding }) => {
      const name = binding === 'JSONRPC' ? 'data' : 'details'
      return put(
        put(error, 'message', 'This version is not spoken.'),
        name,
        listAt(error, name).map((detail) => put(detail, 'metadata', {})),
      )
    }),
  ),
  defect(
    'streams_any_version',
    '3.6.2',
    'V9',
    'A stream is opened in any version.',
    serves((version, incoming) => version === '99.0' && isOf(incoming, 'SendStreamingMessage')),
  ),
  defect(
    'refused_version_but_done',
    '3.6.2',
    'V10',
    'The version is looked at after the message was taken.',
    () => async (incoming, next) => {
      if (versionOf(incoming) === '99.0' && isOf(incoming, 'SendMessage')) await next(withHeaders(incoming, { 'a2a-version': '1.0' }))
      return next(incoming)
    },
  ),
  defect('no_version_in_query', '3.6.1', 'V11', 'A version in the query is not looked at.', () =>
    instead((incoming) => (incoming.raw.target.includes('A2A-Version=') ? errorReply(incoming, 'VersionNotSupportedError') : undefined)),
  ),
  defect('unknown_extension_refused', '4.6.3', 'X1', 'An extension that is not known is an error.', () =>
    instead((incoming) =>
      isOf(incoming, 'ListTasks') && extensionsOf(incoming).includes('unheard-of') ? errorReply(incoming, 'InvalidParamsError') : undefined,
    ),
  ),
  defect(
    'required_extension_optional',
    '3.3.4',
    'X2',
    'A required extension may be left out.',
    () => (incoming, next) => next(isOf(incoming, sends) && extensionsOf(incoming) === '' ? withRequired(incoming) : incoming),
    { profile: 'required-extension' },
  ),
  defect(
    'extension_by_prefix',
    '4.6.3',
    'X3',
    'Another version stands for a required extension.',
    () => (incoming, next) => next(extensionsOf(incoming).startsWith(`${required}/`) ? withRequired(incoming) : incoming),
    { profile: 'required-extension' },
  ),
  defect(
    'activation_not_told',
    '4.6',
    'X4',
    'The answer does not say which extensions are active.',
    names(() => ''),
  ),
  defect(
    'all_extensions_active',
    '4.6',
    'X5',
    'The answer names all extensions that were asked for.',
    names((asked) => asked),
  ),
  defect(
    'kept_without_extension',
    '3.3.2',
    'X6',
    'A message to a task is kept before its extensions are looked at.',
    () => async (incoming, next) => {
      if (isOf(incoming, 'SendMessage') && extensionsOf(incoming) === '' && JSON.stringify(incoming.params).includes('taskId'))
        await next(withRequired(incoming))
      return next(incoming)
    },
    { profile: 'required-extension' },
  ),
  defect(
    'extensions_by_comma_and_space',
    '9.2',
    'X7',
    'Of extensions that are parted by commas without spaces one is active.',
    names((asked, named) => (asked.includes(`,${optional}`) ? 'urn:none' : named)),
  ),
  defect(
    'always_active',
    '4.6',
    'X8',
    'An extension is active that nobody asked for.',
    names((asked, named) => (asked === '' ? optional : named)),
  ),
]

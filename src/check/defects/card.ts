/** Defects of the agent card. */

import { cardPath } from '../discover.js'
import { at, listAt, put } from '../json.js'
import { type Defect, defect } from './defect.js'
import { type Layer, onCard, onReply, onResult, withBody } from './seam.js'

/** Changes the headers of the card's answer; undefined takes one away. */
function onCardHeaders(change: (headers: Readonly<Record<string, string>>) => Readonly<Record<string, string | undefined>>): Layer {
  return onReply((reply, { raw }) => {
    if (!raw.target.startsWith(cardPath)) return undefined
    const headers = Object.entries({ ...reply.headers, ...change(reply.headers) })
    return { ...reply, headers: Object.fromEntries(headers.filter((pair): pair is [string, string] => pair[1] !== undefined)) }
  })
}

const addInterface = (one: Readonly<Record<string, string>>) =>
  onCard((card) => put(card, 'supportedInterfaces', [...listAt(card, 'supportedInterfaces'), one]))

const signed = (header: Readonly<Record<string, string>>) =>
  onCard((card) => put(card, 'signatures', [{ protected: btoa(JSON.stringify(header)), signature: 'c2lnbmVk' }]))

export const cardDefects: readonly Defect[] = [
  defect('card_as_text', '8.2', 'C1', 'The card is sent as text/plain.', () => onCardHeaders(() => ({ 'content-type': 'text/plain' }))),
  defect('card_without_description', '5.7', 'C2', 'The card lacks a required member.', () =>
    onCard((card) => put(card, 'description', undefined)),
  ),
  defect('card_relative_url', '8.3.1', 'C3', 'An interface has an address without a host.', () =>
    addInterface({ url: '/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }),
  ),
  defect('card_dead_interface', '8.3.1', 'C4', 'An interface is declared where nobody serves it.', () =>
    addInterface({ url: 'http://agent.test/nowhere', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }),
  ),
  defect('card_uncacheable', '8.6.1', 'C5', 'The card does not say how long it may be kept.', () =>
    onCardHeaders(() => ({ 'cache-control': undefined })),
  ),
  defect('card_without_etag', '8.6.1', 'C6', 'The card has no ETag.', () => onCardHeaders(() => ({ etag: undefined }))),
  defect('card_ignores_etag', '8.6', 'C7', 'The card is sent again to who has it.', () => {
    let whole = ''
    return onReply((reply, { raw }) => {
      if (!raw.target.startsWith(cardPath)) return undefined
      if (typeof reply.body === 'string' && reply.status === 200) whole = reply.body
      return reply.status === 304 ? { ...reply, status: 200, body: whole } : undefined
    })
  }),
  defect('card_bad_date', '8.6.1', 'C8', 'The card was changed at a time that no HTTP date can name.', () =>
    onCardHeaders(() => ({ 'last-modified': '2026-01-01T00:00:00Z' })),
  ),
  defect('card_etag_by_chance', '8.6', 'C9', 'The same card has another ETag each time.', () => {
    let count = 0
    return onCardHeaders(({ etag }) => ({ etag: etag && `"${++count}"` }))
  }),
  defect('card_twin_skills', '4.4.5', 'C10', 'Two skills share an id.', () =>
    onCard((card) => put(card, 'skills', [...listAt(card, 'skills'), ...listAt(card, 'skills')])),
  ),
  defect('card_modes_in_words', '4.4.1', 'C11', 'A default mode is no media type.', () =>
    onCard((card) => put(card, 'defaultOutputModes', ['pictures and words'])),
  ),
  defect('card_unknown_scheme', '4.5', 'C12', 'A requirement names a scheme that is not declared.', () =>
    onCard((card) => put(card, 'securityRequirements', [...listAt(card, 'securityRequirements'), { schemes: { badge: { list: [] } } }])),
  ),
  defect('card_of_version_0_3', '5.5', 'C13', 'The card has members of version 0.3.', () =>
    onCard((card) => put(card, 'preferredTransport', 'JSONRPC')),
  ),
  defect('card_patch_version', '3.6', 'C14', 'An interface names a patch number.', () =>
    onCard((card) => put(card, 'supportedInterfaces.0.protocolVersion', '1.0.0')),
  ),
  defect('card_plain_http', '7.1', 'C15', 'An interface elsewhere is reached without encryption.', () =>
    addInterface({ url: 'http://elsewhere.example/a2a', protocolBinding: 'GRPC', protocolVersion: '1.0' }),
  ),
  defect('card_unsigned_signature', '8.4.2', 'C16', 'The signature of the card is made with the algorithm none.', () =>
    signed({ alg: 'none', typ: 'JOSE', kid: 'k' }),
  ),
  defect('card_signature_without_typ', '8.4.2', 'C17', 'The signature of the card does not say that it is one of JOSE.', () =>
    signed({ alg: 'ES256', kid: 'k' }),
  ),
  defect('extended_card_torn', '3.1.11', 'C18', 'The extended card lacks a required member.', () =>
    onResult('GetExtendedAgentCard', (card) => put(card, 'skills', undefined)),
  ),
  defect('card_relative_oauth', '4.5.1', 'C19', 'A security scheme names an address without a host.', () =>
    onCard((card) => put(card, 'securitySchemes.extra', { openIdConnectSecurityScheme: { openIdConnectUrl: '/openid' } })),
  ),
  defect('card_by_caller', '8.2', 'C20', 'The public card is another one for who is logged in.', () =>
    onReply((reply, { raw, who }) => {
      if (!raw.target.startsWith(cardPath) || who === '' || typeof reply.body !== 'string' || reply.body === '') return undefined
      const card: unknown = JSON.parse(reply.body)
      return withBody(reply, put(card, 'name', `${at(card, 'name')} for you`))
    }),
  ),
]

/** Where the address guard lets a URL lead: the public internet, and what the operator opened. */

import { describe, expect, test } from 'vitest'
import { AddressRefusedError, createAddressGuard } from '../../src/net/address-guard.js'
import { parseAddress, standingOf } from '../../src/net/address-ranges.js'
import { isAllowEntry } from '../../src/net/allow-list.js'
import { ssrfVectors, type Vector } from './kit.js'

/** What the guard says to a URL, and to the addresses of its host. */
function verdict(vector: Pick<Vector, 'url' | 'dns'>, allow: readonly string[] = []): string {
  const guard = createAddressGuard(allow)
  try {
    const url = guard.checkUrl(vector.url)
    if (vector.dns) guard.checkAddresses(url, vector.dns)
    return 'reached'
  } catch (error) {
    if (error instanceof AddressRefusedError) return error.reason
    throw error
  }
}

test('there are at least 250 forms of URLs, each with its reason', () => {
  expect(ssrfVectors.length).toBeGreaterThanOrEqual(250)
  expect(new Set(ssrfVectors.map(({ url, dns }) => JSON.stringify([url, dns]))).size).toBe(ssrfVectors.length)
  expect(ssrfVectors.filter(({ comment }) => comment === '')).toEqual([])
})

test.each(ssrfVectors.map((vector) => ({ ...vector, shown: JSON.stringify(vector.url).slice(0, 80) })))(
  '$id $shown: $comment',
  (vector) => {
    expect(verdict(vector)).toBe(vector.reason ?? 'reached')
  },
)

describe('an operator opens by an explicit list', () => {
  test.each([
    ['a network', '10.1.0.0/16', 'https://10.1.2.3/', 'https://10.2.0.1/'],
    ['an address', '127.0.0.1', 'https://127.0.0.1/', 'https://127.0.0.2/'],
    ['a network of IPv6', 'fd12::/32', 'https://[fd12::1]/', 'https://[fd13::1]/'],
    ['loopback of IPv6', '::1', 'https://[::1]/', 'https://[::]/'],
    ['a host', 'files.internal', 'https://files.internal/', 'https://other.internal/'],
    ['a host of one word', 'db', 'https://db/', 'https://dba/'],
    ['a host, its port and no other', 'files.internal:8443', 'https://files.internal:8443/', 'https://files.internal:8444/'],
    ['a host with a port below 1024', 'hook.example:80', 'https://hook.example:80/', 'https://hook.example:81/'],
    ['the port that https means', 'files.internal:443', 'https://files.internal/', 'https://files.internal:8443/'],
    ['an origin of plain http', 'http://files.internal:8080', 'http://files.internal:8080/a?b', 'https://files.internal:8080/'],
    ['an origin of plain http without a port', 'http://files.internal', 'http://files.internal/', 'http://files.internal:8080/'],
    ['an origin of https', 'https://files.internal', 'https://files.internal/', 'https://files.internal:8443/'],
    ['an origin that is an address', 'http://127.0.0.1:3000', 'http://127.0.0.1:3000/', 'http://127.0.0.2:3000/'],
    ['an origin that is one of IPv6', 'http://[::1]:3000', 'http://[::1]:3000/', 'http://[::1]:3001/'],
    ['a host however it is written', 'FILES.Internal.', 'https://files.internal/', 'https://files.internal.example.local/'],
    ['a host, not what is under it', 'corp.internal', 'https://corp.internal./', 'https://a.corp.internal/'],
  ])('%s', (_, entry, open, shut) => {
    expect(isAllowEntry(entry)).toBe(true)
    expect(verdict({ url: open })).not.toBe('reached')
    expect(verdict({ url: open }, [entry])).toBe('reached')
    expect(verdict({ url: shut }, [entry])).not.toBe('reached')
  })

  test('a listed host may have local addresses, another one may not', () => {
    const dns = ['10.0.0.5', '93.184.216.34']
    expect(verdict({ url: 'https://files.internal/', dns }, ['files.internal'])).toBe('reached')
    expect(verdict({ url: 'https://files.example/', dns }, ['files.internal'])).toBe('address')
  })

  test('a listed network is open to every name that leads there, all of whose addresses may be called', () => {
    const allow = ['10.0.0.0/24']
    expect(verdict({ url: 'https://files.example/', dns: ['10.0.0.5', '93.184.216.34'] }, allow)).toBe('reached')
    expect(verdict({ url: 'https://files.example/', dns: ['10.0.0.5', '10.0.1.5'] }, allow)).toBe('address')
  })

  test('a listed network opens neither plain http nor other ports', () => {
    expect(verdict({ url: 'http://10.0.0.5/' }, ['10.0.0.0/8'])).toBe('scheme')
    expect(verdict({ url: 'https://10.0.0.5:22/' }, ['10.0.0.0/8'])).toBe('port')
  })

  test('a listed host without a port opens no port of another service', () => {
    expect(verdict({ url: 'https://files.internal:8443/' }, ['files.internal'])).toBe('reached')
    expect(verdict({ url: 'https://files.internal:22/' }, ['files.internal'])).not.toBe('reached')
    expect(verdict({ url: 'https://hook.example:22/' }, ['hook.example'])).toBe('port')
  })

  test('a listed host must not be given a user name either', () => {
    expect(verdict({ url: 'https://me@files.internal/' }, ['files.internal'])).toBe('user-info')
  })
})

describe('no list opens where clouds keep credentials, or IPv6 that carries IPv4', () => {
  const all = ['0.0.0.0/0', '::/0', 'meta.internal', 'http://meta.internal', '10.0.0.0/8']
  const closed = [
    '169.254.169.254',
    '169.254.170.2',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd20:ce::254',
    'fd00:42::42',
    'fe80::a9fe:a9fe',
    '::ffff:169.254.169.254',
    '::ffff:10.0.0.5',
    '::a9fe:a9fe',
    '::ffff:0:a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::a9fe:a9fe',
    '2002:a9fe:a9fe::',
    '2001::a9fe:a9fe',
    '2606:4700::5efe:a9fe:a9fe',
  ]

  test('the list opens everything else', () => {
    for (const address of ['10.0.0.5', '127.0.0.1', '0.0.0.0', '::1', '::', 'fd12::1', '192.168.0.1']) {
      expect([address, verdict({ url: 'https://x.example/', dns: [address] }, all)]).toEqual([address, 'reached'])
    }
  })

  test.each(closed)('%s stays closed, as an address and behind any name', (address) => {
    expect(isAllowEntry(address)).toBe(false)
    expect(isAllowEntry(`http://${address.includes(':') ? `[${address}]` : address}`)).toBe(false)
    expect(verdict({ url: `https://${address.includes(':') ? `[${address}]` : address}/` }, all)).toBe('address')
    for (const url of ['https://x.example/', 'https://meta.internal/', 'http://meta.internal/']) {
      expect(verdict({ url, dns: [address] }, all)).toBe('address')
      expect(verdict({ url, dns: ['10.0.0.5', address] }, all)).toBe('address')
    }
  })

  test('a network of nothing else is no entry', () => {
    for (const entry of ['169.254.0.0/16', 'fe80::/10', '::ffff:0:0/96', 'fd00:ec2::/32', '2002::/16']) {
      expect([entry, isAllowEntry(entry)]).toEqual([entry, false])
    }
  })
})

test.each([
  '',
  ' ',
  '*',
  '*.internal',
  'https://*.internal',
  'files.internal/path',
  'https://files.internal/path',
  'https://files.internal?a',
  'https://files.internal/#a',
  'me@files.internal',
  'https://me:pw@files.internal',
  'ftp://files.internal',
  'a b',
  '10.0.0.0/33',
  '10.0.0.0/-1',
  '10.0.0.0/8/8',
  '10.0.0.0/',
  'fd00::/129',
  'fe80::1%eth0',
  'files.internal:x',
  'files.internal:99999',
  'http://',
  7,
  null,
  ['10.0.0.0/8'],
])('%j is no entry of the list', (entry) => {
  expect(isAllowEntry(entry)).toBe(false)
})

test('an address in another form than the one that everybody reads alike is none', () => {
  for (const text of ['010.0.0.1', '127.1', '0x7f.0.0.1', '2130706433', 'fe80::1%eth0', 'localhost', '[::1]', '', '1.2.3.4/8']) {
    expect([text, parseAddress(text)]).toEqual([text, undefined])
  }
})

test('every address of IPv6 outside of 2000::/3 is anything but public', () => {
  for (let first = 0; first < 0x1_0000; first += 0x40) {
    const address = parseAddress(`${first.toString(16)}:1:2:3:4:5:6:7`)
    const standing = address && standingOf(address)
    if (first >> 13 === 1) continue
    expect([first.toString(16), standing]).not.toEqual([first.toString(16), 'public'])
  }
})

test('a refusal says what the URL must do, and nothing that was looked up', () => {
  const guard = createAddressGuard()
  const url = guard.checkUrl('https://hook.example/')
  expect(() => guard.checkAddresses(url, ['10.0.0.5'])).toThrow(/^The URL must lead to public addresses only\.$/)
})

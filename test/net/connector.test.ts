/** The connector by itself: nothing that reaches it by another way than the guarded fetch gets past the guard. */

import { describe, expect, test } from 'vitest'
import { createAddressGuard } from '../../src/net/address-guard.js'
import { guardedConnector } from '../../src/net/connector.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { recorder } from './kit.js'

/** What undici is told when it asks for a connection. */
async function ask(
  asked: { readonly protocol: string; readonly hostname: string; readonly port?: string },
  answers: readonly string[] = [],
) {
  const { dial, dialled } = recorder()
  const connector = guardedConnector({ guard: createAddressGuard(), world: virtualWorld(), resolve: async () => answers, dial })
  const error = await new Promise<any>((resolve) => connector({ port: '', ...asked }, (...[failure]) => resolve(failure)))
  return { error, dialled: dialled.map(({ address }) => address) }
}

describe('a connection is refused, and nothing dialled', () => {
  test.each([
    [{ protocol: 'https:', hostname: '10.0.0.5' }, 'address'],
    [{ protocol: 'https:', hostname: '169.254.169.254', port: '8443' }, 'address'],
    [{ protocol: 'https:', hostname: '::1' }, 'address'],
    [{ protocol: 'https:', hostname: '::ffff:7f00:1' }, 'address'],
    [{ protocol: 'http:', hostname: 'hook.example' }, 'scheme'],
    [{ protocol: 'https:', hostname: 'hook.example', port: '22' }, 'port'],
    [{ protocol: 'https:', hostname: 'localhost' }, 'name'],
    [{ protocol: 'https:', hostname: '2130706433' }, 'address'],
  ])('%j', async (asked, reason) => {
    expect(await ask(asked, ['93.184.216.34'])).toMatchObject({ error: { name: 'AddressRefusedError', reason }, dialled: [] })
  })
})

test('a name without an address is a failure, and nothing dialled', async () => {
  expect(await ask({ protocol: 'https:', hostname: 'hook.example' })).toMatchObject({
    error: { message: 'the host has no address' },
    dialled: [],
  })
})

test('a public address of IPv6 is dialled as it is', async () => {
  expect((await ask({ protocol: 'https:', hostname: '2606:4700:4700::1111' })).dialled).toEqual(['2606:4700:4700::1111'])
})

/** The guarded fetch on the wire: what it dials, what it never dials, and where time, size and redirects end. */

import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { dialAddress } from '../../src/net/connector.js'
import { until } from '../runtime/kit.js'
import { dialTrusting, failureOf, honeypots, listen, openFetch, ssrfVectors } from './kit.js'

const isPublic = 'https://hook.example/'

describe('three honeypots see nothing', () => {
  test('whatever form a URL has, and whatever its name resolves to', async () => {
    const names = Object.fromEntries(ssrfVectors.flatMap(({ url, dns }) => (dns ? [[new URL(url).hostname, dns]] : [])))
    for (const { id, url, result, reason, dns } of ssrfVectors) {
      const host = URL.canParse(url) ? new URL(url).hostname : ''
      const { fetch, dialled } = openFetch({
        names: dns ? { ...names, [host]: dns } : names,
        dial: async () => {
          throw new Error('nothing answers')
        },
      })
      const failure = await failureOf(fetch(url))
      const addresses = dialled.map(({ address }) => address)
      if (result === 'refused') expect([id, failure.name, failure.reason, addresses]).toEqual([id, 'AddressRefusedError', reason, []])
      // Nothing answers, so each of them was tried.
      else expect([id, addresses]).toEqual([id, dns ?? [host.replace(/[[\]]/g, '')]])
    }
  })

  test.each(honeypots)('an answer that changes to %s between the check and the connection changes nothing', async (bad) => {
    const answers = [['93.184.216.34'], [bad]]
    const { fetch, dialled, resolved } = openFetch({
      names: {
        get 'hook.example'() {
          return answers.shift() ?? [bad]
        },
      },
      dial: async () => {
        throw new Error('nothing answers')
      },
    })
    await failureOf(fetch(isPublic))
    expect([resolved.length, dialled.map(({ address }) => address)]).toEqual([1, ['93.184.216.34']])
    // The next connection asks anew, and its answer is checked anew.
    expect(await failureOf(fetch(isPublic))).toMatchObject({ name: 'AddressRefusedError', reason: 'address' })
    expect(dialled).toHaveLength(1)
  })

  test.each(honeypots)('one answer of many that is %s spoils them all', async (bad) => {
    for (const answers of [
      [bad, '93.184.216.34'],
      ['93.184.216.34', bad],
    ]) {
      const { fetch, dialled } = openFetch({ names: { 'hook.example': answers } })
      expect(await failureOf(fetch(isPublic))).toMatchObject({ name: 'AddressRefusedError', reason: 'address' })
      expect(dialled).toEqual([])
    }
  })

  const places = honeypots.flatMap((address) => [`https://${address}/`, `http://${address}/`, `//${address}/`])
  test.each([
    ...places,
    'https://rebind.example/',
    'https://[::ffff:10.0.0.5]/',
    'http://hook.example/',
    'file:///etc/passwd',
    'https://me@hook.example/',
  ])('a redirect to %s is not followed', async (location) => {
    const { port } = await listen((_, response) => void response.writeHead(302, { location }).end())
    const allow = [`http://here.internal:${port}`]
    const names = { 'here.internal': ['127.0.0.1'], 'rebind.example': ['10.0.0.5'] }
    const { fetch, dialled } = openFetch({ allow, names })
    expect(await failureOf(fetch(`http://here.internal:${port}/`))).toMatchObject({ name: 'AddressRefusedError' })
    expect(dialled).toEqual([{ address: '127.0.0.1', port, tlsHost: undefined }])
  })
})

describe('a connection', () => {
  test('goes to the checked address with the name in Host', async () => {
    const { port, heard } = await listen((_, response) => void response.end('brief'))
    const { fetch, dialled } = openFetch({ allow: [`http://files.internal:${port}`], names: { 'files.internal': ['127.0.0.1'] } })
    const response = await fetch(`http://files.internal:${port}/a?b=c#d`, { headers: { 'x-mine': 'yes' } })
    expect([response.status, await response.text(), response.url]).toEqual([200, 'brief', `http://files.internal:${port}/a?b=c#d`])
    expect(response).toBeInstanceOf(Response)
    expect(dialled).toEqual([{ address: '127.0.0.1', port, tlsHost: undefined }])
    expect(heard).toMatchObject([{ method: 'GET', path: '/a?b=c', headers: { host: `files.internal:${port}`, 'x-mine': 'yes' } }])
  })

  test('over TLS holds the certificate against the name, and asks for it by SNI', async () => {
    const { port, heard } = await listen((_, response) => void response.end('brief'), { tls: true })
    const names = { 'files.internal': ['127.0.0.1'], 'other.internal': ['127.0.0.1'] }
    const { fetch, dialled } = openFetch({ allow: [`files.internal:${port}`, `other.internal:${port}`], names })
    expect(await (await fetch(`https://files.internal:${port}/`)).text()).toBe('brief')
    expect(dialled).toEqual([{ address: '127.0.0.1', port, tlsHost: 'files.internal' }])
    expect(heard).toMatchObject([{ serverName: 'files.internal', headers: { host: `files.internal:${port}` } }])
    expect((await failureOf(fetch(`https://other.internal:${port}/`))).cause.code).toBe('ERR_TLS_CERT_ALTNAME_INVALID')
    expect(heard).toHaveLength(1)
  })

  test('over TLS to an address holds the certificate against the address', async () => {
    const { port, heard } = await listen((_, response) => void response.end('brief'), { tls: true })
    const { fetch } = openFetch({ allow: [`127.0.0.1:${port}`] })
    expect(await (await fetch(`https://127.0.0.1:${port}/`)).text()).toBe('brief')
    expect(heard).toMatchObject([{ serverName: false }])
  })

  test('tries the next address where one does not answer', async () => {
    const { port } = await listen((_, response) => void response.end('brief'))
    const { fetch, dialled } = openFetch({
      allow: [`http://files.internal:${port}`],
      names: { 'files.internal': ['10.0.0.5', '127.0.0.1'] },
      dial: async (target, signal) => {
        if (target.address === '10.0.0.5') throw new Error('no route')
        return dialTrusting(target, signal)
      },
    })
    expect(await (await fetch(`http://files.internal:${port}/`)).text()).toBe('brief')
    expect(dialled.map(({ address }) => address)).toEqual(['10.0.0.5', '127.0.0.1'])
  })

  test('is given up after ten seconds, the look-up included', async () => {
    for (const stuck of ['dial', 'resolve'] as const) {
      const { fetch, world, resolved, dialled } = openFetch({
        names: {
          get 'hook.example'() {
            // What is awaited for the answer never comes.
            return stuck === 'resolve' ? (new Promise(() => {}) as never) : ['93.184.216.34']
          },
        },
        dial: (_, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      })
      const failure = failureOf(fetch(isPublic))
      await until(() => (stuck === 'dial' ? dialled : resolved).length === 1)
      await world.advance(10_000)
      expect((await failure).cause.message).toBe('no connection within 10000 ms')
    }
  })

  test('fails as fetch does where the name does not resolve', async () => {
    const { fetch } = openFetch()
    expect(await failureOf(fetch(isPublic))).toMatchObject({ name: 'TypeError', cause: { message: 'no such name' } })
  })

  test('lets nobody say another Host', async () => {
    const { fetch, dialled } = openFetch({ names: { 'hook.example': ['93.184.216.34'] } })
    expect(await failureOf(fetch(isPublic, { headers: { Host: '10.0.0.5' } }))).toBeInstanceOf(TypeError)
    expect(dialled).toEqual([])
  })

  test('takes no way that the init names', async () => {
    const { fetch, dialled } = openFetch({ names: { 'hook.example': ['10.0.0.5'] } })
    let used = 0
    const dispatcher = { dispatch: () => void used++ }
    // Node's own fetch takes a dispatcher there; no type says so.
    expect(await failureOf(fetch(isPublic, { dispatcher } as RequestInit))).toMatchObject({ name: 'AddressRefusedError' })
    expect([used, dialled]).toEqual([0, []])
  })
})

describe('proxies of the environment', () => {
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'NODE_USE_ENV_PROXY']
  const before = Object.fromEntries(names.map((name) => [name, process.env[name]]))
  afterEach(() => {
    for (const name of names) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
  })

  test('are not asked', async () => {
    const proxy = await listen((_, response) => void response.end('by proxy'))
    let tunnels = 0
    proxy.server.on('connect', (_, socket) => {
      tunnels++
      socket.destroy()
    })
    for (const name of names) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : `http://127.0.0.1:${proxy.port}`
    const { port } = await listen((_, response) => void response.end('straight'), { tls: true })
    const plain = await listen((_, response) => void response.end('straight'))
    const { fetch, dialled } = openFetch({
      allow: [`files.internal:${port}`, `http://files.internal:${plain.port}`],
      names: { 'files.internal': ['127.0.0.1'] },
    })
    for (const url of [`https://files.internal:${port}/`, `http://files.internal:${plain.port}/`]) {
      expect(await (await fetch(url)).text()).toBe('straight')
    }
    expect(dialled.map((target) => target.port)).toEqual([port, plain.port])
    expect([proxy.heard, tunnels]).toEqual([[], 0])
  })

  test('and a switch that would believe any certificate is not read', async () => {
    const { port } = await listen((_, response) => void response.end('brief'), { tls: true })
    const { fetch } = openFetch({ allow: [`127.0.0.1:${port}`], dial: dialAddress })
    const was = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    try {
      expect((await failureOf(fetch(`https://127.0.0.1:${port}/`))).cause.code).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
    } finally {
      if (was === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = was
    }
  })
})

describe('redirects', () => {
  /** Two origins of one server: the first sends everybody from /N to the second with status N. */
  async function two(more: Parameters<typeof openFetch>[0] = {}) {
    const goal = await listen((_, response) => void response.end('goal'))
    const start = await listen((request, response) => {
      const [, status = '', where = ''] = (request.url ?? '').split('/')
      const location = where === 'here' ? '/200' : `http://b.internal:${goal.port}/end`
      response.writeHead(Number(status), status === '200' ? {} : { location }).end(status === '200' ? 'home' : 'moved')
    })
    const allow = [`http://a.internal:${start.port}`, `http://b.internal:${goal.port}`]
    const names = { 'a.internal': ['127.0.0.1'], 'b.internal': ['127.0.0.1'] }
    return { ...openFetch({ allow, names, ...more }), start, goal, url: `http://a.internal:${start.port}` }
  }

  test('are followed, and the answer says where it came from', async () => {
    const { fetch, url, goal } = await two()
    const response = await fetch(`${url}/302`)
    expect([await response.text(), response.redirected, response.url]).toEqual(['goal', true, `http://b.internal:${goal.port}/end`])
    const home = await fetch(`${url}/307/here`)
    expect([await home.text(), home.url]).toEqual(['home', `${url}/200`])
  })

  test.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [302, 'PUT', 'PUT', 'text'],
    [307, 'POST', 'POST', 'text'],
    [308, 'PATCH', 'PATCH', 'text'],
  ])('a %i turns %s into %s', async (status, method, becomes, body) => {
    const { fetch, url, goal, start } = await two()
    await (await fetch(`${url}/${status}`, { method, body: 'text' })).text()
    expect(start.heard).toMatchObject([{ method, body: 'text' }])
    expect(goal.heard).toMatchObject([{ method: becomes, body }])
    expect(goal.heard[0]?.headers['content-type']).toBe(body === '' ? undefined : 'text/plain;charset=UTF-8')
  })

  test('to another origin take no credentials along, to the same one they do', async () => {
    const { fetch, url, goal, start } = await two()
    const headers = { authorization: 'Bearer x', cookie: 'a=b', 'x-api-key': 'k', accept: 'text/plain' }
    await (await fetch(`${url}/307`, { headers })).text()
    expect(goal.heard[0]?.headers).toMatchObject({ accept: 'text/plain' })
    for (const name of ['authorization', 'cookie', 'x-api-key']) expect(goal.heard[0]?.headers).not.toHaveProperty(name)
    await (await fetch(`${url}/307/here`, { headers })).text()
    expect(start.heard.at(-1)?.headers).toMatchObject(headers)
  })

  test('are shown or refused where the init says so', async () => {
    const { fetch, url, goal } = await two()
    const shown = await fetch(`${url}/302`, { redirect: 'manual' })
    expect([shown.status, shown.redirected, await shown.text()]).toEqual([302, false, 'moved'])
    expect(await failureOf(fetch(`${url}/302`, { redirect: 'error' }))).toBeInstanceOf(TypeError)
    expect(goal.heard).toEqual([])
  })

  test('end after five', async () => {
    const { port, heard } = await listen((_, response) => void response.writeHead(302, { location: '/again' }).end())
    const { fetch } = openFetch({ allow: [`http://127.0.0.1:${port}`] })
    expect(await failureOf(fetch(`http://127.0.0.1:${port}/`))).toMatchObject({ name: 'FetchLimitError', limit: 'redirects' })
    expect(heard).toHaveLength(6)
  })

  test('a redirect to nowhere is an answer', async () => {
    const { port } = await listen(
      (request, response) => void response.writeHead(302, request.url === '/bad' ? { location: 'https://[' } : {}).end(),
    )
    const { fetch } = openFetch({ allow: [`http://127.0.0.1:${port}`] })
    for (const path of ['/', '/bad']) expect((await fetch(`http://127.0.0.1:${port}${path}`)).status).toBe(302)
  })
})

describe('an answer', () => {
  const bytes = 1000

  test('of just so many bytes is whole', async () => {
    const { port } = await listen((_, response) => void response.end('x'.repeat(bytes)))
    const { fetch } = openFetch({ allow: [`http://127.0.0.1:${port}`], limits: { bytes } })
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toHaveLength(bytes)
  })

  test.each([
    ['of one byte more', (text: string) => text, {}],
    ['that grows when it is unpacked', (text: string) => gzipSync(text.repeat(1000)), { 'content-encoding': 'gzip' }],
  ])('%s ends in an error', async (_, bodyOf, headers) => {
    const { port } = await listen((_, response) => void response.writeHead(200, headers).end(bodyOf('x'.repeat(bytes + 1))))
    const { fetch } = openFetch({ allow: [`http://127.0.0.1:${port}`], limits: { bytes } })
    const response = await fetch(`http://127.0.0.1:${port}/`)
    expect(await failureOf(response.text())).toMatchObject({ name: 'FetchLimitError', limit: 'bytes' })
  })

  test('without an end is cut, and its connection closed', async () => {
    let closed = false
    const { port } = await listen((_, response) => {
      response.on('close', () => {
        closed = true
      })
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
      }
      response.on('drain', more)
      more()
    })
    const { fetch } = openFetch({ allow: [`http://127.0.0.1:${port}`], limits: { bytes } })
    expect(await failureOf((await fetch(`http://127.0.0.1:${port}/`)).text())).toMatchObject({ limit: 'bytes' })
    await until(() => closed)
  })

  test.each(['headers', 'body'])('that stops before its %s is given up when its time is over', async (where) => {
    const { port, heard } = await listen((_, response) => void (where === 'body' && response.writeHead(200).write('begun')))
    const { fetch, world } = openFetch({ allow: [`http://127.0.0.1:${port}`], limits: { ms: 5_000 } })
    const failure = failureOf(fetch(`http://127.0.0.1:${port}/`).then((response) => response.text()))
    await until(() => heard.length === 1)
    await world.advance(4_999)
    let settled = false
    void failure.then(() => {
      settled = true
    })
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
    expect(settled).toBe(false)
    await world.advance(1)
    expect(await failure).toMatchObject({ name: 'FetchLimitError', limit: 'ms' })
  })

  test.each([
    [204, 'GET'],
    [304, 'GET'],
    [200, 'HEAD'],
  ])('%i to %s has no body and is none the worse', async (status, method) => {
    const { port } = await listen((_, response) => void response.writeHead(status, { 'x-mine': 'yes' }).end())
    const { fetch } = openFetch({ allow: [`http://127.0.0.1:${port}`] })
    const response = await fetch(`http://127.0.0.1:${port}/`, { method })
    expect([response.status, response.headers.get('x-mine'), await response.text()]).toEqual([status, 'yes', ''])
  })

  test('keeps all of several cookies', async () => {
    const { port } = await listen((_, response) => void response.setHeader('set-cookie', ['a=1', 'b=2']).end())
    const { fetch } = openFetch({ allow: [`http://127.0.0.1:${port}`] })
    expect((await fetch(`http://127.0.0.1:${port}/`)).headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  })
})

describe('a signal', () => {
  test('that has fired dials nothing', async () => {
    const { fetch, dialled } = openFetch({ names: { 'hook.example': ['93.184.216.34'] } })
    expect(await failureOf(fetch(isPublic, { signal: AbortSignal.abort('enough') }))).toBe('enough')
    expect(dialled).toEqual([])
  })

  test.each(['headers', 'body'])('that fires before the %s ends the call, and its connection', async (where) => {
    let closed = false
    const { port, heard } = await listen((_, response) => {
      response.on('close', () => {
        closed = true
      })
      if (where === 'body') response.writeHead(200).write('begun')
    })
    const { fetch } = openFetch({ allow: [`http://127.0.0.1:${port}`] })
    const stop = new AbortController()
    const asked = fetch(new Request(`http://127.0.0.1:${port}/`, { signal: stop.signal }))
    await until(() => heard.length === 1)
    const failure = failureOf(where === 'headers' ? asked : (await asked).text())
    stop.abort('enough')
    expect(await failure).toBe('enough')
    await until(() => closed)
  })
})

test('a Request is sent as it is', async () => {
  const { port, heard } = await listen((_, response) => void response.end())
  const { fetch } = openFetch({ allow: [`http://127.0.0.1:${port}`] })
  const url = `http://127.0.0.1:${port}/`
  await fetch(new Request(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }))
  await fetch(new URL(url), { method: 'PUT', body: new Uint8Array([104, 105]) })
  expect(heard).toMatchObject([
    { method: 'POST', body: '{}', headers: { 'content-type': 'application/json', 'content-length': '2' } },
    { method: 'PUT', body: 'hi' },
  ])
})

/** The consent pages in a real browser: the way to a provider on another site and back, and what pages of others cannot do. */

import { existsSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createConsentDoor } from '../../src/server/consent-door.js'
import { nodeRequest } from '../../src/server/node-request.js'
import { accessToken, askConsent, openConsents, openProvider, recordOf, stateOfTask } from './consent-kit.js'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'

/** `host` is the one that the address names: to a browser, localhost and 127.0.0.1 are two sites. */
async function listen(host: string, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise((resolve) => void server.close(() => resolve())))
  // Listening on a port, the address is one of host and port.
  return `http://${host}:${(server.address() as AddressInfo).port}`
}

/** The door on 127.0.0.1, and on localhost a page of the provider that allows at once, by way of a further site of its own. */
async function openSites() {
  const opened = await openConsents()
  const { consents, world, log } = opened
  const provider = await openProvider()
  const referers: (string | undefined)[] = []
  const login = await listen('localhost', (request, response) => {
    referers.push(request.headers.referer)
    const location = new URL(request.url ?? '/', login)
    const back = `${location.searchParams.get('redirect_uri')}?${provider.allow(location.href)}`
    response.writeHead(302, { location: back }).end()
  })
  const authorize = await listen('localhost', (request, response) => {
    referers.push(request.headers.referer)
    response.writeHead(302, { location: login + request.url }).end()
  })
  const providers = { calendar: { authorizationEndpoint: authorize, tokenEndpoint: `${provider.url}/token`, clientId: 'venue' } }
  const agent = { name: 'Venue agent' }
  const base: string = await listen('127.0.0.1', async (request, response) => {
    const { status, headers, body } = await door(nodeRequest(request, response, false, 65_536))
    response.writeHead(status, headers).end(body)
  })
  const door = createConsentDoor({ consents, agent, authenticates: true, providers, world, log, base: () => base })
  const asked = await askConsent(opened, { asked: { oauth: 'calendar', scopes: ['calendar.book'], prompt: 'May I book\nthe room?' } })
  return { opened, asked, base, link: `${base}/consent/${asked.state}`, referers, provider }
}

const isThere = existsSync(executablePath)
if (!isThere)
  console.warn(`Not tested: the consent page in a browser. There is no ${executablePath}; "apt-get install chromium" brings it.`)

describe.skipIf(!isThere)('in Chromium', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  })
  afterAll(() => browser.close())

  async function openPage(): Promise<{ readonly page: Page; readonly complaints: string[] }> {
    const context = await browser.newContext({ viewport: { width: 360, height: 640 } })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const complaints: string[] = []
    // Browsers ask for an icon by themselves.
    page.on('console', (line) => line.type() === 'error' && !line.location().url.endsWith('/favicon.ico') && complaints.push(line.text()))
    return { page, complaints }
  }

  test('a person agrees, and comes back from the provider over two of its sites', async () => {
    const { opened, asked, link, referers } = await openSites()
    const { page, complaints } = await openPage()
    await page.goto(link)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    await page.getByRole('button', { name: /^Agree and go to localhost:\d+$/ }).click()
    await page.getByRole('heading', { name: 'Done' }).waitFor()
    expect(complaints).toEqual([])
    expect(await recordOf(opened, asked)).toHaveProperty('granted.token', accessToken)
    expect(referers).toEqual([undefined, undefined])
    expect(await page.content()).not.toContain(accessToken)
  })

  test('a person declines', async () => {
    const { opened, asked, link } = await openSites()
    const { page, complaints } = await openPage()
    await page.goto(link)
    await page.getByRole('button', { name: 'Decline' }).click()
    await page.getByRole('heading', { name: 'Declined' }).waitFor()
    expect(complaints).toEqual([])
    expect(await recordOf(opened, asked)).toHaveProperty('denied')
  })

  test('who is sent to the provider without our page is not taken for the one who agreed', async () => {
    const { opened, asked, link } = await openSites()
    const before = await stateOfTask(opened, asked)
    const form = {
      method: 'POST',
      body: 'decision=agree',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    } as const
    const agreed = await fetch(link, form)
    const { page } = await openPage()
    await page.goto(agreed.headers.get('location') ?? '')
    await page.getByRole('heading', { name: 'Not from this browser' }).waitFor()
    expect(await stateOfTask(opened, asked)).toEqual(before)
    await page.getByRole('link', { name: 'Back to the question' }).click()
    await page.getByRole('button', { name: /^Agree/ }).click()
    await page.getByRole('heading', { name: 'Done' }).waitFor()
  })

  test('a page of somebody else can neither answer nor frame the question', async () => {
    const { opened, asked, link } = await openSites()
    const before = await stateOfTask(opened, asked)
    const evil = await listen('localhost', (_, response) =>
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(
          `<form method="post" action="${link}"><button name="decision" value="agree">Win</button></form><iframe src="${link}"></iframe>`,
        ),
    )
    const { page, complaints } = await openPage()
    await page.goto(evil)
    expect(complaints.join()).toMatch(/frame/i)
    await page.getByRole('button', { name: 'Win' }).click()
    await page.getByRole('heading', { name: 'Not from here' }).waitFor()
    expect(await stateOfTask(opened, asked)).toEqual(before)
  })
})

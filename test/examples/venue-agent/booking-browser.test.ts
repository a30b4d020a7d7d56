/** A booking through a real browser: the agent's page, the calendar's page, and back. */

import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { linkOf, openBooking, saidBy } from './booking-kit.js'

const executablePath = '/usr/bin/chromium'
const isThere = existsSync(executablePath)
if (!isThere) console.warn(`Not tested: a booking in a browser. There is no ${executablePath}; "apt-get install chromium" brings it.`)

describe.skipIf(!isThere)('in headless Chromium', () => {
  let browser: Browser
  beforeAll(async () => {
    // Root has no sandbox.
    browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] })
  })
  afterAll(() => browser?.close())

  /** A task that asks for consent, and a person who has opened its link. */
  async function asked() {
    const booking = await openBooking()
    const task = await booking.searchAndSay('book the second one for 12 May')
    const context = await browser.newContext()
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (message) => void complaints.push(message.text()))
    await page.goto(linkOf(task))
    return { ...booking, task, page, complaints }
  }

  test('Allow books once', async () => {
    const { task, page, complaints, ended, booked, url } = await asked()
    expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED')
    const agentsPage = await page.locator('body').textContent()
    for (const words of ['Venues', 'alice', 'Allow one booking of Sala Azulejo, Lisbon', 'calendar.book'])
      expect(agentsPage).toContain(words)
    await page.getByRole('button', { name: /^Agree/ }).click()
    await page.getByRole('heading', { name: 'Allow access to your calendar?' }).waitFor()
    expect(await page.getByRole('main').textContent()).toContain('The venue agent')
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.waitForURL(`${url}/consent/callback*`)
    expect(await page.locator('body').textContent()).toMatch(/close/i)
    const { status, artifacts } = await ended(task.id)
    expect(status.state).toBe('TASK_STATE_COMPLETED')
    const [booking, ...others] = await booked()
    expect(others).toEqual([])
    expect(artifacts.find(({ name }: any) => name === 'confirmation').parts[1].data).toEqual(booking)
    // A policy that stops a form or a style says so on the console.
    expect(complaints).toEqual([])
  })

  test('Deny books nothing', async () => {
    const { task, page, ended, booked, url } = await asked()
    await page.getByRole('button', { name: /^Agree/ }).click()
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.waitForURL(`${url}/consent/callback*`)
    const end = await ended(task.id)
    expect([end.status.state, saidBy(end)]).toEqual(['TASK_STATE_COMPLETED', 'It was not allowed, so nothing is booked.'])
    expect(await booked()).toEqual([])
  })

  test('who declines on the agent’s page never comes to the calendar', async () => {
    const { task, page, ended, booked, url } = await asked()
    await page.getByRole('button', { name: 'Decline' }).click()
    await page.waitForLoadState()
    expect(page.url().startsWith(`${url}/consent/`)).toBe(true)
    const end = await ended(task.id)
    expect([end.status.state, saidBy(end)]).toEqual(['TASK_STATE_COMPLETED', 'It was not allowed, so nothing is booked.'])
    expect(await booked()).toEqual([])
  })
})

/** Reports of a run: what each form says, and what none of them shows. */

import { chromium } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { badge } from '../../src/check/report/badge.js'
import { htmlReport } from '../../src/check/report/html.js'
import { humanReport } from '../../src/check/report/human.js'
import { junitReport } from '../../src/check/report/junit.js'
import type { Report } from '../../src/check/report/report.js'
import type { Run } from '../../src/check/run.js'
import { waiversOf } from '../../src/check/waivers.js'
import { agentByHand, checkByHand, reported } from './kit.js'

let run: Run
let report: Report

beforeAll(async () => {
  const answer = agentByHand(
    (_, response) => void response.end('{"jsonrpc":"2.0","id":1,"result":{"tasks":[],"note":"<script>alert(1)</script> & \\u0001"}}'),
  )
  run = await checkByHand(answer, { only: ['C1', 'C5', 'L1', 'L2', 'A1'], identities: { a: { Authorization: 'Bearer the-secret' } } })
  report = reported(run, { secrets: new Map([['the-secret', '$TOKEN_A']]) })
})

test('the conclusion follows from what a MUST came to', () => {
  expect(report).toMatchObject({ schema: 'errand-check/1', conclusion: 'not conformant', agent: 'By hand 1.2.3' })
  expect(report.counts.MUST).toMatchObject({ pass: 1, fail: 1, 'not provoked': 1, 'not applicable': 1 })
  expect(report.counts.SHOULD).toMatchObject({ fail: 1 })
})

test('nothing skipped counts as passed', () => {
  expect(report.coverage).toBe(3 / 4)
  expect(reported(run, { minCoverage: 0.9 }).problem).toContain('75 %')
})

test('a terminal is told the clause, what was wanted, what came and how to repeat it', () => {
  const text = humanReport(report)
  expect(text).toContain('FAIL L1 JSONRPC, MUST, §3.1.4')
  expect(text).toContain('wanted  a valid ListTasksResponse')
  expect(text).toContain('totalSize is missing')
  expect(text).toContain("curl -i -X POST 'http://agent.test/rpc'")
  expect(text.trimEnd().split('\n').at(-1)).toBe('not conformant')
})

test('JUnit fails for a MUST and only tells of the rest', () => {
  const xml = junitReport(report)
  expect(xml.match(/<failure /g)).toHaveLength(1)
  expect(xml.match(/<skipped /g)).toHaveLength(3)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what XML cannot hold
  expect(xml).not.toMatch(/<script>|[\u0000-\u0008]/)
})

test.each([
  ['not conformant', '1 failed', '#b3261e'],
  ['inconclusive', 'inconclusive', '#6b6b6b'],
  ['unreachable', 'unreachable', '#6b6b6b'],
  ['conformant', 'conformant, 1 checks', '#2a7d2e'],
] as const)('the badge of what is %s says so', (conclusion, text, colour) => {
  const svg = badge({ ...report, conclusion })
  expect(svg).toContain(`A2A 1.0: ${text}`)
  expect(svg).toContain(colour)
})

test('no form shows a credential', () => {
  for (const text of [humanReport(report), junitReport(report), htmlReport(report), badge(report), JSON.stringify(report)])
    expect(text).not.toContain('the-secret')
})

describe('waivers', () => {
  const waiver = (more: object = {}) => waiversOf([{ id: 'L1', reason: 'mended next week', until: '2026-06-01', ...more }])

  test('what is waived fails no more, and is told with its reason', () => {
    const waived = reported(run, { waivers: waiver() })
    expect(waived).toMatchObject({ conclusion: 'conformant', waiverFaults: [] })
    expect(waived.outcomes.find(({ id }) => id === 'L1')).toMatchObject({
      verdict: 'waived',
      reason: 'mended next week (until 2026-06-01)',
    })
  })

  test.each([
    ['expired', { until: '2025-12-31' }, 'expired on 2025-12-31'],
    ['not needed', { id: 'C1' }, 'is not needed'],
  ])('one that is %s fails', (_, more, fault) => {
    const refused = reported(run, { waivers: waiver(more) })
    expect(refused.conclusion).toBe('not conformant')
    expect(refused.waiverFaults[0]).toContain(fault)
  })

  test.each([
    [{}],
    [[{ id: 'L1' }]],
    [[{ id: 'L1', reason: ' ', until: '2026-01-01' }]],
    [[{ id: 'L1', reason: 'x', until: 'soon' }]],
    [[{ id: 'L1', reason: 'x', until: '2026-01-01', more: 1 }]],
  ])('%j are none', (given) => {
    expect(() => waiversOf(given)).toThrow(TypeError)
  })
})

test('the page filters, shows the wire and what changed, and fits a phone in light and dark', async () => {
  const before = { ...report, outcomes: report.outcomes.map((one) => (one.id === 'L1' ? { ...one, verdict: 'pass' as const } : one)) }
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  try {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({ viewport: { width: 360, height: 740 }, colorScheme })
      const faults: string[] = []
      page.on('pageerror', (error) => faults.push(error.message))
      page.on('request', (request) => faults.push(request.url()))
      await page.setContent(htmlReport(report, before))
      expect(await page.locator('.row:visible').count()).toBe(5)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      await page.getByRole('checkbox').check()
      expect(await page.locator('.row:visible').allTextContents()).toEqual([expect.stringContaining('was pass')])
      await page.locator('.row:visible summary').click()
      expect(await page.locator('pre.answered:visible').textContent()).toContain('<script>alert(1)</script>')
      await page.getByRole('checkbox').uncheck()
      await page.getByRole('searchbox').fill('max-age')
      expect(await page.locator('.row:visible code').allTextContents()).toEqual(['C5'])
      const [ink, paper] = (await page.evaluate(
        '[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]',
      )) as [string, string]
      expect(ink === paper).toBe(false)
      expect(paper).toBe(colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(22, 22, 22)')
      expect((await page.screenshot({ fullPage: true })).length).toBeGreaterThan(5_000)
      expect(faults).toEqual([])
      await page.close()
    }
  } finally {
    await browser.close()
  }
})

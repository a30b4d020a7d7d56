/** docs/decisions.md has every decision, and every decision the tests that hold it. */

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { faultOf } from './cited-tests.js'

const decisions = 25

const page = readFileSync(new URL('../../docs/decisions.md', import.meta.url), 'utf8')

function faultsOf(text: string): string[] {
  const [body = ''] = text.split(/^## Where one may read the text otherwise$/m)
  const [, ...sections] = body.split(/^## /m)
  const numbers = sections.map((section) => Number(/^D(\d+): ./.exec(section)?.[1]))
  const order =
    numbers.every((number, i) => number === i + 1) && numbers.length === decisions ? [] : [`the decisions are ${numbers.join(', ')}`]
  return [...order, ...sections.flatMap((section, i) => faultsOfDecision(section).map((fault) => `D${i + 1}: ${fault}`))]
}

function faultsOfDecision(section: string): string[] {
  const missing = ['**The text:** ', '**Errand:** ', '**Why:** '].filter((part) => !section.includes(`\n${part}`))
  const held = [...section.matchAll(/^- Held by: (.*)$/gm)].map(([, by = '']) => by)
  if (held.length === 0) return [...missing, 'is held by no test']
  const faults = held.map((by) => {
    const [, path, title] = /^`([^`]+)` > (.+)$/.exec(by) ?? []
    return path && title ? faultOf(`${path} > ${title}`) : `${by} is no test`
  })
  return [...missing, ...faults.filter((fault) => fault !== undefined)]
}

test('every decision says what the text says, what Errand does, why, and which test holds it', () => {
  expect(faultsOf(page)).toEqual([])
})

test.each([
  'The table of moves',
  'A message to a working task',
  'The name of the token header',
  'A version error in HTTP 200',
  'The bodies of HTTP errors',
  'Where a stream ends',
  'Why seven errors share HTTP 400',
])('the page says where one may read the text otherwise: %s', (heading) => {
  const [, end = ''] = page.split(/^## Where one may read the text otherwise$/m)
  expect(end.split(`\n### ${heading}\n`)[1]?.trim()).toMatch(/^[A-Z]/)
})

describe('a planted fault is found', () => {
  test.each<[string, RegExp | string, string]>([
    ['a decision without a test', /\n- Held by: `test\/bindings\/http-json.test.ts` > :subscribe.*/, ''],
    ['a test that is not there', ':subscribe opens the stream (D1)', ':subscribe opens the door'],
    ['a file that is not there', 'test/bindings/order-of-checks.test.ts` > of any', 'test/bindings/disorder.test.ts` > of any'],
    [
      'a decision that leaves its test for later',
      /Held by: `test\/bindings\/http-json.test.ts` > :subscribe.*/,
      'Held by: later, by somebody',
    ],
    ['a decision without a reason', /\n\*\*Why:\*\* clients made from.*/, ''],
  ])('%s', (_, from, to) => {
    expect(page.replace(from, to)).not.toBe(page)
    expect(faultsOf(page.replace(from, to))).toHaveLength(1)
  })

  test('a decision that is missing', () => {
    expect(faultsOf(page.replace(/^## D25[\s\S]*?(?=^## )/m, ''))).toHaveLength(1)
  })
})

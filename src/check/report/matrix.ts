/** The kill matrix as a page: each defect with the checks that caught it. */

import { htmlStyle } from './html-look.js'

export interface MatrixRow {
  readonly id: string
  readonly what: string
  readonly section: string
  readonly caughtBy: readonly string[]
}

export interface MatrixResult {
  readonly checks: readonly string[]
  readonly caught: readonly string[]
  readonly falseAlarms: readonly { readonly profile: string; readonly check: string }[]
  readonly unproved: readonly string[]
  readonly matrix: Readonly<Record<string, readonly string[]>>
}

export function matrixPage({ matrix, caught, checks, falseAlarms, unproved }: MatrixResult, defects: readonly MatrixRow[]): string {
  const rows = defects.map(({ id, what, section, caughtBy }) => {
    const failed = matrix[id] ?? []
    const marks = failed.map((check) => (caughtBy.includes(check) ? `<b>${check}</b>` : check)).join(' ')
    const verdict = caught.includes(id) ? 'pass' : 'fail'
    return `<div class="row ${verdict}"><p class="head"><span class="verdict">${verdict === 'pass' ? 'caught' : 'missed'}</span> <code>${id}</code> ${escaped(what)} <span class="meta">§${section}: ${marks || 'no check'}</span></p></div>`
  })
  const alarms = falseAlarms.map(({ profile, check }) => `<p class="fault">${check} fails on the clean server (${profile})</p>`)
  const open = unproved.map((check) => `<p class="fault">No defect makes ${check} fail without a flood of others</p>`)
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    `<meta name="color-scheme" content="light dark"><title>Kill matrix</title><style>${htmlStyle}</style></head><body>`,
    `<header><h1>Kill matrix</h1><p class="where">${caught.length} of ${defects.length} defects caught by ${checks.length} checks</p>${alarms.join('')}${open.join('')}</header>`,
    `<main>${rows.join('')}</main></body></html>\n`,
  ].join('')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

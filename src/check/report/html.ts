/** A report as one page that needs nothing else: filters, the wire of each failure, and what changed since an earlier run. */

import { type Area, areas } from '../check.js'
import type { Exchange } from '../exchange.js'
import { htmlScript, htmlStyle } from './html-look.js'
import { percent, type Report, type ReportedOutcome } from './report.js'

/** @param before an earlier report of the same agent */
export function htmlReport(report: Report, before?: Pick<Report, 'outcomes' | 'startedAt'>): string {
  const earlier = new Map(before?.outcomes.map((one) => [keyOf(one), one.verdict]))
  const sections = (Object.entries(areas) as [Area, string][]).map(([letter, title]) => {
    const own = report.outcomes.filter(({ area }) => area === letter)
    return own.length === 0
      ? ''
      : `<section><h2>${letter} <span>${escaped(title)}</span></h2>${own.map((one) => row(one, before && (earlier.get(keyOf(one)) ?? 'new'))).join('')}</section>`
  })
  const { counts, coverage, messages, conclusion, problem, agent, url, startedAt, waiverFaults } = report
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${escaped(agent || url)}: ${conclusion}</title><style>${htmlStyle}</style></head><body>`,
    `<header><h1>${escaped(agent || 'No agent')}</h1><p class="where">${escaped(url)}, ${escaped(startedAt)}</p>`,
    `<p class="conclusion ${conclusion.replace(' ', '-')}">${conclusion}${problem === undefined ? '' : `: ${escaped(problem)}`}</p>`,
    `<dl>${fact('MUST', `${counts.MUST.pass} of ${judged(counts.MUST)}`)}${fact('SHOULD', `${counts.SHOULD.pass} of ${judged(counts.SHOULD)}`)}`,
    `${fact('Coverage', percent(coverage))}${fact('Messages', String(messages.sent))}</dl>`,
    waiverFaults.map((fault) => `<p class="fault">${escaped(fault)}</p>`).join(''),
    '<form aria-label="Filter"><input type="search" id="words" placeholder="Filter by id, section or words" aria-label="Words">',
    `<select id="verdict" aria-label="Verdict"><option value="">all verdicts</option>${options(report)}</select>`,
    before ? `<label><input type="checkbox" id="changed"> changed since ${escaped(before.startedAt.slice(0, 10))}</label>` : '',
    `<output id="count"></output></form></header><main>${sections.join('')}</main><script>${htmlScript}</script></body></html>\n`,
  ].join('')
}

const keyOf = ({ id, binding }: Pick<ReportedOutcome, 'id' | 'binding'>) => `${id} ${binding}`
const judged = ({ pass, fail, waived }: Report['counts']['MUST']) => pass + fail + waived
const fact = (name: string, value: string) => `<div><dt>${name}</dt><dd>${escaped(value)}</dd></div>`

function options({ outcomes }: Report): string {
  return [...new Set(outcomes.map(({ verdict }) => verdict))].map((verdict) => `<option>${verdict}</option>`).join('')
}

function row(one: ReportedOutcome, before: string | undefined): string {
  const isChanged = before !== undefined && before !== one.verdict
  const details = [
    one.wanted === undefined ? '' : `<p><b>wanted</b> ${escaped(one.wanted)}</p>`,
    one.got === undefined ? '' : `<p><b>got</b> ${escaped(one.got)}</p>`,
    one.reason === undefined ? '' : `<p>${escaped(one.reason)}</p>`,
    ...one.readings.map(({ about, has }) => `<p><b>${escaped(about)}</b> ${escaped(has)}</p>`),
    one.curl === undefined ? '' : `<p><b>repeat</b></p><pre>${escaped(one.curl)}</pre>`,
    one.exchanges.length === 0 ? '' : `<p><b>wire</b></p>${one.exchanges.map(wire).join('')}`,
  ].join('')
  const head = `<span class="verdict">${one.verdict}</span> <code>${one.id}</code> <span class="intent">${escaped(one.intent)}</span> <span class="meta">${one.level} §${escaped(one.section)}, ${escaped(one.binding)}${isChanged ? `, was ${escaped(before)}` : ''}</span>`
  const attributes = `class="row ${one.verdict.replace(' ', '-')}" data-verdict="${one.verdict}"${isChanged ? ' data-changed' : ''}`
  return details === ''
    ? `<div ${attributes}><p class="head">${head}</p></div>`
    : `<details ${attributes}><summary>${head}</summary><div class="more">${details}</div></details>`
}

function wire({ sent, status, headers, body, durationMs, problem }: Exchange): string {
  const lines = (list: Exchange['headers']) => list.map(([name, value]) => `${name}: ${value}`).join('\n')
  const asked = `${sent.method} ${sent.url}\n${lines(sent.headers)}\n\n${typeof sent.body === 'string' ? sent.body : ''}`.trimEnd()
  const answered =
    status === undefined ? (problem ?? 'no answer') : `HTTP ${status} after ${durationMs} ms\n${lines(headers)}\n\n${body}`.trimEnd()
  return `<pre class="asked">${escaped(asked)}</pre><pre class="answered">${escaped(answered)}</pre>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

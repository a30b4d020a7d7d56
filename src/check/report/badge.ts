/** A badge for a README: what came of a run, as SVG. Grey where nothing did. */

import type { Conclusion, Report } from './report.js'

const looks: Readonly<Record<Conclusion, { readonly text: (report: Report) => string; readonly colour: string }>> = {
  conformant: { text: ({ counts }) => `conformant, ${counts.MUST.pass} checks`, colour: '#2a7d2e' },
  'not conformant': { text: ({ counts }) => `${counts.MUST.fail || 'waivers'} failed`, colour: '#b3261e' },
  inconclusive: { text: () => 'inconclusive', colour: '#6b6b6b' },
  unreachable: { text: () => 'unreachable', colour: '#6b6b6b' },
}

const label = 'A2A 1.0'

export function badge(report: Report): string {
  const { text, colour } = looks[report.conclusion]
  const said = text(report)
  const [left, right] = [width(label), width(said)]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${label}: ${said}">`,
    `<title>${label}: ${said}</title>`,
    `<rect width="${left + right}" height="20" rx="3" fill="#333"/>`,
    `<path d="M${left} 0h${right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H${left}z" fill="${colour}"/>`,
    `<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">`,
    `<text x="${left / 2}" y="14">${label}</text><text x="${left + right / 2}" y="14">${said}</text></g></svg>\n`,
  ].join('')
}

/** About what Verdana takes at 11 px. */
function width(text: string): number {
  return Math.ceil(text.length * 6.6) + 12
}

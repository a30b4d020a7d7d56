/** The two charts of a length of job: when each caller was told, and what that cost. */

import type { MarkKind, Measurement } from './experiment.js'
import { nameOf, type Row } from './model.js'
import { counted, lateText, spelled } from './words.js'

const width = 720
const labelWidth = 132
const rowHeight = 28

/** What went over the wire while each caller waited, and the moment at which it knew. */
export function timeline(jobSeconds: number, measurements: readonly Measurement[]): string {
  const top = 44
  const bottom = top + measurements.length * rowHeight
  const longest = Math.max(...measurements.map(({ row }) => row.lateSeconds)) + jobSeconds
  const x = (seconds: number) => round(labelWidth + (seconds / longest) * (width - labelWidth - 92))
  const step = niceStep(Math.max(1, longest / 6))
  const ticks = Array.from({ length: Math.floor(longest / step) + 1 }, (_, n) => n * step)
  const axis = ticks.map((at) => text(x(at), bottom + 18, `${at} s`, 'soft middle')).join('')
  const end = x(jobSeconds)
  return svg(
    bottom + 28,
    {
      id: `timeline-${jobSeconds}`,
      title: `When each caller knew that a job of ${jobSeconds} s had finished`,
      about: measurements
        .map(({ row }) => `${nameOf(row)}: ${counted(row.requests, 'request')}, ${told(row)}${lateText(row.lateSeconds)}`)
        .join('; '),
    },
    [
      `<rect class="well" x="${x(0)}" y="${top}" width="${round(end - x(0))}" height="${bottom - top}"/>`,
      text((x(0) + end) / 2, 18, 'the job is at work', 'soft middle'),
      text(end, 34, `it ends after ${jobSeconds} s`, 'middle'),
      `<path class="end" d="M${end} ${top - 6}V${bottom + 4}"/>`,
      ...measurements.map((one, n) => timelineRow(one, top + (n + 0.5) * rowHeight, x)),
      axis,
    ],
  )
}

function timelineRow({ row, marks }: Measurement, y: number, x: (seconds: number) => number): string {
  const { jobSeconds, lateSeconds } = row
  const known = x(jobSeconds + lateSeconds)
  const of = (kind: MarkKind) => marks.filter((mark) => mark.kind === kind).map(({ atSeconds }) => x(atSeconds))
  return [
    text(labelWidth - 10, y + 4, nameOf(row), 'end-aligned'),
    `<path class="wait" d="M${x(0)} ${y}H${known}"/>`,
    lateSeconds > 0 ? `<path class="late" d="M${x(jobSeconds)} ${y}H${known}"/>` : '',
    marksOf('ask', of('request'), y, requestMark),
    marksOf('tell', of('event'), y, eventMark),
    marksOf('tell', of('post'), y, postMark),
    marksOf('cut', of('cut'), y, cutMark),
    `<path class="knew" d="${knewMark(known, y)}"/>`,
    text(known + 12, y + 4, lateText(lateSeconds), lateSeconds > 0 ? 'strong' : ''),
  ].join('')
}

type MarkShape = (x: number, y: number) => string

const requestMark: MarkShape = (x, y) => `M${x} ${y - 8}v16`
const eventMark: MarkShape = (x, y) => `M${round(x - 4)} ${y}a4 4 0 1 0 8 0a4 4 0 1 0-8 0z`
const postMark: MarkShape = (x, y) => `M${round(x - 4)} ${y - 4}h8v8h-8z`
const cutMark: MarkShape = (x, y) => `M${round(x - 5)} ${y - 5}l10 10m0-10l-10 10`
const knewMark: MarkShape = (x, y) => `M${x} ${y - 7}l7 7l-7 7l-7-7z`

/** The marks of the timeline and what they mean. */
export const timelineLegend = (
  [
    ['ask', requestMark(9, 9), 'the caller asks (a request)'],
    ['tell', eventMark(9, 9), 'the agent tells (an event of a stream)'],
    ['tell', postMark(9, 9), 'the agent tells (a post to the caller)'],
    ['cut', cutMark(9, 9), 'the connection is cut'],
    ['knew', knewMark(9, 9), 'the caller knows'],
  ] as const
).map(legendEntry)

/** The marks of the bars and what they mean. */
export const costLegend = (
  [
    ['bar', 'M1 4h16v10h-16z', 'measured'],
    ['model', 'M9 0V18', 'what the model says (there is none for bytes)'],
  ] as const
).map(legendEntry)

function legendEntry([name, shape, meaning]: readonly [string, string, string]): string {
  return `<span class="entry"><svg viewBox="0 0 18 18" width="18" height="18" aria-hidden="true"><path class="${name}" d="${shape}"/></svg> ${meaning}</span>`
}

interface Column {
  readonly title: string
  readonly measured: (row: Row) => number
  readonly model?: (row: Row) => number
}

const columns: readonly Column[] = [
  { title: 'requests', measured: (row) => row.requests, model: (row) => row.modelRequests },
  { title: 'bytes', measured: (row) => row.bytes },
  { title: 'seconds late', measured: (row) => row.lateSeconds, model: (row) => row.modelLateSeconds },
]

const columnWidth = (width - labelWidth) / columns.length
/** The rest is for the numbers. */
const barWidth = columnWidth - 80

/** Requests, bytes and lateness, measured and by the model. */
export function costs(jobSeconds: number, rows: readonly Row[]): string {
  const top = 30
  return svg(
    top + rows.length * rowHeight,
    {
      id: `costs-${jobSeconds}`,
      title: `What it cost each caller to know that a job of ${jobSeconds} s had finished`,
      about: rows
        .map((row) => `${nameOf(row)}: ${counted(row.requests, 'request')}, ${counted(row.bytes, 'byte')}, ${lateText(row.lateSeconds)}`)
        .join('; '),
    },
    [
      ...rows.map((row, n) => text(labelWidth - 10, top + (n + 0.5) * rowHeight + 4, nameOf(row), 'end-aligned')),
      ...columns.map((column, n) => bars(column, rows, labelWidth + n * columnWidth, top)),
    ],
  )
}

function bars({ title, measured, model }: Column, rows: readonly Row[], left: number, top: number): string {
  const most = Math.max(1, ...rows.map((row) => Math.max(measured(row), model?.(row) ?? 0)))
  const length = (value: number) => round((value / most) * barWidth)
  const bottom = top + rows.length * rowHeight
  return [
    text(left, 16, title, 'strong'),
    `<path class="base" d="M${left} ${top}V${bottom}"/>`,
    ...rows.map((row, n) => {
      const y = top + (n + 0.5) * rowHeight
      const value = measured(row)
      const predicted = model?.(row)
      const differs = predicted !== undefined && predicted !== value
      return [
        value > 0 ? `<path class="bar" d="M${left} ${y - 6}h${length(value)}v12h-${length(value)}z"/>` : '',
        predicted === undefined ? '' : `<path class="model" d="M${round(left + length(predicted))} ${y - 9}v18"/>`,
        text(
          left + length(Math.max(value, predicted ?? 0)) + 7,
          y + 4,
          differs ? `${spelled(value)}, model ${spelled(predicted)}` : spelled(value),
        ),
      ].join('')
    }),
  ].join('')
}

/** What a caller was told without asking. */
function told({ events, posts }: Row): string {
  return [events > 0 ? `${counted(events, 'event')}, ` : '', posts > 0 ? `${counted(posts, 'post')}, ` : ''].join('')
}

interface Caption {
  /** Of the element, once on its page. */
  readonly id: string
  readonly title: string
  /** The same as the drawing, in words. */
  readonly about: string
}

function svg(height: number, { id, title, about }: Caption, content: readonly string[]): string {
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${id} ${id}-about"><title id="${id}">${title}</title><desc id="${id}-about">${about}.</desc>${content.join('')}</svg>`
}

function text(x: number, y: number, words: string, className = ''): string {
  return `<text x="${round(x)}" y="${round(y)}"${className === '' ? '' : ` class="${className}"`}>${words}</text>`
}

/** All marks of one kind are one path: a caller may ask thousands of times. */
function marksOf(className: string, places: readonly number[], y: number, shape: MarkShape): string {
  return places.length === 0 ? '' : `<path class="${className}" d="${places.map((x) => shape(x, y)).join('')}"/>`
}

/** 1, 2 or 5 times a power of ten, `least` at least. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least))
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least) ?? least
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

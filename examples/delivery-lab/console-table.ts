/** The measurements as a table for the console. */

import { nameOf, predict, published, publishedFor, type Row } from './model.js'
import { counted, lateText, spelled, verdict } from './words.js'

const head = ['', 'job', 'requests', 'model', 'posts', 'events', 'bytes', 'late', 'model']

export function consoleTable(rows: readonly Row[]): string {
  const lines = rows.map((row) => [
    nameOf(row),
    `${row.jobSeconds} s`,
    spelled(row.requests),
    spelled(row.modelRequests),
    spelled(row.posts),
    spelled(row.events),
    spelled(row.bytes),
    `${row.lateSeconds} s`,
    `${row.modelLateSeconds} s`,
  ])
  const widths = head.map((title, column) => Math.max(...[title, ...lines.map((line) => line[column] ?? '')].map(({ length }) => length)))
  const lineOf = (cells: readonly string[]) =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ')
  return [lineOf(head), ...lines.map(lineOf), '', verdict(rows), publishedText()].join('\n')
}

function publishedText(): string {
  const figures = published.map((one) => {
    const { requests, lateSeconds } = predict(one, publishedFor.label)
    const said = `${counted(one.requests, 'request')}, ${spelled(one.bytes)} bytes, ${lateText(one.lateSeconds)}`
    return `  ${nameOf(one).padEnd(15)}  ${said.padEnd(40)}  for ${publishedFor.label} s the model says ${counted(requests, 'request')}, ${lateText(lateSeconds)}`
  })
  return `\nPublished before, and labelled with a job of ${publishedFor.label} s. The counts are those of a job of ${publishedFor.fits} s:\n${figures.join('\n')}`
}

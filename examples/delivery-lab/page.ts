/** The measurements as one page that needs nothing else. Every text in it is written here; what comes in are numbers. */

import { costLegend, costs, timeline, timelineLegend } from './charts.js'
import type { Measurement } from './experiment.js'
import { nameOf, type Published, predict, published, publishedFor, type Row } from './model.js'
import { pageStyle } from './page-look.js'
import { byJob, counted, lateText, listed, spelled, verdict } from './words.js'

const title = 'How do I learn that a long job has finished?'

export function page(measurements: readonly Measurement[]): string {
  const jobs = byJob(measurements, ({ row }) => row)
  const rows = measurements.map(({ row }) => row)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${pageStyle}</style>
</head>
<body>
<header>
<h1>${title}</h1>
${lead(jobs.at(-1)?.all.map(({ row }) => row) ?? [])}
</header>
<main>
${jobs.map(({ jobSeconds, all }) => jobSection(jobSeconds, all)).join('\n')}
<section>
<h2>Which one to use</h2>
${advice}
</section>
<section>
<h2>All numbers, with the model beside them</h2>
<p>${verdict(rows)}</p>
${numbers(jobs.map(({ jobSeconds, all }) => ({ jobSeconds, rows: all.map(({ row }) => row) })))}
<p>The model: whoever polls every <i>p</i> seconds sends a job of <i>T</i> seconds, looks at once, and looks again after each <i>p</i> seconds. That makes ⌈<i>T</i>/<i>p</i>⌉ + 2 requests, and the end is known
<i>p</i>·⌈<i>T</i>/<i>p</i>⌉ − <i>T</i> seconds late: less than <i>p</i>, and how much less is luck. Whoever is told needs one request and knows at once; a stream that is cut takes one request more. The posts are the events of the stream but the first, which
shows the task as it is and is the answer to the send where nothing is streamed.</p>
</section>
<section>
<h2>Beside the figures that were published before</h2>
<p>They are labelled with a job of ${publishedFor.label} s. Their counts are those of a job of ${publishedFor.fits} s: with ${publishedFor.label} s, the model has ${listed(polls.map((one) => spelled(predict(one, publishedFor.label).requests)))} requests for the polls,
and they say ${listed(polls.map(({ requests }) => spelled(requests)))}. Bytes differ, since the agent, its words and the headers are others.</p>
${publishedTable(rows)}
</section>
<section>
<h2>How this was measured</h2>
${method}
</section>
</main>
</body>
</html>
`
}

const polls = published.filter(({ mechanism }) => mechanism === 'poll')

/** What is to be learned from the rows of one length of job. */
function lead(rows: readonly Row[]): string {
  const atOnce = rows.filter(({ requests, lateSeconds }) => requests === 1 && lateSeconds === 0)
  const asked = rows.filter(({ mechanism }) => mechanism === 'poll')
  const [cut] = rows.filter(({ mechanism }) => mechanism === 'stream-cut')
  const [first] = rows
  if (!first) return ''
  const sentences = [
    atOnce.length > 0 && `${listed(atOnce.map((row) => `a ${nameOf(row)}`))} took one request each and told at the very moment of its end.`,
    `Asking ${listed(asked.map((row) => `${everyText(row.everySeconds)} took ${counted(row.requests, 'request')} (${lateText(row.lateSeconds)})`))}.`,
    cut &&
      `A stream that was cut on the way took ${counted(cut.requests, 'request')}, got ${counted(cut.events, 'event')}, and was ${lateText(cut.lateSeconds)}.`,
  ]
  return `<p class="lead">Let the agent tell you. With a job of ${first.jobSeconds} s, ${sentences.filter(Boolean).join(' ')}</p>`
}

const everyText = (seconds: number | null) => (seconds === 1 ? 'every second' : `every ${seconds} seconds`)

function jobSection(jobSeconds: number, measurements: readonly Measurement[]): string {
  const rows = measurements.map(({ row }) => row)
  return `<section>
<h2>A job of ${jobSeconds} s</h2>
${figure('When each caller knew', timelineLegend, timeline(jobSeconds, measurements))}
${figure('What that cost', costLegend, costs(jobSeconds, rows))}
</section>`
}

function figure(caption: string, legend: readonly string[], svg: string): string {
  return `<figure>
<figcaption>${caption}</figcaption>
<div class="legend">${legend.join('')}</div>
${scrolling(caption, svg)}
</figure>`
}

/** On a narrow screen it moves sideways, also by the keyboard. */
const scrolling = (label: string, content: string) =>
  `<div class="scroll" role="region" tabindex="0" aria-label="${label}">${content}</div>`

const advice = `<ul>
<li><b>Stream</b> while you are there: one request, each step as it happens, and a cut costs one request more and no event. Something has to hold a connection open; a comment line every 15 s keeps proxies from closing it.</li>
<li><b>Push</b> when you will not wait: the agent posts to you, also hours later and after a restart of either side. You need an address that it can reach.</li>
<li><b>Blocking send</b> for short jobs: the least bytes, and no word before the end. If it is cut, send the same message again, under the same id.</li>
<li><b>Poll</b> when nothing else goes through: you pay for being early with requests, or for saving requests with lateness.</li>
</ul>`

interface JobRows {
  readonly jobSeconds: number
  readonly rows: readonly Row[]
}

function numbers(jobs: readonly JobRows[]): string {
  const body = jobs.map(
    ({ jobSeconds, rows }) =>
      `<tbody>${rows
        .map(
          (row) => `<tr><th scope="row">${nameOf(row)}</th><td>${jobSeconds} s</td>
${pair(row.requests, row.modelRequests)}<td>${spelled(row.posts)}</td><td>${spelled(row.events)}</td><td>${spelled(row.bytes)}</td>${pair(row.lateSeconds, row.modelLateSeconds, ' s')}</tr>`,
        )
        .join('')}</tbody>`,
  )
  return table(
    'Each way to learn of the end',
    `<th scope="col">The caller used</th><th scope="col">Job</th><th scope="col">Requests</th><th scope="col">Model</th><th scope="col">Posts</th><th scope="col">Events</th><th scope="col">Bytes</th><th scope="col">Late</th><th scope="col">Model</th>`,
    body.join(''),
  )
}

/** A measured number and that of the model. */
function pair(measured: number, model: number, unit = ''): string {
  const cell = measured === model ? 'td' : 'td class="differs"'
  return `<${cell}>${spelled(measured)}${unit}</td><td>${spelled(model)}${unit}</td>`
}

function publishedTable(rows: readonly Row[]): string {
  const ours = byJob(rows, (row) => row)
  const head = [
    `Published, “${publishedFor.label}\u00a0s”`,
    `Model, ${publishedFor.label}\u00a0s`,
    `Model, ${publishedFor.fits}\u00a0s`,
    ...ours.map(({ jobSeconds }) => `Measured here, ${jobSeconds}\u00a0s`),
  ]
  const body = published.map((one) => {
    const cells = [
      publishedCell(one),
      modelCell(one, publishedFor.label),
      modelCell(one, publishedFor.fits),
      ...ours.map(({ all }) => measuredCell(all.find((row) => nameOf(row) === nameOf(one)))),
    ]
    return `<tr><th scope="row">${nameOf(one)}</th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`
  })
  return table(
    'Published and measured',
    `<th scope="col">The caller used</th>${head.map((words) => `<th scope="col">${words}</th>`).join('')}`,
    `<tbody>${body.join('')}</tbody>`,
  )
}

const cellOf = (...lines: readonly (string | undefined)[]) => lines.filter(Boolean).join('<br>')

const publishedCell = ({ requests, told, bytes, lateSeconds }: Published) =>
  cellOf(counted(requests, 'request'), told, counted(bytes, 'byte'), lateText(lateSeconds))

function modelCell(one: Published, jobSeconds: number): string {
  const { requests, lateSeconds } = predict(one, jobSeconds)
  return cellOf(counted(requests, 'request'), lateText(lateSeconds))
}

function measuredCell(row: Row | undefined): string {
  if (!row) return 'not measured'
  const told = row.events > 0 ? counted(row.events, 'event') : row.posts > 0 ? counted(row.posts, 'post') : undefined
  return cellOf(counted(row.requests, 'request'), told, counted(row.bytes, 'byte'), lateText(row.lateSeconds))
}

function table(caption: string, head: string, body: string): string {
  return scrolling(caption, `<table><caption>${caption}</caption><thead><tr>${head}</tr></thead>${body}</table>`)
}

const method = `<ul>
<li><b>The job</b> reports five times: at its beginning, after each quarter, and at its end. An agent does it that serves real sockets of one machine, and keeps its tasks in memory.</li>
<li><b>Time</b> is virtual, for the agent and its callers alike. It moves on only when no request, frame or answer is under way: when both ends of each connection have read what the other one wrote and nothing comes of it any more. So the numbers do not
depend on how fast the machine is, and networks add their own time to them. Where a job ends at the very moment of a poll, that poll sees it.</li>
<li><b>Bytes</b> are those that TCP carried, as the sockets count them, in both directions: request and status lines, headers, bodies, the framing of chunks, comment lines of idle streams, and the posts with their answers. Not counted are the headers of TCP and
IP, and the agent card, which each caller may keep.</li>
<li><b>Requests</b> and <b>posts</b> are counted where they arrive; <b>events</b> where the caller gets them. All callers use the binding HTTP+JSON and the <code>fetch</code> of Node.</li>
<li><b>The stream that is cut</b> loses its connection just before half of the time, and the third report comes while nobody is connected.</li>
</ul>`

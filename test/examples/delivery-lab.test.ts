/** The delivery experiment: its numbers are those of the model, do not depend on the machine, and come out as they were measured. */

import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readArguments } from '../../examples/delivery-lab/arguments.js'
import { createClock } from '../../examples/delivery-lab/clock.js'
import { consoleTable } from '../../examples/delivery-lab/console-table.js'
import { type Measurement, runExperiment } from '../../examples/delivery-lab/experiment.js'
import { nameOf, predict, published, type Row } from '../../examples/delivery-lab/model.js'
import { page } from '../../examples/delivery-lab/page.js'
import { openWire } from '../../examples/delivery-lab/wire.js'

const rowsOf = (measurements: readonly Measurement[]) => measurements.map(({ row }) => row)
const ofJob = (seconds: number) => rowsOf(measured).filter(({ jobSeconds }) => jobSeconds === seconds)
const figures = (rows: readonly Row[]) => rows.map((row) => [nameOf(row), row.requests, row.posts, row.events, row.lateSeconds])

const bytesOf = (rows: readonly Row[], name: Row['mechanism']) => rows.find(({ mechanism }) => mechanism === name)?.bytes ?? Number.NaN

let measured: readonly Measurement[] = []
beforeAll(async () => {
  measured = await runExperiment({ jobSeconds: [20, 100], everySeconds: [1, 7, 30] })
}, 120_000)

describe('the measurements', () => {
  test('a job of 100 s: the requests, posts, events and lateness that were published', () => {
    expect(figures(ofJob(100))).toEqual([
      ['poll every 1 s', 102, 0, 0, 0],
      ['poll every 7 s', 17, 0, 0, 5],
      ['poll every 30 s', 6, 0, 0, 20],
      ['blocking send', 1, 0, 0, 0],
      ['stream', 1, 0, 6, 0],
      ['stream, cut once', 2, 0, 6, 0],
      ['push', 1, 5, 0, 0],
    ])
  })

  test('a job of 20 s takes fewer polls', () => {
    expect(figures(ofJob(20)).slice(0, 3)).toEqual([
      ['poll every 1 s', 22, 0, 0, 0],
      ['poll every 7 s', 5, 0, 0, 1],
      ['poll every 30 s', 3, 0, 0, 10],
    ])
  })

  test('those who are told need as many requests for 20 s as for 100 s', () => {
    expect(figures(ofJob(20)).slice(3)).toEqual(figures(ofJob(100)).slice(3))
  })

  test('the model says the same', () => {
    for (const row of rowsOf(measured)) {
      expect({ requests: row.requests, lateSeconds: row.lateSeconds }).toEqual(predict(row, row.jobSeconds))
      expect([row.modelRequests, row.modelLateSeconds]).toEqual([row.requests, row.lateSeconds])
    }
  })

  test('each has the members of the JSON, in their order', () => {
    for (const row of rowsOf(measured))
      expect(Object.keys(row).join()).toBe(
        'mechanism,everySeconds,jobSeconds,requests,posts,events,bytes,lateSeconds,modelRequests,modelLateSeconds',
      )
  })

  test('a report comes while the stream is cut, and is told when it stands again', () => {
    const marks = measured.find(({ row }) => row.mechanism === 'stream-cut' && row.jobSeconds === 20)?.marks ?? []
    expect(marks.map(({ kind }) => kind)).toEqual(['request', 'event', 'event', 'event', 'cut', 'request', 'event', 'event', 'event'])
    expect(marks[4]?.atSeconds).toBeCloseTo(9.9)
    expect(marks[6]?.atSeconds).toBeGreaterThan(10)
  })

  test('another run has the same numbers to the byte, whatever was measured before them', async () => {
    const again = await runExperiment({ jobSeconds: [100], everySeconds: [30, 7] })
    const expected = ofJob(100).filter(({ everySeconds }) => everySeconds !== 1)
    const byName = (rows: readonly Row[]) => Object.fromEntries(rows.map((row) => [nameOf(row), row]))
    expect(byName(rowsOf(again))).toEqual(byName(expected))
  })

  test('none finds anything left of the one before, such as the beat of comment lines', async () => {
    const rows = rowsOf(await runExperiment({ jobSeconds: [42], everySeconds: [40] }))
    const costOfCut = (all: readonly Row[]) => bytesOf(all, 'stream-cut') - bytesOf(all, 'stream')
    expect(costOfCut(rows)).toBe(costOfCut(ofJob(20)))
  })

  test('a poll at the very moment of the end sees it, and one second is job enough', async () => {
    const ties = await runExperiment({ jobSeconds: [1, 28], everySeconds: [1, 7, 28, 40] })
    const polls = rowsOf(ties).filter(({ mechanism }) => mechanism === 'poll')
    expect(polls.map((row) => [row.jobSeconds, row.everySeconds, row.requests, row.lateSeconds])).toEqual([
      [1, 1, 3, 0],
      [1, 7, 3, 6],
      [1, 28, 3, 27],
      [1, 40, 3, 39],
      [28, 1, 30, 0],
      [28, 7, 6, 0],
      [28, 28, 3, 0],
      [28, 40, 3, 12],
    ])
    expect(figures(rowsOf(ties).slice(4, 8))).toEqual(figures(ofJob(20).slice(3)))
  })
})

describe('the clock', () => {
  const idle = { isQuiet: () => true, progress: () => 0 }
  const turns = async (count: number) => {
    for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
  }

  test('stands still while a request is under way, however long that takes', async () => {
    const clock = createClock(idle)
    const request = clock.atOnce(() => turns(500)).then(() => clock.now())
    const slept = clock.sleep(5).then(() => clock.now())
    expect(await clock.until(Promise.all([request, slept]), 10)).toEqual([0, 5])
  })

  test('stands still while a frame is under way', async () => {
    let isQuiet = false
    const clock = createClock({ isQuiet: () => isQuiet, progress: () => 0 })
    const frame = turns(500).then(() => {
      isQuiet = true
      return clock.now()
    })
    expect(await clock.until(Promise.all([frame, clock.sleep(5)]), 10)).toEqual([0, undefined])
  })

  test('rings when the timers of the moment have fired, older or not', async () => {
    const clock = createClock(idle)
    const order: string[] = []
    const rung = clock.sleep(2).then(() => order.push('alarm'))
    clock.world.timer(1000, () => clock.world.timer(1000, () => order.push('timer')))
    await clock.until(rung, 10)
    expect(order).toEqual(['timer', 'alarm'])
  })

  test('gives up on what never comes', async () => {
    const clock = createClock(idle)
    await expect(clock.until(new Promise(() => {}), 10)).rejects.toThrow('nobody was told within 10 s')
  })
})

test('the wire counts what both sides say, and is quiet when both have read it', async () => {
  const wire = openWire()
  const server = createServer((socket) => socket.on('data', () => socket.write('an answer')))
  onTestFinished(() => {
    wire.close()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as { port: number }
  const client = connect(port, '127.0.0.1')
  expect(wire.isQuiet()).toBe(false)
  client.write('a question')
  await once(client, 'data')
  expect(wire.isQuiet()).toBe(true)
  expect(wire.bytes()).toBe('a question'.length + 'an answer'.length)
  client.write('another')
  expect(wire.isQuiet()).toBe(false)
  await once(client, 'data')
  wire.cut(port)
  expect(wire.isQuiet()).toBe(false)
  await once(client, 'error')
  expect(wire.isQuiet()).toBe(true)
})

describe('what comes of it', () => {
  const differing = (): readonly Measurement[] => measured.map((one, n) => (n === 1 ? { ...one, row: { ...one.row, requests: 9 } } : one))

  test('the page needs nothing else, and has nothing that runs', () => {
    expect(page(measured)).not.toMatch(/https?:|\/\/|<script|<link|<img|src=|url\(|@import|\son\w+=/i)
  })

  test('the page has a line of the table for each measurement, with the model beside it', () => {
    const lines = page(measured)
      .split('<tr>')
      .map((line) =>
        line
          .replaceAll('\n', '')
          .replace(/<[^>]*>/g, '|')
          .replace(/\|+/g, '|'),
      )
    for (const row of rowsOf(measured)) {
      const { requests, posts, events, bytes, lateSeconds, jobSeconds } = row
      const cells = [
        nameOf(row),
        `${jobSeconds} s`,
        requests,
        requests,
        posts,
        events,
        bytes.toLocaleString('en'),
        `${lateSeconds} s`,
        `${lateSeconds} s`,
      ]
      expect(lines.filter((line) => line.startsWith(`|${cells.join('|')}|`))).toHaveLength(1)
    }
  })

  test('each drawing says in words what it shows', () => {
    const drawings = page(measured).match(/<svg[^>]*role="img".*?<\/svg>/gs) ?? []
    expect(drawings).toHaveLength(4)
    const ids = [...page(measured).matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const drawing of drawings) {
      const [, title, about] = /aria-labelledby="(\S+) (\S+)"/.exec(drawing) ?? []
      expect(drawing).toContain(`<title id="${title}">`)
      expect(drawing).toMatch(new RegExp(`<desc id="${about}">[^<]*poll every 7 s: (5|17) requests, [^<]*s late`))
    }
  })

  test('page and table show what was published, and that it fits another length of job', () => {
    const text = consoleTable(rowsOf(measured))
    expect(text).toContain('labelled with a job of 20 s. The counts are those of a job of 100 s')
    for (const { bytes } of published) {
      expect(text).toContain(bytes.toLocaleString('en'))
      expect(page(measured)).toContain(`${bytes.toLocaleString('en')} bytes`)
    }
  })

  test('a measurement that is not as the model says stands out', () => {
    const said = '13 of 14 measurements have the requests and the lateness of the model. Not so: poll every 7 s, job of 20 s.'
    expect(consoleTable(rowsOf(differing()))).toContain(said)
    expect(page(differing())).toContain(said)
    expect(page(differing())).toContain('<td class="differs">9</td><td>5</td>')
    expect(page(differing())).toContain('9, model 5')
    expect(page(measured)).not.toContain('class="differs"')
  })
})

describe('arguments', () => {
  test('none: both lengths of job, and the three polls', () => {
    expect(readArguments([])).toEqual({ jobSeconds: [20, 100], everySeconds: [1, 7, 30] })
  })

  test('each length once, in the order given', () => {
    const args = ['--job', '60, 5,60', '--every=2', '--json', 'a.json', '--html', 'a.html']
    expect(readArguments(args)).toEqual({ jobSeconds: [60, 5], everySeconds: [2], json: 'a.json', html: 'a.html' })
  })

  test.each([
    [['--job', '20,x'], '--job takes whole seconds from 1 to 3600, with commas between, such as 20,100; it got "20,x"'],
    [['--job', ''], 'it got ""'],
    [['--job', '0'], 'it got "0"'],
    [['--job', '1.5'], 'it got "1.5"'],
    [['--job', '3601'], 'it got "3601"'],
    [['--every=-1'], '--every takes whole seconds'],
    [['--job'], "'--job <value>' argument missing"],
    [['--json', ''], '--json and --html take the name of a file'],
    [['--seconds', '20'], "Unknown option '--seconds'"],
    [['20'], "Unexpected argument '20'"],
  ])('%j is refused', (args, message) => {
    expect(() => readArguments(args)).toThrow(message)
  })
})

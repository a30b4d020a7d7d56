/** `npm run lab:delivery -- --job 20,100 --json FILE --html FILE`: runs the experiment, prints its table and writes both files. */

import { writeFileSync } from 'node:fs'
import { type Arguments, readArguments, usage } from './arguments.js'
import { consoleTable } from './console-table.js'
import { runExperiment } from './experiment.js'
import { page } from './page.js'

const args = read()
const measurements = await runExperiment(args)
const rows = measurements.map(({ row }) => row)
console.log(consoleTable(rows))
write(args.json, () => `${JSON.stringify(rows, undefined, 2)}\n`)
write(args.html, () => page(measurements))

function read(): Arguments {
  try {
    return readArguments(process.argv.slice(2))
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${usage}`)
    process.exit(2)
  }
}

function write(file: string | undefined, text: () => string): void {
  if (file === undefined) return
  try {
    writeFileSync(file, text())
  } catch (error) {
    console.error(`${file} cannot be written: ${error instanceof Error ? error.message : error}`)
    process.exitCode = 1
  }
}

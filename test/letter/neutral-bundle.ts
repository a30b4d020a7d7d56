/** Bundles for no platform in particular, and a place to run them that has the Web's interfaces and nothing else. */

import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createContext, Script } from 'node:vm'

interface Chunk {
  readonly code: string
  readonly imports: readonly string[]
  readonly dynamicImports: readonly string[]
}

/** As much of the bundler as is used here. */
interface Bundler {
  build(options: object): Promise<{ readonly output: readonly Chunk[] }>
}

export interface Bundle {
  readonly code: string
  /** What it asks its host for by import or require: nothing, on a neutral platform. */
  readonly imports: readonly string[]
  /** What the bundler had to say. */
  readonly warnings: readonly string[]
}

export interface BundleOptions {
  readonly format: 'esm' | 'iife'
  readonly minify?: boolean
}

/** The file with everything it imports as one text. `name` is the global that an `iife` leaves its exports in. */
export async function bundle(file: URL, { format, minify = false }: BundleOptions, name = 'bundled'): Promise<Bundle> {
  const warnings: string[] = []
  const bundler = await findBundler()
  const { output } = await bundler.build({
    input: fileURLToPath(file),
    platform: 'neutral',
    // The packages say by these names what they offer to bundlers for the Web.
    resolve: { mainFields: ['browser', 'module', 'main'], conditionNames: ['workerd', 'worker', 'browser', 'import', 'default'] },
    external: [],
    write: false,
    onLog: (_level: string, log: { readonly message: string }) => void warnings.push(log.message),
    output: { format, minify, name, codeSplitting: false },
  })
  const chunks = output.filter((one) => 'code' in one)
  const [chunk] = chunks
  if (chunk === undefined || chunks.length > 1) throw new Error(`one chunk was expected, not ${chunks.length}`)
  return { code: chunk.code, imports: [...chunk.imports, ...chunk.dynamicImports], warnings }
}

/** The bundler that the test runner itself stands on. */
async function findBundler(): Promise<Bundler> {
  const runner = createRequire(createRequire(import.meta.url).resolve('vitest/package.json'))
  const path = createRequire(runner.resolve('vite/package.json')).resolve('rolldown')
  return import(pathToFileURL(path).href)
}

/** What every Fetch-speaking host has. Timers are numbers there, and no language built-in is listed: a context has its own. */
const webInterfaces = {
  Request,
  Response,
  Headers,
  URL,
  URLSearchParams,
  TextEncoder,
  TextDecoder,
  ReadableStream,
  AbortController,
  AbortSignal,
  crypto,
  CryptoKey,
  atob,
  btoa,
  queueMicrotask,
  structuredClone,
  // Those above hand out bytes of these classes, so code that asks for their class must know the same ones.
  Uint8Array,
  ArrayBuffer,
}

/** Runs a bundle of the format `iife` where there is no `process`, `Buffer`, `require` or `setImmediate`, and gives its exports. */
export function runBundle({ code }: Bundle, name = 'bundled'): any {
  const timers = new Map<number, NodeJS.Timeout>()
  let count = 0
  const context = createContext({
    ...webInterfaces,
    setTimeout(run: () => void, ms: number) {
      const id = ++count
      timers.set(id, setTimeout(run, ms).unref())
      return id
    },
    clearTimeout(id: number) {
      clearTimeout(timers.get(id))
      timers.delete(id)
    },
  })
  new Script(`${code}\nglobalThis.${name} = ${name}`, { filename: 'bundle.js' }).runInContext(context)
  return context[name]
}

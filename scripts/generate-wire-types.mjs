// Writes src/protocol/wire.ts, the TypeScript types of wire objects, from the table in src/protocol/model.ts.
//   node scripts/generate-wire-types.mjs           writes the file
//   node scripts/generate-wire-types.mjs --check   fails when the file is not what would be written
import { readFileSync, writeFileSync } from 'node:fs'
import ts from 'typescript'

const modelUrl = new URL('../src/protocol/model.ts', import.meta.url)
const wireUrl = new URL('../src/protocol/wire.ts', import.meta.url)

const { enums, messages } = await importTypeScript(modelUrl)
const text = render()

if (!process.argv.includes('--check')) writeFileSync(wireUrl, text)
else if (readFileSync(wireUrl, 'utf8') !== text) {
  console.error('src/protocol/wire.ts does not match src/protocol/model.ts: run node scripts/generate-wire-types.mjs')
  process.exitCode = 1
}

function render() {
  const names = Object.keys(messages)
  return [
    '/** TypeScript types of the canonical wire objects. Made by scripts/generate-wire-types.mjs from model.ts: do not edit. */',
    '',
    '/** Any JSON value. */',
    'export type Json = null | boolean | number | string | readonly Json[] | JsonObject',
    '',
    '/** Any JSON object: google.protobuf.Struct. */',
    'export interface JsonObject {',
    '  readonly [member: string]: Json',
    '}',
    '',
    '/** Exactly one of the members of `Members`. */',
    'type OneOf<Members> = {',
    '  [One in keyof Members]: { readonly [Member in One]: Members[Member] } & { readonly [Other in Exclude<keyof Members, One>]?: never }',
    '}[keyof Members]',
    '',
    ...Object.entries(enums).flatMap(renderEnum),
    ...names.flatMap(renderMessage),
    '/** Every message by its name in the model. */',
    'export interface Wire {',
    ...names.map((name) => `  ${name}: ${name}`),
    '}',
    '',
  ].join('\n')
}

function renderEnum([name, values]) {
  const real = Object.entries(values).filter(([, number]) => number !== 0)
  return [`export type ${name} =`, ...real.map(([value]) => `  | '${value}'`), '']
}

function renderMessage(name) {
  const fields = Object.entries(messages[name])
  const plain = fields.filter(([, field]) => field.oneof === undefined).flatMap(renderMember)
  const choices = fields
    .filter(([, field]) => field.oneof !== undefined)
    .flatMap(([json, field]) => renderMember([json, { ...field, required: true }]))
  if (choices.length === 0) return [`export interface ${name} {`, ...plain, '}', '']
  if (plain.length === 0) return [`export type ${name} = OneOf<{`, ...choices, '}>', '']
  return [`export type ${name} = OneOf<{`, ...choices, '}> & {', ...plain, '}', '']
}

function renderMember([json, field]) {
  const comment = field.deprecated ? ['  /** @deprecated */'] : []
  return [...comment, `  readonly ${json}${field.required ? '' : '?'}: ${typeOf(field)}`]
}

function typeOf({ type, label }) {
  const scalars = { bytes: 'string', bool: 'boolean', int32: 'number', Timestamp: 'string', Struct: 'JsonObject', Value: 'Json' }
  const single = scalars[type] ?? type
  if (label === 'repeated') return `readonly ${single}[]`
  return label === 'map' ? `{ readonly [key: string]: ${single} }` : single
}

// Node 20 does not run TypeScript; the table imports nothing, so its transpiled text is a module by itself.
async function importTypeScript(url) {
  const { outputText } = ts.transpileModule(readFileSync(url, 'utf8'), { compilerOptions: { target: 'ES2022', module: 'ESNext' } })
  return import(`data:text/javascript;base64,${Buffer.from(outputText).toString('base64')}`)
}

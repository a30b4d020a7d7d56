/** Which room may import which, what only some rooms may touch, and how a file is judged by it. */

import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import ts from 'typescript'

/** No source file is longer: a file that needs more is two files. */
export const maxLines = 350

/** Written by a script from a table that is a source file itself; nobody reads it from top to bottom. */
const generated = new Set(['src/protocol/wire.ts'])

const everything = '*'
const contract = 'store/store.ts'
const belowOperations = ['net', 'task', 'protocol', 'support', contract]
const belowServer = ['runtime', 'push', 'operations', 'bindings', 'store', ...belowOperations]

/**
 * What each room may import besides itself: a room, or one file of a room. The longest name that fits a file is its
 * room, so `check/defects` has a rule of its own.
 */
export const rooms: Readonly<Record<string, readonly string[]>> = {
  support: [],
  protocol: [],
  task: ['protocol', 'support'],
  net: ['support'],
  store: ['task', 'protocol', 'support'],
  runtime: belowOperations,
  push: belowOperations,
  operations: ['runtime', ...belowOperations],
  bindings: ['protocol', 'support'],
  server: belowServer,
  client: ['protocol', 'support'],
  testing: ['server', 'client', ...belowServer],
  check: ['protocol', 'support'],
  'check/defects': ['check', 'server', 'protocol', 'support'],
  cli: [everything],
}

/** Files of `src/` that stand in no room: the doors of the package. They may import everything and read no node:*. */
const isDoor = (path: string) => !path.slice('src/'.length).includes('/')

const mayUseNode = [
  /^src\/server\/node[^/]*\.ts$/,
  /^src\/(net|push|cli)\//,
  /^src\/store\/(sqlite|postgres)\//,
  /^src\/check\/probe/,
  /^src\/(bindings|client)\/grpc[^/]*(\/|\.ts$)/,
]

/** Time and chance live here, and everybody else is handed a `World`. */
const world = 'src/support/world.ts'

const functions = new Set(['setTimeout', 'setInterval', 'setImmediate'])
const members: Readonly<Record<string, readonly string[]>> = {
  Date: ['now'],
  Math: ['random'],
  performance: ['now', 'timeOrigin'],
  AbortSignal: ['timeout'],
  process: ['hrtime'],
}
// Whatever they hang on: `crypto` has many names (webcrypto, globalThis.crypto, a parameter).
const anywhere = new Set(['randomUUID', 'getRandomValues'])
const globals = new Set(['globalThis', 'window', 'self', 'global'])

const builtins = new Set(builtinModules)

/** What is wrong with the file `path` (from the root of the repository, with `/`), one line each; empty if nothing is. */
export function violations(path: string, text: string): string[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const found: string[] = []
  const report = (node: ts.Node, what: string) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source))
    found.push(`${path}:${line + 1} ${what}`)
  }
  const visit = (node: ts.Node): void => {
    const specifier = importedFrom(node)
    if (specifier) {
      const wrong = ts.isStringLiteralLike(specifier) ? judgeImport(path, specifier.text) : 'imports what cannot be read from the text'
      if (wrong) report(node, wrong)
    }
    const impure = path === world ? undefined : clockOrChance(node)
    if (impure) report(node, `uses ${impure}; take it from World`)
    ts.forEachChild(node, visit)
  }
  visit(source)
  if (!isDoor(path) && roomOf(path) === undefined) found.push(`${path} stands in a room that the table does not name`)
  const lines = text.endsWith('\n') ? source.getLineStarts().length - 1 : source.getLineStarts().length
  if (lines > maxLines && !generated.has(path)) found.push(`${path} has ${lines} lines, more than ${maxLines}`)
  return found
}

/** The module name in a node that imports, in any of the ways there are. */
function importedFrom(node: ts.Node): ts.Expression | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier
  if (ts.isExternalModuleReference(node)) return node.expression
  if (ts.isImportTypeNode(node))
    return ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal) ? node.argument.literal : undefined
  if (!ts.isCallExpression(node)) return undefined
  const callee = node.expression
  const imports =
    callee.kind === ts.SyntaxKind.ImportKeyword ||
    (ts.isIdentifier(callee) && callee.text === 'require') ||
    (ts.isPropertyAccessExpression(callee) && callee.name.text === 'getBuiltinModule')
  return imports ? node.arguments[0] : undefined
}

function judgeImport(path: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) {
    if (specifier === 'errand' || specifier.startsWith('errand/')) return `imports ${specifier}: inside, name the file`
    if (!specifier.startsWith('node:') && !builtins.has(specifier)) return undefined
    if (/^(node:)?crypto(\/|$)/.test(specifier)) return `imports ${specifier}; use WebCrypto or support/crypto`
    return mayUseNode.some((room) => room.test(path)) ? undefined : `imports ${specifier} outside the rooms that may`
  }
  const target = posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts')
  if (!target.startsWith('src/')) return `imports ${specifier}, which is outside src`
  if (isDoor(path)) return undefined
  const room = roomOf(path)
  // Reported once for the file, not again for each import.
  if (room === undefined) return undefined
  const file = target.slice('src/'.length)
  const allowed = roomOf(target) === room || rooms[room]?.some((may) => may === everything || may === file || may === roomOf(target))
  return allowed ? undefined : `imports ${file}, which ${room} may not`
}

function roomOf(path: string): string | undefined {
  const file = path.slice('src/'.length)
  return Object.keys(rooms)
    .filter((room) => file.startsWith(`${room}/`))
    .sort((a, b) => b.length - a.length)[0]
}

function clockOrChance(node: ts.Node): string | undefined {
  if (ts.isIdentifier(node)) {
    if (anywhere.has(node.text)) return node.text
    return functions.has(node.text) && isReference(node) ? node.text : undefined
  }
  if (ts.isNewExpression(node) && nameOf(node.expression) === 'Date' && !node.arguments?.length) return 'new Date()'
  if (ts.isCallExpression(node) && nameOf(node.expression) === 'Date') return 'Date()'
  const member = memberOf(node)
  if (member) return isForbidden(member.object, member.name) ? `${member.object}.${member.name}` : undefined
  // const { now } = Date
  if (ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name) && node.initializer) {
    const object = nameOf(node.initializer)
    const taken = node.name.elements.map((element) => (element.propertyName ?? element.name).getText())
    const name = taken.find((one) => isForbidden(object, one))
    return name === undefined ? undefined : `${object}.${name}`
  }
  return undefined
}

function isForbidden(object: string, name: string): boolean {
  return globals.has(object) ? functions.has(name) : Object.hasOwn(members, object) && members[object]?.includes(name) === true
}

/** `Date.now`, `Date['now']`, `globalThis.Date.now`. */
function memberOf(node: ts.Node): { object: string; name: string } | undefined {
  if (ts.isPropertyAccessExpression(node)) return { object: nameOf(node.expression), name: node.name.text }
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
    return { object: nameOf(node.expression), name: node.argumentExpression.text }
  }
  return undefined
}

/** The name of a global, written with or without `globalThis`; empty for anything else. */
function nameOf(node: ts.Node): string {
  if (ts.isIdentifier(node)) return node.text
  const global = ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression) && globals.has(node.expression.text)
  return global ? node.name.text : ''
}

/** Whether the identifier is read as a variable: no key, no member of another object, no type. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  if (ts.isTypeQueryNode(parent) || ts.isTypeElement(parent)) return false
  if (ts.isBindingElement(parent)) return parent.initializer === node
  const isKey = ts.isPropertyAssignment(parent) || ts.isMethodDeclaration(parent) || ts.isPropertyDeclaration(parent)
  return !(isKey && parent.name === node)
}

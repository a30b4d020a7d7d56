/** Looks up the tests that documents cite, as `test/file.test.ts > title, or a part of it`; a vector is cited by its comment. */

import { existsSync, readFileSync } from 'node:fs'

const root = new URL('../../', import.meta.url)
const titlesOf = new Map<string, readonly string[]>()

/** What is wrong with a citation; undefined when there is such a test. */
export function faultOf(citation: string): string | undefined {
  const [path = '', title] = citation.split(/ > (.*)/)
  if (!title) return `${citation}: a citation has the form "file > title"`
  if (!/^(test|vectors)\/[\w/.-]+\.(ts|json)$/.test(path) || !existsSync(new URL(path, root))) return `${path} is not there`
  let titles = titlesOf.get(path)
  if (!titles) {
    titles = titlesIn(path, readFileSync(new URL(path, root), 'utf8'))
    titlesOf.set(path, titles)
  }
  return titles.some((one) => one.includes(title)) ? undefined : `${path} has no test called "${title}"`
}

/** Texts that stand where a title does: first in the parentheses of a call, before a further argument. */
export function titlesIn(path: string, source: string): readonly string[] {
  const found = path.endsWith('.json')
    ? source.matchAll(/"comment"\s*:\s*(")((?:\\.|(?!\1).)*)\1/g)
    : source.matchAll(/\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*?)\1\s*,/g)
  return [...found].map(([, , title = '']) => title.replace(/\\(.)/g, '$1'))
}

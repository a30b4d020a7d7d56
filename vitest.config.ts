/** How the tests run: each file in a process of its own, `errand` and its doors meaning this very source tree. */

import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: {
    alias: [
      { find: /^errand$/, replacement: source('index') },
      { find: /^errand\/client$/, replacement: source('client') },
      { find: /^errand\/testing$/, replacement: source('testing') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // A law may go through thousands of histories; on a busy machine that takes a while and proves no defect.
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})

function source(door: string): string {
  return fileURLToPath(new URL(`./src/${door}.ts`, import.meta.url))
}

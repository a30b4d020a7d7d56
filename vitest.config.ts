/** How the tests run: each file in a process of its own, `errand` meaning this very source tree. */

import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: {
    alias: [{ find: /^errand$/, replacement: fileURLToPath(new URL('./src/index.ts', import.meta.url)) }],
  },
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // A law may go through thousands of histories; on a busy machine that takes a while and proves no defect.
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})

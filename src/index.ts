/** The public door of the package: everything of the edge door, sockets and SQLite. */

export * from './edge.js'
export { FetchLimitError } from './net/guarded-fetch.js'
// In place of the edge door's: here are sockets, so agents can fetch.
export { createServer, type RunningServer, type ServeOptions, serve } from './server/node.js'
export { closeOnSignals } from './server/node-signals.js'
export { type SqliteOptions, sqlite } from './store/sqlite/sqlite.js'

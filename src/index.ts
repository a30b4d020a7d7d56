/** The public door of the package: everything of the edge door, sockets and SQLite. */

export * from './edge.js'
export { type RunningServer, type ServeOptions, serve } from './server/node.js'
export { type SqliteOptions, sqlite } from './store/sqlite/sqlite.js'

/** What a program takes of the door of the client that sends, and tells the errors apart. */

export { ConnectionError, connect, TaskNotFoundError } from '../../src/client.js'

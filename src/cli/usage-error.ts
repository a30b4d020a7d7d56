/** Arguments that the command cannot be run with: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

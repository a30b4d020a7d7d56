/** Checks of parameters that more than one operation shares, beyond what their types say. */

import { InvalidParamsError } from '../protocol/errors.js'

/** @throws {InvalidParamsError} naming `field`. Spec §3.2.4 */
export function checkHistoryLength(historyLength: number | undefined, field = 'historyLength'): void {
  if (historyLength !== undefined && historyLength < 0) throw invalid(field, `must be 0 or more, got ${historyLength}`)
}

/** One bad field. */
export function invalid(field: string, description: string): InvalidParamsError {
  return new InvalidParamsError([{ field, description }])
}

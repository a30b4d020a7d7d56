/** How far requests came, from the reasons of their answers. */

const atEnvelope = new Set([
  'PARSE_ERROR',
  'INVALID_REQUEST',
  'METHOD_NOT_FOUND',
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'VERSION_NOT_SUPPORTED',
  'CONTENT_TYPE_NOT_SUPPORTED',
  'RESOURCE_EXHAUSTED',
])
/** Refused by the checks that all operations share, or possibly so. */
const atParameters = new Set(['INVALID_PARAMS', 'UNSUPPORTED_OPERATION', 'PUSH_NOTIFICATION_NOT_SUPPORTED'])

/** @param reasons how often each came; `success` where there was no error */
export function beyondEnvelope(reasons: ReadonlyMap<string, number>): number {
  return sum(reasons, (reason) => !atEnvelope.has(reason))
}

/** A success, or a refusal that only an operation can give. */
export function insideOperation(reasons: ReadonlyMap<string, number>): number {
  return sum(reasons, (reason) => !atEnvelope.has(reason) && !atParameters.has(reason))
}

function sum(reasons: ReadonlyMap<string, number>, counts: (reason: string) => boolean): number {
  return [...reasons].reduce((total, [reason, count]) => (counts(reason) ? total + count : total), 0)
}

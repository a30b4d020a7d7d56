/** What can go wrong on the way to an agent, as opposed to what an agent answers. */

/**
 * - `network`: no answer came
 * - `timeout`: one of the limits passed
 * - `cut`: an answer ended before it was whole, or its agent said that it stops
 */
export type ConnectionFault = 'network' | 'timeout' | 'cut'

/** No whole answer came from `address`. What the agent made of the request is not known. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly address: string
  readonly fault: ConnectionFault

  constructor(fault: ConnectionFault, address: string, text: string, cause?: unknown) {
    super(`${address} ${text}`, cause === undefined ? undefined : { cause })
    this.address = address
    this.fault = fault
  }
}

const neverConnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])

/** Whether a request that failed with `error` certainly did not arrive. Hosts that do not tell leave it at false. */
export function neverArrived(error: ConnectionError): boolean {
  const { cause } = error
  const causes = [cause, cause instanceof Error && cause.cause]
  return causes.some((one) => one instanceof Error && 'code' in one && neverConnected.has(String(one.code)))
}

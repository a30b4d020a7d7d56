/** Where nobody proves who they are, no web page may use a local agent through its visitor's browser. */

import { PermissionDeniedError } from '../protocol/errors.js'

const loopbackNames = new Set(['localhost', '127.0.0.1', '[::1]'])

// Beyond these, a Host could hold what makes a URL of it another host's: user names, paths.
const hostAndPort = /^[\w.:[\]-]+$/

/**
 * @param origins pages of which may call all the same
 * @throws {PermissionDeniedError} for a Host that is missing or no loopback name, a foreign Origin, or a request across sites
 */
export function checkNeighbour(header: (name: string) => string | undefined, origins: readonly string[] = []): void {
  const host = header('host')
  if (host === undefined || !hostAndPort.test(host) || !isLoopback(`http://${host}`)) {
    throw new PermissionDeniedError(
      'This agent has no authentication and answers on loopback names only: call it as localhost or 127.0.0.1.',
    )
  }
  const origin = header('origin')
  if (origin !== undefined && origins.includes(origin)) return
  if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) {
    throw new PermissionDeniedError('This agent has no authentication and takes no requests from web pages of other origins.')
  }
  const site = header('sec-fetch-site')
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw new PermissionDeniedError('This agent has no authentication and takes no requests from web pages of other sites.')
  }
}

/** Whether a URL's host is a name of this machine for itself. */
export function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { hostname } = new URL(url)
  return loopbackNames.has(hostname) || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

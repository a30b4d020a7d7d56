/** What travels beside a request: the version and the extensions that the caller speaks. Spec §3.2.6, §3.6, §4.6. */

import { VersionNotSupportedError } from './errors.js'

/** Also the name of the query parameter (§3.6.1). */
export const versionHeader = 'A2A-Version'
/** In requests: those the caller speaks; in answers: those activated. */
export const extensionsHeader = 'A2A-Extensions'

/** As Major.Minor. */
export const supportedVersions: readonly string[] = Object.freeze(['1.0'])

/** What an absent or empty version means (§3.6.2). */
const unnamedVersion = '0.3'

/**
 * The version asked for as Major.Minor; a patch number is ignored.
 *
 * @throws {VersionNotSupportedError} for any other than {@link supportedVersions}
 */
export function parseVersion(value: string | null | undefined): string {
  const asked = value?.trim() || unnamedVersion
  const version = /^(\d{1,9}\.\d{1,9})(?:\.\d{1,9})?$/.exec(asked)?.[1]
  if (version === undefined || !supportedVersions.includes(version)) throw new VersionNotSupportedError(asked, supportedVersions)
  return version
}

/** The URIs of an A2A-Extensions header, each once, in order; repeated headers come joined by commas. */
export function parseExtensions(value: string | null | undefined): readonly string[] {
  if (value === null || value === undefined) return []
  return [...new Set(value.split(',').map((uri) => uri.trim()))].filter((uri) => uri !== '')
}

/** The header's value, for the extensions that were activated. */
export function formatExtensions(uris: readonly string[]): string {
  return uris.join(', ')
}

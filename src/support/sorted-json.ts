/** JSON text in which the order of an object's members does not show. */

/** The text of a JSON value with the members of every object sorted by name: equal values have equal texts. */
export function sortedJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) {
    // Written at once where there is nothing to sort: a list of five million numbers is not visited one by one.
    return value.every(isFlat) ? JSON.stringify(value) : `[${value.map(sortedJson).join(',')}]`
  }
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${sortedJson(member)}`).join(',')}}`
}

function isFlat(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}

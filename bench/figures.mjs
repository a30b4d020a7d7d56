/** Figures: medians of rounds, and how they are shown. */

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/**
 * One line of the table.
 *
 * @param rounds the value in each round; the median stands for them
 * @param most what it must not exceed, if there is such a bound
 */
export function figure(name, unit, rounds, most) {
  const value = median(rounds)
  return { name, unit, value, rounds, ...(most !== undefined && { most, isKept: value <= most }) }
}

export function tableOf(figures) {
  const rows = figures.map(({ name, unit, value, rounds, most, isKept }) => [
    name,
    short(value),
    unit,
    rounds.length > 1 ? `${short(Math.min(...rounds))} to ${short(Math.max(...rounds))}` : '',
    most === undefined ? '' : `${isKept ? 'ok' : 'OVER'}, at most ${most}`,
  ])
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column].length))) ?? []
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 1 ? cell.padStart(widths[1]) : cell.padEnd(widths[column])))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function short(value) {
  return Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2)
}

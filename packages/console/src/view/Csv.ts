/** What a cell of a table of texts may hold; a list of columns names them. */
export type Cell = string | number | boolean | null | undefined

/** A cell that a spreadsheet would take for a formula is told apart by an apostrophe. */
const FORMULA = /^[=+\-@\t\r]/

const cellOf = (value: Cell): string => {
  if (value === null || value === undefined) return ""
  if (typeof value !== "string") return String(value)
  const safe = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Rows as CSV (RFC 4180) with a first line of names. */
export const csv = (names: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<Cell>>): string =>
  [names, ...rows].map((row) => `${row.map(cellOf).join(",")}\r\n`).join("")

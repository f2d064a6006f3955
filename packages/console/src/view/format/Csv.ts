/** What a cell of a table of texts may hold; a list of columns names them. */
export type Cell = string | number | boolean | null | undefined

/** A cell that a spreadsheet would read as a formula gets an apostrophe in front. */
const FORMULA = /^[=+\-@\t\r]/

const cellOf = (value: Cell): string => {
  if (value === null || value === undefined) return ""
  if (typeof value !== "string") return String(value)
  const safe = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Columns of a CSV file: the name of each, and its value. */
export type CsvColumns<Row> = Readonly<Record<string, (row: Row) => Cell>>

/** Rows as CSV by their columns. */
export const csvOf = <Row>(columns: CsvColumns<Row>, rows: ReadonlyArray<Row>): string =>
  csv(
    Object.keys(columns),
    rows.map((row) => Object.values(columns).map((value) => value(row)))
  )

/** Rows as CSV (RFC 4180) with a first line of names. */
export const csv = (names: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<Cell>>): string =>
  [names, ...rows].map((row) => `${row.map(cellOf).join(",")}\r\n`).join("")

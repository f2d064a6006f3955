import { plainText } from "./narrative/PlainText.ts"
import { cutToWidth, padToWidth, widthOf } from "./TextWidth.ts"

/** A column of a table. */
export interface Column<A> {
  readonly title: string
  readonly text: (row: A) => string
  /** Gives way first when the line is too long; at most one column of a table. */
  readonly elastic?: boolean
}

const GAP = "  "
/** An elastic column is never narrower, however narrow the terminal is. */
const NARROWEST = 8

/** A table as lines of at most `width` columns of the terminal where the elastic column can give so much way. */
export const tableLines = <A>(
  columns: ReadonlyArray<Column<A>>,
  rows: ReadonlyArray<A>,
  width: number
): ReadonlyArray<string> => {
  const cells = rows.map((row) => columns.map(({ text }) => plainText(text(row)) || "-"))
  const widths = columns.map(({ title }, at) =>
    Math.max(widthOf(title), ...cells.map((line) => widthOf(line[at] ?? "")))
  )
  const total = widths.reduce((sum, one) => sum + one, 0) + GAP.length * (columns.length - 1)
  const elastic = columns.findIndex((column) => column.elastic === true)
  if (elastic >= 0 && total > width) {
    widths[elastic] = Math.max(NARROWEST, (widths[elastic] ?? 0) - (total - width))
  }
  const lineOf = (texts: ReadonlyArray<string>) =>
    texts
      .map((text, at) => padToWidth(cutToWidth(text, widths[at] ?? 0), widths[at] ?? 0))
      .join(GAP)
      .trimEnd()
  return [lineOf(columns.map(({ title }) => title)), ...cells.map(lineOf)]
}

/** How long ago or how long something is, in one unit: `42s`, `17m`, `5h`, `3d`. Milliseconds. */
export const briefly = (ms: number): string => {
  const seconds = Math.max(0, ms / 1_000)
  if (seconds < 10) return `${seconds.toFixed(1)}s`
  if (seconds < 90) return `${Math.round(seconds)}s`
  if (seconds < 5_400) return `${Math.round(seconds / 60)}m`
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)}h` : `${Math.round(seconds / 86_400)}d`
}

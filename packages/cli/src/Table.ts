import { isolatedText } from "@runplane/domain"
import { plainText } from "./narrative/PlainText.ts"
import { cutToWidth, padToWidth, widthOf } from "./TextWidth.ts"

/** A column of a table. */
export interface Column<A> {
  readonly title: string
  readonly text: (row: A) => string
  /** Becomes narrower when the line is too long; at most one column of a table. */
  readonly elastic?: boolean
  /** Left out where the elastic column would be too narrow to read; the highest number first. */
  readonly dropped?: number
}

const GAP = "  "
/** An elastic column is never narrower, however narrow the terminal is. */
const NARROWEST = 8
/** Columns are left out before an elastic column gets narrower than this. */
const READABLE = 40

/**
 * A table as lines of at most `width` columns of the terminal where the elastic column can become so narrow. No text of
 * a cell turns the direction of the line.
 */
export const tableLines = <A>(
  columns: ReadonlyArray<Column<A>>,
  rows: ReadonlyArray<A>,
  width: number
): ReadonlyArray<string> => {
  const cells = rows.map((row) => columns.map(({ text }) => plainText(text(row)) || "-"))
  const widths = columns.map(({ title }, at) =>
    Math.max(widthOf(title), ...cells.map((line) => widthOf(line[at] ?? "")))
  )
  const elastic = columns.findIndex((column) => column.elastic === true)
  const natural = widths[elastic] ?? 0
  const dropped = new Set<number>()
  const remaining = () => {
    const kept = widths.filter((_, at) => !dropped.has(at))
    return natural + width - kept.reduce((sum, one) => sum + one, 0) - GAP.length * (kept.length - 1)
  }
  const droppable = columns.flatMap((column, at) =>
    column.dropped === undefined ? [] : [{ at, order: column.dropped }]
  )
  for (const { at } of droppable.sort((one, other) => other.order - one.order)) {
    if (remaining() < Math.min(natural, READABLE)) dropped.add(at)
  }
  if (elastic >= 0) widths[elastic] = Math.min(natural, Math.max(NARROWEST, remaining()))
  const lineOf = (texts: ReadonlyArray<string>) =>
    texts
      .map((text, at) => padToWidth(isolatedText(cutToWidth(text, widths[at] ?? 0)), widths[at] ?? 0))
      .filter((_, at) => !dropped.has(at))
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

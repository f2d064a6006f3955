import type { Figure, Outcome, Summary } from "./Figures.ts"
import { median } from "./Statistics.ts"

/**
 * Each figure over the repetitions, in the order of its first appearance. An aim is reached when the median reaches it.
 */
export const summarise = (outcomes: ReadonlyArray<Outcome>): ReadonlyArray<Summary> =>
  [...Map.groupBy(outcomes.flatMap(namedFigures), ([name]) => name)].flatMap(([name, entries]) => {
    const figures = entries.map(([, figure]) => figure)
    const first = figures[0]
    return first === undefined ? [] : [summaryOf(name, first, figures)]
  })

const namedFigures = ({ figures, scenario }: Outcome) =>
  figures.map((figure) => [`${scenario}: ${figure.name}`, figure] as const)

const summaryOf = (name: string, { aim, better, unit }: Figure, figures: ReadonlyArray<Figure>): Summary => {
  const values = figures.map(({ value }) => value)
  const middle = median(values)
  return {
    name,
    unit,
    values,
    median: middle,
    best: better === "more" ? Math.max(...values) : Math.min(...values),
    ...(aim !== undefined && {
      aim: { value: aim, better, reached: better === "more" ? middle >= aim : middle <= aim }
    })
  }
}

/** The final table: every figure with its best and median value, and what was aimed at. */
export const renderTable = (summaries: ReadonlyArray<Summary>): string =>
  alignColumns([
    ["figure", "best", "median", "aim", ""],
    ...summaries.map(({ aim, best, median: middle, name, unit }) => [
      name,
      `${number(best)} ${unit}`.trim(),
      `${number(middle)} ${unit}`.trim(),
      aim === undefined ? "" : `${aim.better === "more" ? ">=" : "<="} ${number(aim.value)}`,
      aim === undefined ? "" : aim.reached ? "pass" : "MISS"
    ])
  ])

const alignColumns = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  const widths = (rows[0] ?? []).map((_, column) => width(column))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

/** Three digits that count, thousands apart. */
export const number = (value: number): string => {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString("en-US", { maximumFractionDigits: digits, minimumFractionDigits: 0 })
}

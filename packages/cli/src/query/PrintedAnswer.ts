import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { failed, usageProblem } from "../CliFailure.ts"
import { output, printedAsJson, printRows } from "../Output.ts"
import { cutToWidth } from "../TextWidth.ts"
import type { Answer, AnswerBounds } from "./Answer.ts"
import { cellText, csvLine, type Value } from "./Values.ts"

/** Columns of a terminal for a cell of a table; the other formats have the whole text. */
const MOST_WIDTH = 60

export type QueryFormat = "text" | "json" | "jsonl" | "csv"

/** The format of the flags. */
export const queryFormat = Effect.fnUntraced(function* (csv: boolean) {
  const { format } = yield* output
  if (csv && format !== "text") return yield* usageProblem(`--csv and --${format} exclude each other`)
  const chosen: QueryFormat = csv ? "csv" : format
  return chosen
})

/** Prints rows; a cut answer is marked, and fails in the formats that have no member for the mark. */
export const printAnswer = Effect.fnUntraced(function* (answer: Answer, format: QueryFormat, bounds: AnswerBounds) {
  const { columns, cut, rows } = answer
  const mark =
    cut === undefined
      ? undefined
      : cut === "rows"
        ? `cut after ${rows.length} rows: there are more; --limit raises the bound`
        : `cut after ${rows.length} rows: the next is beyond ${bounds.bytes} bytes; --max-bytes raises the bound`
  switch (format) {
    case "csv":
      yield* Console.log([csvLine(columns.map(({ name }) => name)), ...rows.map(csvLine)].join("\n"))
      break
    case "json":
      return yield* printedAsJson({ columns, rows: rows.map(objectOf(answer)), cut: cut ?? null })
    case "jsonl":
      yield* Effect.forEach(rows, (row) => printedAsJson(objectOf(answer)(row)), { discard: true })
      break
    case "text":
      yield* printRows(
        columns.map(({ name }, index) => ({
          title: name,
          text: (row: ReadonlyArray<Value>) => cutToWidth(cellText(row[index] ?? null) ?? "", MOST_WIDTH)
        })),
        rows
      )
      if (mark !== undefined) yield* Console.log(`... ${mark}`)
      return
  }
  if (mark !== undefined) return yield* failed(mark)
})

const objectOf =
  ({ columns }: Answer) =>
  (row: ReadonlyArray<Value>) =>
    Object.fromEntries(columns.map(({ name }, index) => [name, row[index] ?? null]))

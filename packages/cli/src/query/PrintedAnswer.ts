import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { failed, usageProblem } from "../CliFailure.ts"
import { jsonText } from "../JsonText.ts"
import { plainText } from "../narrative/PlainText.ts"
import { output, printRows } from "../Output.ts"
import { cutToWidth } from "../TextWidth.ts"
import { cellText, csvLine, visibleCsvLine } from "./Cells.ts"
import type { Answer, AnswerBounds, Value } from "./engine/Exchange.ts"

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
    case "csv": {
      const line = process.stdout.isTTY === true ? visibleCsvLine : csvLine
      yield* Console.log(line(columns.map(({ name }) => name)))
      yield* Effect.forEach(rows, (row) => Console.log(line(row)), { discard: true })
      break
    }
    case "json":
      return yield* printDocument(answer)
    case "jsonl":
      yield* Effect.forEach(rows, (row) => Console.log(jsonText(objectOf(answer, row))), { discard: true })
      break
    case "text":
      yield* printRows(
        columns.map(({ name }, index) => ({
          title: cutToWidth(plainText(name), MOST_WIDTH),
          text: (row: ReadonlyArray<Value>) => cutToWidth(cellText(row[index] ?? null) ?? "", MOST_WIDTH)
        })),
        rows
      )
      if (mark !== undefined) yield* Console.log(`... ${mark}`)
      return
  }
  if (mark !== undefined) return yield* failed(mark)
})

/** One JSON document, a row a line: the text of the whole could be longer than a string can be. */
const printDocument = Effect.fnUntraced(function* (answer: Answer) {
  const { columns, cut, rows } = answer
  yield* Console.log(`{\n  "columns": ${jsonText(columns)},\n  "rows": [`)
  for (const [index, row] of rows.entries()) {
    yield* Console.log(`    ${jsonText(objectOf(answer, row))}${index + 1 < rows.length ? "," : ""}`)
  }
  yield* Console.log(`  ],\n  "cut": ${jsonText(cut ?? null)}\n}`)
})

const objectOf = ({ columns }: Answer, row: ReadonlyArray<Value>) =>
  Object.fromEntries(columns.map(({ name }, index) => [name, row[index] ?? null]))

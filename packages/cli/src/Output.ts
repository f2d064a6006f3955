import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { usageProblem } from "./CliFailure.ts"
import { jsonText } from "./JsonText.ts"
import { row, type Style, styleFor } from "./narrative/Narrative.ts"
import { plainText } from "./narrative/PlainText.ts"
import { root } from "./Root.ts"
import { type Column, tableLines } from "./Table.ts"

/** Columns of a line when the terminal has no width. */
const DEFAULT_WIDTH = 120

export type Format = "text" | "json" | "jsonl"

/** The output format of the flags, and style and width of the terminal. */
export const output = Effect.gen(function* () {
  const { json, jsonl } = yield* root
  if (json && jsonl) return yield* usageProblem("--json and --jsonl exclude each other")
  const format: Format = json ? "json" : jsonl ? "jsonl" : "text"
  const style: Style = styleFor(process.stdout, process.env)
  const width = process.stdout.isTTY === true ? process.stdout.columns : Number(process.env["COLUMNS"] || DEFAULT_WIDTH)
  return { format, style, width: Number.isFinite(width) && width > 0 ? width : DEFAULT_WIDTH }
})

/** Prints a list: a table for people, `whole` as one document, or each row as a line of JSON. */
export const printRows = <A>(columns: ReadonlyArray<Column<A>>, rows: ReadonlyArray<A>, whole: unknown = rows) =>
  Effect.gen(function* () {
    const { format, style, width } = yield* output
    if (format === "json") return yield* Console.log(jsonText(whole, 2))
    if (format === "jsonl") {
      return yield* Effect.forEach(rows, (entry) => Console.log(jsonText(entry)), { discard: true })
    }
    const [head = "", ...lines] = tableLines(columns, rows, width)
    yield* Console.log([style.bold(head), ...lines].join("\n"))
    // Beside the data, so that it does not count as a row.
    if (rows.length === 0) yield* Console.error("nothing matches")
  })

/** Prints one thing: pairs of a heading and a text for people, or JSON. */
export const printFacts = (facts: ReadonlyArray<readonly [string, string | undefined]>, value: unknown) =>
  Effect.gen(function* () {
    if (yield* printedAsJson(value)) return
    const lines = facts.flatMap(([heading, text]) => (text ? [row(heading, plainText(text))] : []))
    yield* Console.log(lines.join("\n"))
  })

/** Prints the value if the format is JSON, and returns whether it is. */
export const printedAsJson = (value: unknown) =>
  Effect.gen(function* () {
    const { format } = yield* output
    if (format === "text") return false
    yield* Console.log(format === "json" ? jsonText(value, 2) : jsonText(value))
    return true
  })

/** Prints the sentence, or `value` for programs. */
export const printDone = (sentence: string, value: unknown) =>
  Effect.gen(function* () {
    if (!(yield* printedAsJson(value))) yield* Console.log(plainText(sentence))
  })

import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { countOf, type Finding } from "./Finding.ts"

/** A tool found errors and has already said which: the process ends with code 1 and nothing more to say. */
export class PacksFaulty extends Data.TaggedError("PacksFaulty")<{ readonly errors: number }> {}

/** Whether the tools speak to people, print one JSON document, or one object a line. */
export const ReportFormat = Context.Reference<"text" | "json" | "jsonl">("runplane/launcher/author/ReportFormat", {
  defaultValue: () => "text"
})

/** Prints the value if the output format is JSON, and returns whether it is. */
export const printedAsJson = Effect.fnUntraced(function* (value: unknown) {
  const format = yield* ReportFormat
  if (format === "text") return false
  yield* Console.log(format === "json" ? JSON.stringify(value, null, 2) : JSON.stringify(value))
  return true
})

/** The first and the last line of the report of a tool to people. */
interface Report {
  readonly findings: ReadonlyArray<Finding>
  /** The checked files, for programs. */
  readonly of: { readonly [name: string]: unknown }
  readonly opening?: string
  readonly closing: Effect.Effect<void>
}

/**
 * Prints what was found, errors on stderr and warnings on stdout, one line each, or all of it as JSON; fails when one
 * of the findings is an error.
 */
export const report = Effect.fnUntraced(function* ({ closing, findings, of, opening }: Report) {
  const errors = countOf(findings, "error")
  const counts = { errors, warnings: countOf(findings, "warning") }
  if (!(yield* printedAsJson({ ...of, ...counts, findings }))) {
    if (opening !== undefined) yield* Console.log(opening)
    yield* Effect.forEach(findings, printFinding, { discard: true })
    yield* closing
  }
  if (errors > 0) return yield* new PacksFaulty({ errors })
})

const printFinding = ({ file, level, line, message }: Finding) => {
  const where = line === undefined ? file : `${file}:${line}`
  return level === "error" ? Console.error(`  FAIL  ${where}: ${message}`) : Console.log(`  WARN  ${where}: ${message}`)
}

/** The closing line of `validate`. */
export const verdict = (findings: ReadonlyArray<Finding>): Effect.Effect<void> => {
  const errors = countOf(findings, "error")
  const warnings = countOf(findings, "warning")
  if (errors > 0) return Console.error(`  FAILED (${errors} error(s), ${warnings} warning(s))`)
  return Console.log(warnings > 0 ? `  PASS (${warnings} warning(s))` : "  OK")
}

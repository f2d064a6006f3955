import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { countOf, type Finding } from "./Finding.ts"

/** A tool found errors and has already said which: the process ends with code 1 and nothing more to say. */
export class PacksFaulty extends Data.TaggedError("PacksFaulty")<{ readonly errors: number }> {}

/** Prints errors on stderr and warnings on stdout, one line each. */
export const printFindings = (findings: ReadonlyArray<Finding>) =>
  Effect.forEach(
    findings,
    ({ file, level, line, message }) => {
      const where = line === undefined ? file : `${file}:${line}`
      return level === "error"
        ? Console.error(`  FAIL  ${where}: ${message}`)
        : Console.log(`  WARN  ${where}: ${message}`)
    },
    { discard: true }
  )

/** The closing line of `validate`. */
export const printVerdict = Effect.fnUntraced(function* (findings: ReadonlyArray<Finding>) {
  const errors = countOf(findings, "error")
  const warnings = countOf(findings, "warning")
  if (errors > 0) yield* Console.error(`  FAILED (${errors} error(s), ${warnings} warning(s))`)
  else yield* Console.log(warnings > 0 ? `  PASS (${warnings} warning(s))` : "  OK")
})

/** Fails when one of the findings is an error. */
export const endWith = (findings: ReadonlyArray<Finding>): Effect.Effect<void, PacksFaulty> => {
  const errors = countOf(findings, "error")
  return errors > 0 ? Effect.fail(new PacksFaulty({ errors })) : Effect.void
}

import { rootCauseOf } from "@runplane/api"
import { type GateCase, GateFile, repeatedNames } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { JSON_SCHEMA, load } from "js-yaml"
import { usageProblem } from "../CliFailure.ts"
import { readText } from "../FileText.ts"
import { plainText } from "../story/PlainText.ts"

/** Thousands of cases. */
const MOST_BYTES = 1024 * 1024

/** Values of a file, those behind an alias at each alias. */
const MOST_VALUES = 1_000_000

/** A case with its position in a file. */
export interface LoadedCase {
  readonly file: string
  /** From 1. */
  readonly line: number
  readonly case: GateCase
}

const decode = Schema.decodeUnknownEffect(GateFile, { onExcessProperty: "error" })

export const readGateText = (file: string) => readText(file, MOST_BYTES, "name a YAML file")

/** The cases of a gate file (docs/reference/gate.md#files). */
export const readGateFile = Effect.fnUntraced(function* (file: string) {
  return yield* parseGateFile(yield* readGateText(file), file)
})

export const parseGateFile = Effect.fnUntraced(function* (text: string, file: string) {
  const refused = (reason: string) => usageProblem(`${file} is not a gate file: ${plainText(reason)}`)
  const yaml = yield* Effect.try({
    try: () => load(text, { schema: JSON_SCHEMA, filename: file }),
    catch: (error) => refused(rootCauseOf(error).message)
  })
  if (valuesOf(yaml) > MOST_VALUES) return yield* refused("its aliases repeat too many values")
  const read = yield* Effect.mapError(decode(yaml), ({ message }) => refused(message))
  const [repeated] = repeatedNames(read)
  if (repeated !== undefined) return yield* refused(`two cases have the name ${repeated}`)
  return read.cases.map((one): LoadedCase => ({ file, line: lineOf(text, one.name), case: one }))
})

/** The number of values in a document. A value that many aliases share is counted once for each of them. */
const valuesOf = (value: unknown, known = new Map<object, number>()): number => {
  if (typeof value !== "object" || value === null) return 1
  const before = known.get(value)
  if (before !== undefined) return before
  const size = Object.values(value).reduce((sum: number, member) => sum + valuesOf(member, known), 1)
  known.set(value, size)
  return size
}

/** The line with the name of a case, from 1; the first line when the name is written in another form. */
const lineOf = (text: string, name: string): number => {
  const at = text.split("\n").findIndex((line) => {
    const [, value = ""] = /^[\s{-]*name:\s*(.*)$/.exec(line) ?? []
    return (
      value
        .replace(/^["']|["'],?$/g, "")
        .replace(/\s+#.*$/, "")
        .trim() === name
    )
  })
  return at + 1 || 1
}

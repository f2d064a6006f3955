import { rootCauseOf } from "@runplane/api"
import { type GateCase, GateFile, repeatedNames } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { JSON_SCHEMA, load } from "js-yaml"
import { usageProblem } from "../CliFailure.ts"
import { readText } from "../FileText.ts"
import { plainText } from "../narrative/PlainText.ts"

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
  const values = valuesOf(yaml)
  if (values === undefined) return yield* refused("an alias stands inside the value that it repeats")
  if (values > MOST_VALUES) return yield* refused("its aliases repeat too many values")
  const read = yield* Effect.mapError(decode(yaml), ({ message }) => refused(message))
  const [repeated] = repeatedNames(read)
  if (repeated !== undefined) return yield* refused(`two cases have the name ${repeated}`)
  return read.cases.map((one): LoadedCase => ({ file, line: lineOf(text, one.name), case: one }))
})

/**
 * The number of values in a document. A value that many aliases share is counted once for each of them. Undefined for a
 * document that contains itself, which has no end.
 */
const valuesOf = (root: unknown): number | undefined => {
  const sizes = new Map<object, number>()
  const open = new Set<object>()
  // A list of its own in place of recursion: the depth of a document is the author's.
  const pending: Array<{ readonly value: unknown; readonly leave: boolean }> = [{ value: root, leave: false }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { leave, value } = next
    if (!isContainer(value)) continue
    const members: ReadonlyArray<unknown> = Object.values(value)
    if (leave) {
      open.delete(value)
      sizes.set(
        value,
        members.reduce((sum: number, member) => sum + (isContainer(member) ? (sizes.get(member) ?? 0) : 1), 1)
      )
    } else if (open.has(value)) return undefined
    else if (!sizes.has(value)) {
      open.add(value)
      pending.push({ value, leave: true }, ...members.map((member) => ({ value: member, leave: false })))
    }
  }
  return isContainer(root) ? sizes.get(root) : 1
}

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null

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

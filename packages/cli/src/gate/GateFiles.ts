import { rootCauseOf } from "@runplane/api"
import { type GateCase, GateFile, repeatedNames } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import { JSON_SCHEMA, load } from "js-yaml"
import { usageProblem } from "../CliFailure.ts"
import { plainText } from "../story/PlainText.ts"

/** A case with its position in a file. */
export interface LoadedCase {
  readonly file: string
  /** From 1. */
  readonly line: number
  readonly case: GateCase
}

const decode = Schema.decodeUnknownEffect(GateFile, { onExcessProperty: "error" })

/** The cases of a gate file (docs/reference/gate.md#files). */
export const readGateFile = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* fs
    .readFileString(file)
    .pipe(Effect.mapError(({ reason }) => usageProblem(`${file} cannot be read (${reason._tag}); name a YAML file`)))
  return yield* parseGateFile(text, file)
})

export const parseGateFile = Effect.fnUntraced(function* (text: string, file: string) {
  const refused = (reason: string) => usageProblem(`${file} is not a gate file: ${plainText(reason)}`)
  const yaml = yield* Effect.try({
    try: () => load(text, { schema: JSON_SCHEMA, filename: file }),
    catch: (error) => refused(rootCauseOf(error).message)
  })
  const read = yield* Effect.mapError(decode(yaml), ({ message }) => refused(message))
  const [repeated] = repeatedNames(read)
  if (repeated !== undefined) return yield* refused(`two cases have the name ${repeated}`)
  return read.cases.map((one): LoadedCase => ({ file, line: lineOf(text, one.name), case: one }))
})

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

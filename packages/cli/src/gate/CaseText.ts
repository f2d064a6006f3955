import type { GateCase } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { dump, JSON_SCHEMA } from "js-yaml"
import { usageProblem } from "../CliFailure.ts"
import { parseGateFile } from "./GateFiles.ts"

/** The first case below `cases:`, with its indentation. */
const FIRST_CASE = /^cases:[^\S\r\n]*(?:#.*)?\r?\n(?:\s*#.*\r?\n|\s*\r?\n)*( *)- /m

/**
 * The text of a gate file with one more case at its end, below a comment; an empty text becomes a file. Comments and
 * layout stay as they are. Fails when the result would not read as the old cases and the new one.
 */
export const appendCase = Effect.fnUntraced(function* (text: string, file: string, one: GateCase, comment: string) {
  const isNew = text.trim() === ""
  const before = isNew ? [] : yield* parseGateFile(text, file)
  const indent = isNew ? "  " : FIRST_CASE.exec(text)?.[1]
  const unwritable = usageProblem(`${file} cannot be extended: write its cases as a list, each behind "- " on a line`)
  if (indent === undefined) return yield* unwritable
  const lines = dump(one, { schema: JSON_SCHEMA, lineWidth: -1, noRefs: true }).trimEnd().split("\n")
  const item = [`# ${comment}`, ...lines.map((line, at) => `${at === 0 ? "- " : "  "}${line}`)]
  const start = isNew ? "cases:\n" : text.endsWith("\n") ? text : `${text}\n`
  const extended = `${start}${item.map((line) => `${indent}${line}\n`).join("")}`
  const after = yield* Effect.mapError(parseGateFile(extended, file), () => unwritable)
  const expected = [...before.map((loaded) => loaded.case), one]
  if (JSON.stringify(after.map((loaded) => loaded.case)) !== JSON.stringify(expected)) return yield* unwritable
  return extended
})

import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { usageProblem } from "../CliFailure.ts"

/** More than the services take. */
const MOST_BYTES = 16 * 1024 * 1024

/** A JSON document of a file, or of standard input for `-`. */
export const readJson = Effect.fnUntraced(function* (file: string) {
  const text = yield* file === "-" ? fromStdin : fromFile(file)
  return yield* Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Json))(text).pipe(
    Effect.mapError(() => usageProblem(`${file === "-" ? "standard input" : file} is not JSON`))
  )
})

const fromFile = (file: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const { size } = yield* fs.stat(file)
    if (Number(size) > MOST_BYTES) return yield* usageProblem(`${file} is larger than ${MOST_BYTES / 1024 / 1024} MB`)
    return yield* fs.readFileString(file)
  }).pipe(
    Effect.catchTag("PlatformError", ({ reason }) =>
      Effect.fail(usageProblem(`${file} cannot be read (${reason._tag}); name a JSON file, or - for standard input`))
    )
  )

const fromStdin = Effect.gen(function* () {
  const { stdin } = yield* Stdio.Stdio
  return yield* stdin.pipe(
    Stream.decodeText(),
    Stream.runFoldEffect(
      () => "",
      (text: string, part: string) =>
        text.length + part.length > MOST_BYTES
          ? Effect.fail(usageProblem(`standard input is larger than ${MOST_BYTES / 1024 / 1024} MB`))
          : Effect.succeed(text + part)
    ),
    Effect.catchTag("PlatformError", () => Effect.fail(usageProblem("standard input cannot be read")))
  )
})

/** `key=value`: JSON where the value is JSON, else its text. */
export const parseInput = (text: string): readonly [string, Schema.Json] | undefined => {
  const at = text.indexOf("=")
  if (at < 1) return undefined
  const value = text.slice(at + 1)
  const parsed = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))(value)
  return [text.slice(0, at), parsed._tag === "Some" ? parsed.value : value]
}

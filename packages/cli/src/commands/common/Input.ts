import { jsonFault, jsonFaultText } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { usageProblem } from "../../CliFailure.ts"
import { readText } from "../../FileText.ts"

/** More than the services take. */
const MOST_BYTES = 16 * 1024 * 1024

/** A JSON document of a file, or of standard input for `-`. */
export const readJson = Effect.fnUntraced(function* (file: string) {
  const text = yield* file === "-"
    ? textOfStdin
    : readText(file, MOST_BYTES, "name a JSON file, or - for standard input")
  const fault = jsonFault(text)
  if (fault !== undefined) {
    return yield* usageProblem(`${file === "-" ? "standard input" : file}: ${jsonFaultText(fault)}`)
  }
  return yield* Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Json))(text).pipe(
    Effect.mapError(() => usageProblem(`${file === "-" ? "standard input" : file} is not JSON`))
  )
})

/** The text of standard input, up to a bound. */
export const textOfStdin = Effect.gen(function* () {
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

/** `key=value`: JSON where the value is JSON, else its text. JSON that would not be read as it is written fails. */
export const parseInput = Effect.fnUntraced(function* (text: string) {
  const at = text.indexOf("=")
  if (at < 1) return yield* usageProblem(`--input ${text} is not of the form name=value`)
  const [name, value] = [text.slice(0, at), text.slice(at + 1)]
  const fault = jsonFault(value)
  if (fault !== undefined) return yield* usageProblem(`--input ${name}: ${jsonFaultText(fault)}, as in ${name}='"..."'`)
  const parsed = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))(value)
  return [name, parsed._tag === "Some" ? parsed.value : value] as const
})

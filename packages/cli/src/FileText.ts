import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { usageProblem } from "./CliFailure.ts"

/** The text of a file of at most `maxBytes`; `advice` names the kind of file that the command reads. */
export const readText = (file: string, maxBytes: number, advice: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const { size } = yield* fs.stat(file)
    if (Number(size) > maxBytes) return yield* usageProblem(`${file} is larger than ${maxBytes / 1024 / 1024} MB`)
    return yield* fs.readFileString(file)
  }).pipe(
    Effect.catchTag("PlatformError", ({ reason }) =>
      Effect.fail(usageProblem(`${file} cannot be read (${reason._tag}); ${advice}`))
    )
  )

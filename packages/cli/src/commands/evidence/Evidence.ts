import { createHash } from "node:crypto"
import { isSessionId, isUuid } from "@runplane/domain"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Stream from "effect/Stream"
import { CliFailure, EXIT_CODES, usageProblem } from "../../CliFailure.ts"
import { withControlPlane } from "../../Connection.ts"
import { printDone } from "../../Output.ts"

/** Whether an argument names a run; every other text is a search. */
export const isRun = (text: string): boolean => isUuid(text) || isSessionId(text)

/** `runplane evidence RUN -o case.evidence.zip` (docs/reference/evidence.md) */
export const evidence = Command.make(
  "evidence",
  {
    of: Argument.String("run").pipe(
      Argument.withDescription("Id of a run or of its session; or a search, such as tags:nightly: at most 1,000 runs")
    ),
    file: Flag.String("output").pipe(
      Flag.withAlias("o"),
      Flag.withDescription("Write to this file, such as case.evidence.zip")
    ),
    withoutFrames: Flag.Boolean("without-frames").pipe(
      Flag.withDescription("Leave out what the runtime sent, byte by byte"),
      Flag.withDefault(false)
    ),
    withoutMarks: Flag.Boolean("without-marks").pipe(
      Flag.withDescription("Leave out the marks"),
      Flag.withDefault(false)
    )
  },
  ({ file, of, withoutFrames, withoutMarks }) =>
    withControlPlane(({ api }) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const options = { includeRaw: !withoutFrames, includeMarks: !withoutMarks }
        const bundle = yield* isRun(of)
          ? api.evidence.ofRun({ params: { id: of }, query: options })
          : api.evidence.ofRuns({ query: { q: of, ...options } })
        const hash = createHash("sha256")
        let bytes = 0
        const counted = Stream.mapError(
          Stream.map(bundle, (chunk) => {
            hash.update(chunk)
            bytes += chunk.length
            return chunk
          }),
          () =>
            new CliFailure({
              reason: "the service cut the bundle: a run changed or was deleted meanwhile; try again",
              code: EXIT_CODES.failed
            })
        )
        // A bundle that is cut leaves nothing that looks like one.
        const part = `${file}.part`
        const write = Stream.run(counted, fs.sink(part)).pipe(
          Effect.andThen(fs.rename(part, file)),
          Effect.tapError(() => Effect.ignore(fs.remove(part, { force: true }))),
          Effect.catchTag("PlatformError", ({ reason }) =>
            Effect.fail(usageProblem(`${file} cannot be written (${reason._tag})`))
          )
        )
        yield* write
        const sha256 = hash.digest("hex")
        yield* printDone(`wrote ${file}, ${bytes} bytes, SHA-256 ${sha256}`, { file, bytes, sha256 })
      })
    )
).pipe(Command.withDescription("Write the evidence of a run into one file that an auditor checks without the service"))

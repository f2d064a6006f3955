import { PolicyFile } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { oneLine } from "../common/LaunchErrors.ts"
import { jsonFaultInFile } from "../common/LineOfPath.ts"
import { compareTexts } from "./VersionOrder.ts"

export interface ReadPolicy {
  /** Name of the file in the folder. */
  readonly file: string
  /** What it holds, or why it holds no policy. */
  readonly policy: Result.Result<typeof PolicyFile.Type, string>
}

/**
 * The policy files of a folder in the order of their names, without those that begin with a dot. A broken file affects
 * only the scenarios that name its policy. A folder that cannot be listed counts as one broken file; without a folder
 * there are none.
 */
export const readPolicyFiles = Effect.fn("PolicyFiles.read")(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (!(yield* Effect.orElseSucceed(fs.exists(directory), () => false))) return []
  const listing = yield* Effect.result(fs.readDirectory(directory))
  if (Result.isFailure(listing)) {
    const broken = Result.fail(`cannot be read: ${listing.failure.reason._tag}`)
    return [{ file: path.basename(directory), policy: broken }] satisfies ReadonlyArray<ReadPolicy>
  }
  const files = listing.success.filter((name) => name.endsWith(".json") && !name.startsWith(".")).toSorted(compareTexts)
  return yield* Effect.forEach(files, (file) =>
    fs.readFileString(path.join(directory, file)).pipe(
      Effect.tap((text) => {
        const message = jsonFaultInFile(text)
        return message === undefined ? Effect.void : Effect.fail({ message })
      }),
      Effect.flatMap(decodeFile),
      Effect.mapError(oneLine),
      Effect.result,
      Effect.map((policy): ReadPolicy => ({ file, policy }))
    )
  )
})

const decodeFile = Schema.decodeUnknownEffect(PolicyFile)

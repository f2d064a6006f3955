import { DEFAULT_POLICY_ID, PolicyFile, type PolicySchemaVersion } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { compareTexts } from "../catalog/VersionOrder.ts"
import { oneLine } from "./RunSubmission.ts"

/** A policy in the words of `POST /runtime/policies`. */
export interface PackPolicy {
  readonly policyId: string
  readonly mode: string
  readonly description: string
  readonly rules: Schema.JsonObject
  readonly schemaVersion: PolicySchemaVersion
}

/** A file that holds no policy, or the folder itself. */
export interface BrokenPolicy {
  readonly file: string
  readonly reason: string
}

const decodeFile = Schema.decodeUnknownEffect(PolicyFile)

/**
 * The policies of a folder in the order of its file names, without `policy.default`, which the runtime has and nobody
 * may replace. A broken file concerns only the launches that name its policy, so it is reported beside the
 * others; so is a folder that cannot be listed. Without a folder there are none.
 */
export const readPolicyFiles = Effect.fn("PolicyFiles.read")(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const exists = yield* Effect.orElseSucceed(fs.exists(directory), () => false)
  const listing = exists ? yield* Effect.result(fs.readDirectory(directory)) : Result.succeed([])
  if (Result.isFailure(listing)) {
    const reason = `cannot be read: ${listing.failure.reason._tag}`
    return { policies: [], broken: [{ file: path.basename(directory), reason }] }
  }
  const files = listing.success.filter((name) => name.endsWith(".json")).toSorted(compareTexts)
  const read = yield* Effect.forEach(files, (file) =>
    fs
      .readFileString(path.join(directory, file))
      .pipe(
        Effect.flatMap(decodeFile),
        Effect.mapBoth({ onFailure: (error): BrokenPolicy => ({ file, reason: oneLine(error) }), onSuccess: toPolicy }),
        Effect.result
      )
  )
  return {
    policies: read.flatMap((file) => (Result.isSuccess(file) ? [file.success] : [])).filter(isRegistrable),
    broken: read.flatMap((file) => (Result.isFailure(file) ? [file.failure] : []))
  }
})

const isRegistrable = ({ policyId }: PackPolicy) => policyId !== DEFAULT_POLICY_ID

const toPolicy = (file: typeof PolicyFile.Type): PackPolicy => ({
  policyId: file.policy_id,
  mode: file.mode,
  description: file.description ?? "",
  rules: file.rules,
  schemaVersion: file.schema_version
})

import { NewAlertRule } from "@runplane/api"
import { ruleProblem } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { oneLine } from "../common/LaunchErrors.ts"
import { openPackFiles, type PackFiles } from "./PackFiles.ts"
import { compareTexts } from "./VersionOrder.ts"

/** The file of a pack with its alert rules, a list (docs/reference/packs.md#alert-rules). */
export const ALERTS_FILE = "alerts.yaml"

export interface ReadAlertRule {
  /** The file, relative to the packs, and the position in its list, from 1. */
  readonly at: string
  /** The rule, or why there is none. */
  readonly rule: Result.Result<NewAlertRule, string>
}

const decodeRule = Schema.decodeUnknownEffect(NewAlertRule)

/** The alert rules of one pack directory. A broken rule affects itself alone. */
export const readPackAlerts = Effect.fn("AlertFiles.read")(function* (files: PackFiles, directory: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(directory, ALERTS_FILE)
  if (!(yield* Effect.orElseSucceed(fs.exists(file), () => false))) return []
  const name = files.nameOf(file)
  const broken = (message: string): ReadonlyArray<ReadAlertRule> => [{ at: name, rule: Result.fail(message) }]
  const document = yield* Effect.result(files.read(file))
  if (Result.isFailure(document)) return broken(oneLine(document.failure))
  const rules = document.success ?? []
  if (!Array.isArray(rules)) return broken("it must be a list of rules")
  return yield* Effect.forEach(rules, (rule, index) =>
    decodeRule(rule).pipe(
      Effect.mapError(oneLine),
      Effect.tap((decoded) => {
        const problem = ruleProblem(decoded)
        return problem === undefined ? Effect.void : Effect.fail(problem)
      }),
      Effect.result,
      Effect.map((read): ReadAlertRule => ({ at: `${name} rule ${index + 1}`, rule: read }))
    )
  )
})

/** The alert rules of all packs, in the order of their directories. */
export const readAlertFiles = Effect.fn("AlertFiles.readAll")(function* (packsDir: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const names = yield* Effect.orElseSucceed(fs.readDirectory(packsDir), () => [])
  const packs = names.filter((name) => !/^[._]/.test(name)).toSorted(compareTexts)
  if (packs.length === 0) return []
  const files = yield* openPackFiles(packsDir)
  const read = yield* Effect.forEach(packs, (name) => readPackAlerts(files, path.join(packsDir, name)))
  return read.flat()
})

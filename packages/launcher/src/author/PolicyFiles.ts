import { PolicyFile, policyRuleFaults } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { compareTexts } from "../catalog/VersionOrder.ts"
import { errorIn, type Finding } from "./Finding.ts"

export interface PolicyFiles {
  readonly findings: ReadonlyArray<Finding>
  /** File and mode of each policy, by its id. */
  readonly policies: ReadonlyMap<string, { readonly file: string; readonly mode: string }>
}

/**
 * Reads the policies folder and checks each file: its shape, and its rules against the closed rule set of its mode,
 * so that what the control plane would refuse is known before anything runs.
 */
export const readPolicyFiles = Effect.fn("PolicyFiles.read")(function* (policiesDir: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const findings: Array<Finding> = []
  const policies = new Map<string, { readonly file: string; readonly mode: string }>()
  const names = yield* Effect.orElseSucceed(fs.readDirectory(policiesDir), () => [])
  for (const name of names.filter((entry) => entry.endsWith(".json")).toSorted(compareTexts)) {
    const file = `${path.basename(policiesDir)}/${name}`
    const text = yield* Effect.orElseSucceed(fs.readFileString(path.join(policiesDir, name)), () => "")
    const decoded = Schema.decodeUnknownResult(PolicyFile)(text)
    if (Result.isFailure(decoded)) {
      findings.push(errorIn(file, decoded.failure.message.replace(/\s+/g, " ")))
      continue
    }
    const { mode, policy_id: id, rules } = decoded.success
    const other = policies.get(id)
    if (other !== undefined) findings.push(errorIn(file, `the policy ${id} is defined in ${other.file} too`))
    policies.set(id, { file, mode })
    findings.push(...policyRuleFaults(mode, rules).map((fault) => errorIn(file, `rules ${fault}`)))
  }
  const found: PolicyFiles = { findings, policies }
  return found
})

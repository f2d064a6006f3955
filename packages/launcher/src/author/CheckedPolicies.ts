import { type BoundPolicy, PINNED_RELEASE, policyRuleFaults, readPolicy } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import { readPolicyFiles } from "../catalog/PolicyFiles.ts"
import { errorIn, type Finding, warningIn } from "./Finding.ts"

export interface CheckedPolicies {
  readonly findings: ReadonlyArray<Finding>
  /** Each policy by its id. */
  readonly policies: ReadonlyMap<string, CheckedPolicy>
}

export interface CheckedPolicy {
  readonly file: string
  readonly mode: string
  /** As a session binds it; undefined for one that a runtime refuses. */
  readonly bound: BoundPolicy | undefined
}

/**
 * Checks each file of the policies folder: its shape, and its rules against the closed rule set of its mode, so that
 * what the control plane would refuse is known before anything runs.
 */
export const checkPolicyFiles = Effect.fnUntraced(function* (policiesDir: string) {
  const path = yield* Path.Path
  const findings: Array<Finding> = []
  const policies = new Map<string, CheckedPolicy>()
  for (const { file: name, policy } of yield* readPolicyFiles(policiesDir)) {
    const file = `${path.basename(policiesDir)}/${name}`
    if (Result.isFailure(policy)) {
      findings.push(errorIn(file, policy.failure))
      continue
    }
    const { mode, policy_id: id, rules, schema_version: schemaVersion } = policy.success
    const other = policies.get(id)
    if (other !== undefined) findings.push(errorIn(file, `the policy ${id} is defined in ${other.file} too`))
    const bound = readPolicy({ policyId: id, mode, schemaVersion, rules: JSON.stringify(rules) }, PINNED_RELEASE)
    policies.set(id, { file, mode, bound: Result.getOrUndefined(bound) })
    if (name !== `${id}.json`) {
      findings.push(warningIn(file, `its policy_id is "${id}": name the file ${id}.json, so that it is found`))
    }
    findings.push(...policyRuleFaults(mode, rules).map((fault) => errorIn(file, `rules ${fault}`)))
  }
  const checked: CheckedPolicies = { findings, policies }
  return checked
})

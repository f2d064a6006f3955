import { badRequest, controlPlaneError, type OtherPolicy, type WhatIfRequest } from "@runplane/api"
import { type PolicyText, policyRuleFaults, RELEASES, readPolicy } from "@runplane/domain"
import { RuntimeClient } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { answerOfRuntimeError } from "../../platform/http/RuntimeRefusal.ts"

/** Reads the policy of a request: of the registry, or the given one after validation; an error names the field. */
export const makePolicyOf = Effect.map(RuntimeClient, (runtime) =>
  Effect.fnUntraced(function* (request: Pick<typeof WhatIfRequest.Type, "policy" | "policyVersion">) {
    const { policy, policyVersion } = request
    if (policy !== undefined && policyVersion !== undefined) {
      return yield* badRequest("policy and policyVersion exclude each other")
    }
    if (policy !== undefined) return yield* checked(policy)
    if (policyVersion === undefined) return undefined
    return yield* Effect.mapError(runtime.getPolicy(policyVersion), answerOfRuntimeError)
  })
)

/** Validates unregistered rules like those of a registration. */
const checked = ({ mode, rules, schemaVersion }: typeof OtherPolicy.Type) => {
  const faults = policyRuleFaults(mode, rules).map((fault) => `policy.rules${fault}`)
  return faults.length > 0
    ? Effect.fail(controlPlaneError("INVALID_POLICY_DEFINITION", faults.join("; "), { faults }))
    : Effect.succeed({ policyId: "the given policy", mode, schemaVersion, rules: JSON.stringify(rules) })
}

/** The error of a policy that no release can read; undefined when a release can. */
export const unreadable = (policy: PolicyText): string | undefined => {
  const read = RELEASES.map((release) => readPolicy(policy, release))
  const failures = read.flatMap((one) => (Result.isFailure(one) ? [one.failure] : []))
  return failures.length === read.length ? failures.at(-1) : undefined
}

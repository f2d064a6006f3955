import { badRequest, type CommitteeSearchRequest, controlPlaneError, type RuntimeFailure } from "@runplane/api"
import { type PolicyText, policyReader, type Recount, recountUnder } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { makePolicyOf, unreadable } from "../../queries/decisions/RequestedPolicy.ts"

type Requested = NonNullable<CommitteeSearchRequest["policies"]>[number]

/** The policies that a search tries beside the own one of each run. */
export interface SearchedPolicies {
  readonly names: ReadonlyArray<string>
  /** A run under each of them; undefined where it cannot be counted. */
  readonly under: (recount: Recount) => ReadonlyArray<Recount | undefined>
  /** Fails for a policy under which none of the runs could be counted. */
  readonly requireFit: Effect.Effect<void, RuntimeFailure>
}

const fieldOf = (at: number) => `policies.${at}`

/** The failure of one policy, with its field in front. */
const named =
  (at: number) =>
  (failure: RuntimeFailure): RuntimeFailure => {
    const field = fieldOf(at)
    switch (failure.errorCode) {
      case "INVALID_POLICY_DEFINITION": {
        const text = `${field}.${failure.message}`
        return controlPlaneError("INVALID_POLICY_DEFINITION", text, { faults: [text] })
      }
      case "VALIDATION_ERROR":
        return badRequest(`${field}: ${failure.message}`)
      case "NOT_FOUND":
        return badRequest(`${field}.policyVersion: ${failure.message}`)
      default:
        return failure
    }
  }

/** Reads the policies of a request; an error names the field. */
export const makeSearchedPolicies = Effect.map(makePolicyOf, (policyOf) => {
  const read = Effect.fnUntraced(function* (one: Requested, at: number) {
    const policy = yield* policyOf(one)
    if (policy === undefined) return yield* badRequest("policy or policyVersion is required")
    const fault = unreadable(policy)
    if (fault === undefined) return { policy, name: one.policyVersion ?? fieldOf(at) }
    const field = one.policyVersion === undefined ? "policy.rules" : "policyVersion"
    const text = `${field}: the rules cannot be read: ${fault}`
    return yield* controlPlaneError("INVALID_POLICY_DEFINITION", text, { faults: [text] })
  })
  return (requested: ReadonlyArray<Requested>) =>
    Effect.map(
      Effect.forEach(requested, (one, at) => Effect.mapError(read(one, at), named(at))),
      searchedPolicies
    )
})

const searchedPolicies = (
  policies: ReadonlyArray<{ readonly name: string; readonly policy: PolicyText }>
): SearchedPolicies => {
  const read = policyReader()
  const faults = policies.map((): string | undefined => undefined)
  const fits = policies.map(() => false)
  return {
    names: policies.map(({ name }) => name),
    under: (recount) =>
      policies.map(({ policy }, at) =>
        Result.match(recountUnder(recount, policy, read), {
          onFailure: (fault) => {
            faults[at] = fault
            return undefined
          },
          onSuccess: (under) => {
            fits[at] = true
            return under
          }
        })
      ),
    requireFit: Effect.suspend(() => {
      const at = faults.findIndex((fault, at) => fault !== undefined && fits[at] !== true)
      return at < 0
        ? Effect.void
        : Effect.fail(badRequest(`${fieldOf(at)}: no run can be counted under it: ${faults[at]}`))
    })
  }
}

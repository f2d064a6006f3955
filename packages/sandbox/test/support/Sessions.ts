import { assert } from "@effect/vitest"
import * as Result from "effect/Result"
import type { PolicySemantics } from "../../src/core/PolicySemantics.ts"
import { DEFAULT_POLICY, parsePolicyRules } from "../../src/core/PolicyRules.ts"
import type { Rejection } from "../../src/core/Rejection.ts"
import type { Outcome, Session } from "../../src/core/Session.ts"
import { checkStart, type ResolvedPolicy, startSession } from "../../src/core/SessionStart.ts"
import { envelope, startPayload } from "./Envelopes.ts"

export const T0 = 1_790_000_000_000

export const policyOf = (rules: object, schemaVersion = 1): ResolvedPolicy => {
  const parsed = parsePolicyRules(JSON.stringify(rules), schemaVersion)
  assert(Result.isSuccess(parsed), Result.isFailure(parsed) ? parsed.failure : "")
  return { policyId: "policy.test.rules", mode: "*", schemaVersion, rules: parsed.success }
}

export interface Opening {
  readonly payload?: Parameters<typeof startPayload>[0]
  readonly policy?: ResolvedPolicy
  readonly semantics?: PolicySemantics
  readonly clientTime?: number
}

/** An open decision session that began at `T0`, started by agent://lead. */
export const openSession = ({ clientTime = 0, payload, policy, semantics = "0.7.6" }: Opening = {}): Session => {
  const sent = envelope("SessionStart", "m1", startPayload(payload), { timestampUnixMs: BigInt(clientTime) })
  const resolved = policy ?? { ...DEFAULT_POLICY, mode: "*" }
  const session = Result.flatMap(checkStart(sent), (request) =>
    startSession(request, "agent://lead", T0, () => resolved, semantics)
  )
  assert(Result.isSuccess(session), "the session starts")
  return session.success
}

/** `ok`, `duplicate`, or the code of the rejection. */
export const verdict = (outcome: Outcome<{ readonly duplicate: boolean }>): string =>
  Result.match(outcome.result, {
    onSuccess: ({ duplicate }) => (duplicate ? "duplicate" : "ok"),
    onFailure: (rejection: Rejection) => rejection.code
  })

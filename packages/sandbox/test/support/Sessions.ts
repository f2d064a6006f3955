import { assert } from "@effect/vitest"
import { ANY_MODE, DEFAULT_POLICY, PINNED_RELEASE, type Policy, parsePolicyRules, type Release } from "@runplane/domain"
import * as Result from "effect/Result"
import type { Rejection } from "../../src/core/Rejection.ts"
import type { Outcome, Session } from "../../src/core/Session.ts"
import { checkStart, startSession } from "../../src/core/SessionStart.ts"
import { DECISION, envelope, startPayload } from "./Envelopes.ts"

export const T0 = 1_790_000_000_000

export const policyOf = (rules: object, schemaVersion = 1, release: Release = PINNED_RELEASE): Policy => {
  const parsed = parsePolicyRules(JSON.stringify(rules), schemaVersion, release)
  assert(Result.isSuccess(parsed), Result.isFailure(parsed) ? parsed.failure : "")
  return { policyId: "policy.test.rules", mode: ANY_MODE, schemaVersion, rules: parsed.success }
}

export interface Opening {
  readonly payload?: Parameters<typeof startPayload>[0]
  readonly policy?: Policy
  readonly release?: Release
  readonly clientTime?: number
  readonly mode?: string
  readonly initiator?: string
}

/** An open session that began at `T0`, by default started by agent://lead and of the decision mode. */
export const openSession = (opening: Opening = {}): Session => {
  const session = startOf(opening)
  assert(Result.isSuccess(session), "the session starts")
  return session.success
}

/** The start itself, for starts that may be refused. */
export const startOf = (opening: Opening): Result.Result<Session, Rejection> => {
  const {
    clientTime = 0,
    initiator = "agent://lead",
    mode = DECISION,
    payload,
    policy,
    release = PINNED_RELEASE
  } = opening
  const sent = envelope("SessionStart", "m1", startPayload(payload), { mode, timestampUnixMs: BigInt(clientTime) })
  const resolved = policy ?? { ...DEFAULT_POLICY, mode: ANY_MODE }
  return Result.flatMap(checkStart(sent, release), (request) =>
    startSession(request, initiator, T0, () => resolved, release)
  )
}

/** `ok`, `duplicate`, or the code of the rejection. */
export const verdict = (outcome: Outcome<{ readonly duplicate: boolean }>): string =>
  Result.match(outcome.result, {
    onSuccess: ({ duplicate }) => (duplicate ? "duplicate" : "ok"),
    onFailure: (rejection: Rejection) => rejection.code
  })

import { createHash } from "node:crypto"
import {
  type PayloadDecoder,
  policyFitsMode,
  policyHash,
  readPolicy,
  releaseOf,
  type SeatRules,
  type SeatView,
  type SessionRules,
  type Sha256,
  seatRules
} from "@runplane/domain"
import { decodePayload, type ParticipantCalls } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { SeatRow } from "./SeatRows.ts"

/** SHA-256 of Node.js, for the functions of the domain. */
export const sha256: Sha256 = (...parts) => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** What the functions of the domain need to read a session. */
export const viewTools: { readonly sha256: Sha256; readonly decode: PayloadDecoder } = { sha256, decode: decodePayload }

/** What of a session is not in its messages. */
export interface SessionFacts {
  /** The policy that the session is bound to, as the runtime resolved it. */
  readonly policyVersion: string
  /** Null when the policy could not be read. */
  readonly policyHash: string | null
  readonly sessionRules: SessionRules | undefined
}

/** A session as a seat has read it, with the rules of the seat. */
export interface SeatSession {
  readonly row: SeatRow
  readonly rules: SeatRules
  readonly view: SeatView
  readonly facts: SessionFacts
}

/** The rules of a seat in its mode. */
export const rulesOf = (view: SeatView, row: SeatRow): SeatRules => seatRules(view.mode, row.rules)

/** Reads the facts of an open session. A policy that cannot be read is left out, and its hash is null. */
export const readFacts = Effect.fnUntraced(function* (
  calls: ParticipantCalls,
  view: Pick<SeatView, "mode" | "modeName">,
  session: { readonly policyVersion: string; readonly initiator: string; readonly participants: ReadonlyArray<string> }
) {
  const { initiator, participants, policyVersion } = session
  const read = yield* Effect.result(calls.getPolicy(policyVersion))
  if (Result.isFailure(read)) {
    yield* Effect.logWarning(
      `the policy ${policyVersion} cannot be read, so no item has its hash: ${read.failure.message}`
    )
    return { policyVersion, policyHash: null, sessionRules: undefined } satisfies SessionFacts
  }
  const policy = read.success
  const identity = yield* Effect.result(calls.initialize)
  const release = releaseOf(Result.isSuccess(identity) ? identity.success.version : undefined)
  const bound = policyFitsMode(policy.mode, view.modeName)
    ? readPolicy(policy, release)
    : Result.fail("of another mode")
  const facts: SessionFacts = {
    policyVersion,
    policyHash: policyHash(sha256, policy),
    sessionRules: Result.isSuccess(bound)
      ? { mode: view.mode, terms: { initiator, participants, policy: bound.success, release } }
      : undefined
  }
  return facts
})

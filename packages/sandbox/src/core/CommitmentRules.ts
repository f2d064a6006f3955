import { isReleaseFrom, type Release } from "@runplane/domain"
import { type CommitmentPayload, CommitmentPayloadSchema, type CommitmentRef } from "@runplane/runtime"
import * as Result from "effect/Result"
import { decodePayload, isBlank } from "./Decode.ts"
import type { SessionBinding } from "./Mode.ts"
import { InvalidPayload, type Rejection } from "./Rejection.ts"

/**
 * Decodes a Commitment and makes the checks common to all modes (docs/internals/runtime.md#commitment), authority
 * excepted.
 */
export const decodeCommitment = (
  bytes: Uint8Array,
  binding: SessionBinding
): Result.Result<CommitmentPayload, Rejection> =>
  Result.flatMap(decodePayload(CommitmentPayloadSchema, bytes), (payload) =>
    isComplete(payload, binding.release) && isBoundTo(payload, binding) && isConsistent(payload)
      ? Result.succeed(payload)
      : Result.fail(InvalidPayload)
  )

const isComplete = (payload: CommitmentPayload, release: Release): boolean =>
  ![payload.commitmentId, payload.action, payload.authorityScope, payload.reason].some(isBlank) &&
  (payload.supersedes === undefined || isReference(payload.supersedes, release))

/** The digest of a replaced commitment has one form from 0.7 on; before, any text would do. */
const isReference = ({ commitmentHash, sessionId }: CommitmentRef, release: Release): boolean =>
  !isBlank(sessionId) &&
  (isReleaseFrom(release, "0.7.6") ? COMMITMENT_HASH.test(commitmentHash) : !isBlank(commitmentHash))

const COMMITMENT_HASH = /^sha256:[0-9a-f]{64}$/

const isBoundTo = (payload: CommitmentPayload, binding: SessionBinding): boolean =>
  payload.modeVersion === binding.modeVersion &&
  payload.configurationVersion === binding.configurationVersion &&
  (payload.policyVersion === "" || payload.policyVersion === binding.policy.policyId)

const NEGATIVE_ENDINGS = ["rejected", "failed", "declined"]
const POSITIVE_ENDINGS = ["selected", "accepted", "completed", "approved"]

/** The name of an action must not contradict `outcome_positive`; a name with no known ending is free. */
const isConsistent = ({ action, outcomePositive }: CommitmentPayload): boolean => {
  if (NEGATIVE_ENDINGS.some((ending) => action.endsWith(ending))) return !outcomePositive
  if (POSITIVE_ENDINGS.some((ending) => action.endsWith(ending))) return outcomePositive
  return true
}

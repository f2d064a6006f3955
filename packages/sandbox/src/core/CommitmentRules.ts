import { type CommitmentPayload, CommitmentPayloadSchema } from "@runplane/runtime"
import * as Result from "effect/Result"
import { decodePayload, isBlank } from "./Decode.ts"
import type { SessionBinding } from "./Mode.ts"
import { InvalidPayload, type Rejection } from "./Rejection.ts"

/** Decodes a Commitment and makes the checks common to all modes (runtime-wire section 8.1), authority excepted. */
export const decodeCommitment = (
  bytes: Uint8Array,
  binding: SessionBinding
): Result.Result<CommitmentPayload, Rejection> =>
  Result.flatMap(decodePayload(CommitmentPayloadSchema, bytes), (payload) =>
    isComplete(payload) && isBoundTo(payload, binding) && isConsistent(payload)
      ? Result.succeed(payload)
      : Result.fail(InvalidPayload)
  )

const isComplete = (payload: CommitmentPayload): boolean =>
  ![payload.commitmentId, payload.action, payload.authorityScope, payload.reason].some(isBlank) &&
  (payload.supersedes === undefined ||
    !(isBlank(payload.supersedes.sessionId) || isBlank(payload.supersedes.commitmentHash)))

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

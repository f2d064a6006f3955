import * as Schema from "effect/Schema"
import { arrayAt, isJsonObject, objectAt, textAt, textsAt } from "../JsonReader.ts"
import type { JsonObject } from "../PayloadDecoder.ts"
import { eventType, maybeText, texts } from "./EventType.ts"
import { messageHeader, payloadOf, readHeader } from "./MessageHeader.ts"

/** What governs the session. The subject is the policy, or the commitment that it judges. */

/** Commitments that an event may expect of a session; further ones are passed over. */
export const MAX_EXPECTED_COMMITMENTS = 200

const ExpectedCommitment = Schema.Struct({
  id: Schema.String,
  commitmentId: Schema.String,
  title: maybeText,
  description: maybeText,
  requiredRoles: texts,
  /** The policy that demands it. */
  policyRef: maybeText
})

/** The policy of the session became known. From PolicyResolved. */
export const PolicyResolved = eventType(
  "policy.resolved",
  {
    ...messageHeader,
    policyVersion: maybeText,
    description: maybeText,
    /** As the runtime says. */
    resolvedAt: maybeText,
    /** Undefined when nothing was said about expectations. */
    expectedCommitments: Schema.UndefinedOr(Schema.Array(ExpectedCommitment))
  },
  (json) => {
    const payload = payloadOf(json)
    return {
      ...readHeader(json),
      policyVersion:
        textAt(json, "policyVersion") ?? textAt(payload, "policyVersion", "policy_version", "policyId", "policy_id"),
      description: textAt(payload, "description"),
      resolvedAt: textAt(payload, "resolvedAt", "resolved_at"),
      expectedCommitments: arrayAt(payload, "expectedCommitments", "expected_commitments")
        ?.filter(isJsonObject)
        .slice(0, MAX_EXPECTED_COMMITMENTS)
        .flatMap(expectedCommitmentIn)
    }
  }
)

const expectedCommitmentIn = (item: JsonObject): ReadonlyArray<typeof ExpectedCommitment.Type> => {
  const commitmentId = textAt(item, "commitmentId", "commitment_id", "id")
  if (commitmentId === undefined) return []
  return [
    {
      id: textAt(item, "id") ?? commitmentId,
      commitmentId,
      title: textAt(item, "title"),
      description: textAt(item, "description"),
      requiredRoles: textsAt(item, "requiredRoles", "required_roles"),
      policyRef: textAt(item, "policyRef", "policy_ref")
    }
  ]
}

const ALLOWING = /^(?:allow|allowed|approve|approved)$/i

/** The policy judged a commitment. From PolicyCommitmentEvaluated. */
export const PolicyCommitmentEvaluated = eventType(
  "policy.commitment.evaluated",
  { ...messageHeader, commitmentId: Schema.String, decision: Schema.Literals(["allow", "deny"]), reasons: texts },
  (json, subjectId) => {
    const payload = payloadOf(json)
    return {
      ...readHeader(json),
      commitmentId: textAt(payload, "commitmentId", "commitment_id") ?? subjectId,
      decision: ALLOWING.test(textAt(payload, "decision") ?? "") ? "allow" : "deny",
      reasons: textsAt(payload, "reasons")
    }
  }
)

/**
 * The policy refused a message. From a PolicyDenied or a payload with `policyDenied: true`, from an acknowledgement
 * with the code POLICY_DENIED, or from an inline error that says so. Only the first of the three knows the sender.
 */
export const PolicyDenied = eventType(
  "policy.denied",
  { ...messageHeader, commitmentId: maybeText, errorCode: maybeText, errorMessage: maybeText, reasons: texts },
  (json) => ({
    ...readHeader(json),
    commitmentId: textAt(json, "commitmentId"),
    errorCode: textAt(json, "errorCode"),
    errorMessage: textAt(json, "errorMessage"),
    reasons: textsAt(objectAt(json, "decodedPayload") ?? {}, "reasons")
  })
)

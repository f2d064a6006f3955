import * as Schema from "effect/Schema"
import { DenialReason, denialsOf } from "../run/Denials.ts"
import { arrayAt, isJsonObject, numberAt, objectAt, textAt } from "../values/JsonReader.ts"
import { eventType } from "./EventType.ts"
import { inData, inPayload, member, membersIn, membersOf, textOr } from "./Members.ts"
import { messageHeader } from "./MessageHeader.ts"

/** What governs the session. The subject is the policy, or the commitment that it judges. */

/** Commitments that an event may expect of a session; further ones are skipped. */
const MAX_EXPECTED_COMMITMENTS = 200

/** One of them. Its id and its commitment id may replace each other; a commitment without any id is skipped. */
const expectedCommitment = membersOf({
  id: textOr(inData.text("commitmentId", "commitment_id"), ""),
  commitmentId: textOr(inData.text("commitment_id", "id"), ""),
  title: inData.text(),
  description: inData.text(),
  requiredRoles: inData.texts("required_roles"),
  /** The policy that demands it. */
  policyRef: inData.text("policy_ref")
})

/** The rules of a policy as the runtime gave them when the run was bound. */
const descriptor = membersOf({
  policyId: textOr(inData.text("policy_id"), ""),
  /** A mode id, or `*`. */
  mode: textOr(inData.text(), "*"),
  schemaVersion: member(Schema.Finite, ({ data }, name) => numberAt(data, name, "schema_version") ?? 1),
  description: inData.text(),
  /** A JSON object as text; it may be recorded as the object itself. */
  rules: member(Schema.String, ({ data }, name) => textAt(data, name) ?? JSON.stringify(objectAt(data, name)) ?? "")
})

/** The policy of the session became known. From PolicyResolved. */
export const PolicyResolved = eventType("policy.resolved", {
  ...messageHeader,
  policyVersion: member(
    Schema.UndefinedOr(Schema.String),
    ({ data, payload }, name) => textAt(data, name) ?? textAt(payload, name, "policy_version", "policyId", "policy_id")
  ),
  description: inPayload.text(),
  /** As the runtime reports it. */
  resolvedAt: inPayload.text("resolved_at"),
  /** Undefined without stated expectations. */
  expectedCommitments: member(
    Schema.UndefinedOr(Schema.Array(expectedCommitment.schema)),
    ({ payload, subjectId }, name) =>
      arrayAt(payload, name, "expected_commitments")
        ?.filter(isJsonObject)
        .slice(0, MAX_EXPECTED_COMMITMENTS)
        .map((data) => expectedCommitment.read({ data, payload, subjectId }, name))
        .filter(({ commitmentId }) => commitmentId !== "")
  ),
  /** Undefined where the policy's rules are not known. */
  descriptor: member(Schema.UndefinedOr(descriptor.schema), ({ data, payload, subjectId }, name) => {
    const found = objectAt(data, name) ?? objectAt(payload, name)
    const read = found === undefined ? undefined : descriptor.read({ data: found, payload, subjectId }, name)
    return read === undefined || read.policyId === "" || read.rules === "" ? undefined : read
  })
})

const ALLOWING = /^(?:allow|allowed|approve|approved)$/i

/** The policy judged a commitment. From PolicyCommitmentEvaluated. */
export const PolicyCommitmentEvaluated = eventType("policy.commitment.evaluated", {
  ...messageHeader,
  commitmentId: textOr(inPayload.text("commitment_id")),
  decision: member(Schema.Literals(["allow", "deny"]), ({ payload }) =>
    ALLOWING.test(textAt(payload, "decision") ?? "") ? "allow" : "deny"
  ),
  reasons: inPayload.texts()
})

/**
 * The policy refused a message. From a PolicyDenied or a payload with `policyDenied: true`, from an acknowledgement
 * with the code POLICY_DENIED, or from an inline error about it. Only the first of the three has the sender.
 */
export const PolicyDenied = eventType("policy.denied", {
  ...messageHeader,
  commitmentId: inData.text(),
  errorCode: inData.text(),
  errorMessage: inData.text(),
  reasons: membersIn(({ data }) => objectAt(data, "decodedPayload") ?? {}).texts(),
  /** With their codes; empty where the runtime sends reasons in words only. */
  denials: member(Schema.Array(DenialReason), ({ data }) => denialsOf(data).denials),
  /** How many more there were. */
  denialsOmitted: inData.number()
})

import * as Schema from "effect/Schema"
import { numberAt, objectAt, textAt, textsAt } from "../JsonReader.ts"
import { outcomeOf } from "../Outcome.ts"
import type { JsonObject } from "../PayloadDecoder.ts"
import { eventType, maybeNumber, maybeText, texts } from "./EventType.ts"
import { messageHeader, payloadOf, readHeader } from "./MessageHeader.ts"

/** Reserved: nothing emits it. The subject is the decision. */
export const DecisionProposed = eventType("decision.proposed", messageHeader, readHeader)

/** The decision became binding. From a Commitment; the subject is the decision. */
export const DecisionFinalized = eventType(
  "decision.finalized",
  {
    ...messageHeader,
    commitmentId: maybeText,
    proposalId: maybeText,
    action: maybeText,
    reason: maybeText,
    reasons: texts,
    /** 0 to 1. */
    confidence: maybeNumber,
    /** Whether it was a yes: as stated, else as the action tells; null when that cannot be told. */
    outcomePositive: Schema.NullOr(Schema.Boolean),
    /** The earlier decision that this one replaces. */
    supersedes: Schema.UndefinedOr(Schema.Struct({ sessionId: Schema.String, commitmentHash: Schema.String }))
  },
  (json) => {
    const payload = payloadOf(json)
    return {
      ...readHeader(json),
      commitmentId: textAt(payload, "commitmentId", "commitment_id"),
      proposalId: textAt(payload, "proposalId", "proposal_id"),
      action: textAt(payload, "action"),
      reason: textAt(payload, "reason"),
      reasons: textsAt(payload, "reasons"),
      confidence: numberAt(payload, "confidence"),
      outcomePositive: outcomeOf(payload),
      supersedes: supersedesOf(payload)
    }
  }
)

const supersedesOf = (payload: JsonObject) => {
  const reference = objectAt(payload, "supersedes")
  if (reference === undefined) return undefined
  const sessionId = textAt(reference, "sessionId", "session_id")
  const commitmentHash = textAt(reference, "commitmentHash", "commitment_hash")
  return sessionId === undefined || commitmentHash === undefined ? undefined : { sessionId, commitmentHash }
}

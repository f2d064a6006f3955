import * as Schema from "effect/Schema"
import { outcomeOf } from "../run/Outcome.ts"
import { objectAt, textAt } from "../values/JsonReader.ts"
import { eventType } from "./EventType.ts"
import { inData, inPayload, member } from "./Members.ts"
import { messageHeader } from "./MessageHeader.ts"

/** Reserved: nothing emits it. The subject is the decision. */
export const DecisionProposed = eventType("decision.proposed", messageHeader)

const Supersedes = Schema.Struct({ sessionId: Schema.String, commitmentHash: Schema.String })

/** The decision became binding. From a Commitment; the subject is the decision. */
export const DecisionFinalized = eventType("decision.finalized", {
  ...messageHeader,
  commitmentId: inPayload.text("commitment_id"),
  proposalId: inPayload.text("proposal_id"),
  action: inPayload.text(),
  reason: inPayload.text(),
  reasons: inPayload.texts(),
  /** 0 to 1. */
  confidence: inPayload.number(),
  /** Hash of the Commitment's bytes as the runtime delivered them (docs/reference/decisions.md#commitment-hash). */
  commitmentHash: inData.text(),
  /** Whether it was a yes: as stated, else as the action implies; null when unknown. */
  outcomePositive: member(Schema.NullOr(Schema.Boolean), ({ payload }) => outcomeOf(payload)),
  /** Undefined for a payload in JSON. */
  payloadTypeName: inData.text(),
  /** The earlier decision that this one replaces. */
  supersedes: member(Schema.UndefinedOr(Supersedes), ({ payload }) => {
    const reference = objectAt(payload, "supersedes") ?? {}
    const sessionId = textAt(reference, "sessionId", "session_id")
    const commitmentHash = textAt(reference, "commitmentHash", "commitment_hash")
    return sessionId === undefined || commitmentHash === undefined ? undefined : { sessionId, commitmentHash }
  })
})

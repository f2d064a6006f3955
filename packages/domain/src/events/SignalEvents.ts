import * as Schema from "effect/Schema"
import { textAt } from "../JsonReader.ts"
import { eventType } from "./EventType.ts"
import { inPayload, member, wholePayload } from "./Members.ts"
import { messageHeader } from "./MessageHeader.ts"

/** An agent told everybody something beside the session's history. From a Signal; the subject is its message. */
export const SignalEmitted = eventType("signal.emitted", {
  ...messageHeader,
  /** The sender's own name for it. */
  signalType: inPayload.text("signal_type"),
  severity: inPayload.text(),
  /** 0 to 1. */
  confidence: inPayload.number(),
  payload: wholePayload
})

/** Somebody acknowledged a signal. From a SignalAck or SignalAcknowledged; the subject is the signal. */
export const SignalAcknowledged = eventType("signal.acknowledged", {
  ...messageHeader,
  signalId: member(Schema.String, ({ payload, subjectId }) =>
    subjectId === "" ? (textAt(payload, "signalId", "signal_id") ?? "") : subjectId
  )
})

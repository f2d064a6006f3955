import * as Schema from "effect/Schema"
import { numberAt, textAt } from "../JsonReader.ts"
import { eventType, maybeNumber, maybeText } from "./EventType.ts"
import { messageHeader, payloadOf, readHeader } from "./MessageHeader.ts"

/** An agent told everybody something beside the session's history. From a Signal; the subject is its message. */
export const SignalEmitted = eventType(
  "signal.emitted",
  {
    ...messageHeader,
    /** The sender's own name for it. */
    signalType: maybeText,
    severity: maybeText,
    /** 0 to 1. */
    confidence: maybeNumber,
    /** The decoded payload, in the spelling of its sender. */
    payload: Schema.JsonObject
  },
  (json) => {
    const payload = payloadOf(json)
    return {
      ...readHeader(json),
      signalType: textAt(payload, "signalType", "signal_type"),
      severity: textAt(payload, "severity"),
      confidence: numberAt(payload, "confidence"),
      payload
    }
  }
)

/** Somebody acknowledged a signal. From a SignalAck or SignalAcknowledged; the subject is the signal. */
export const SignalAcknowledged = eventType(
  "signal.acknowledged",
  { ...messageHeader, signalId: Schema.String },
  (json, subjectId) => ({
    ...readHeader(json),
    signalId: subjectId === "" ? (textAt(payloadOf(json), "signalId", "signal_id") ?? "") : subjectId
  })
)

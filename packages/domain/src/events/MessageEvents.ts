import * as Schema from "effect/Schema"
import { textAt, textsAt } from "../values/JsonReader.ts"
import { eventType } from "./EventType.ts"
import { inData, inPayload, member, membersOf, wholePayload } from "./Members.ts"
import { messageHeader, ofTypes } from "./MessageHeader.ts"

/** What became of messages. The subject is the message. */

/**
 * Set when another frame of the run has the message with this id: a refusal is then not a message of its own, and an
 * acceptance takes the position of the refusal before it (docs/reference/events.md#repeated-messages).
 */
const repeated = inData.flag()

/**
 * The runtime acknowledged a message: accepted (`ok`), a repetition, or refused with an error. From a send-ack frame.
 */
export const MessageSent = eventType("message.sent", {
  messageId: inData.text(),
  sessionId: inData.text(),
  ok: member(Schema.Boolean, ({ data }) => data["ok"] === true),
  duplicate: inData.flag(),
  sessionState: inData.text(),
  /** Unix milliseconds. */
  acceptedAtUnixMs: inData.number(),
  errorCode: inData.text(),
  errorMessage: inData.text(),
  repeated
})

/** The fields of a session in the message that opens it. */
const sessionStart = membersOf({
  participants: inPayload.texts(),
  /** What the session is for. */
  intent: inPayload.text(),
  /** Longest suspension that the session allows, milliseconds. */
  maxSuspendMs: inPayload.number("max_suspend_ms")
})

/**
 * An accepted message of the session, or an ambient one. Every envelope has this event, before the events derived
 * from it.
 */
export const MessageReceived = eventType("message.received", {
  ...messageHeader,
  repeated,
  /** Participants that the event itself names as recipients: one, or several. */
  to: member(Schema.Array(Schema.String), ({ data }) => {
    const one = textAt(data, "to")
    return one === undefined ? textsAt(data, "to") : [one]
  }),
  payload: wholePayload,
  sessionStart: ofTypes((messageType) => messageType === "SessionStart", sessionStart)
})

/** The runtime refused a message on its stream. From an inline error frame, which may name no message. */
export const MessageSendFailed = eventType("message.send_failed", {
  errorCode: inData.text(),
  errorMessage: inData.text(),
  sessionId: inData.text(),
  messageId: inData.text(),
  repeated
})

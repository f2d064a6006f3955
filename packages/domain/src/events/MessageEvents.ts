import * as Schema from "effect/Schema"
import { booleanAt, numberAt, textAt, textsAt } from "../JsonReader.ts"
import type { JsonObject } from "../PayloadDecoder.ts"
import { eventType, maybeFlag, maybeNumber, maybeText, texts } from "./EventType.ts"
import { messageHeader, payloadOf, readHeader } from "./MessageHeader.ts"

/** What became of messages. The subject is the message. */

/**
 * The runtime acknowledged a message: accepted (`ok`), a repetition, or refused with an error. From a send-ack frame.
 */
export const MessageSent = eventType(
  "message.sent",
  {
    messageId: maybeText,
    sessionId: maybeText,
    ok: Schema.Boolean,
    duplicate: maybeFlag,
    sessionState: maybeText,
    /** Unix milliseconds. */
    acceptedAtUnixMs: maybeNumber,
    errorCode: maybeText,
    errorMessage: maybeText
  },
  (json) => ({
    messageId: textAt(json, "messageId"),
    sessionId: textAt(json, "sessionId"),
    ok: json["ok"] === true,
    duplicate: booleanAt(json, "duplicate"),
    sessionState: textAt(json, "sessionState"),
    acceptedAtUnixMs: numberAt(json, "acceptedAtUnixMs"),
    errorCode: textAt(json, "errorCode"),
    errorMessage: textAt(json, "errorMessage")
  })
)

/** What the message that opens a session says of it. */
const SessionStart = Schema.Struct({
  participants: texts,
  /** Longest suspension that the session allows, milliseconds. */
  maxSuspendMs: maybeNumber
})

/**
 * An accepted message of the session, or an ambient one. Every envelope has this event; it comes before those derived
 * from it.
 */
export const MessageReceived = eventType(
  "message.received",
  {
    ...messageHeader,
    /** Participants that the event itself names as recipients. */
    to: texts,
    /** The decoded payload, in the spelling of its sender. */
    payload: Schema.JsonObject,
    /** Only of a SessionStart. */
    sessionStart: Schema.UndefinedOr(SessionStart)
  },
  (json) => {
    const header = readHeader(json)
    const payload = payloadOf(json)
    return {
      ...header,
      to: recipientsIn(json),
      payload,
      sessionStart:
        header.messageType === "SessionStart"
          ? {
              participants: textsAt(payload, "participants"),
              maxSuspendMs: numberAt(payload, "maxSuspendMs", "max_suspend_ms")
            }
          : undefined
    }
  }
)

/** `to` is one participant or several. */
const recipientsIn = (json: JsonObject): ReadonlyArray<string> => {
  const one = textAt(json, "to")
  return one === undefined ? textsAt(json, "to") : [one]
}

/** The runtime refused a message on its stream. From an inline error frame, which may name no message. */
export const MessageSendFailed = eventType(
  "message.send_failed",
  { errorCode: maybeText, errorMessage: maybeText, sessionId: maybeText, messageId: maybeText },
  (json) => ({
    errorCode: textAt(json, "errorCode"),
    errorMessage: textAt(json, "errorMessage"),
    sessionId: textAt(json, "sessionId"),
    messageId: textAt(json, "messageId")
  })
)

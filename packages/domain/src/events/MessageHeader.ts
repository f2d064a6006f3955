import * as Schema from "effect/Schema"
import { objectAt, textAt } from "../JsonReader.ts"
import type { JsonObject } from "../PayloadDecoder.ts"

/** What every event derived from a message says of it; a text that was not given is empty. */
export const messageHeader = {
  /** Mode of the session. */
  modeName: Schema.String,
  /** The runtime's message type. */
  messageType: Schema.String,
  messageId: Schema.String,
  sessionId: Schema.String,
  /** Participant that sent it. */
  sender: Schema.String
}

export const readHeader = (json: JsonObject) => ({
  modeName: textAt(json, "modeName") ?? "",
  messageType: textAt(json, "messageType") ?? "",
  messageId: textAt(json, "messageId") ?? "",
  sessionId: textAt(json, "sessionId") ?? "",
  sender: textAt(json, "sender") ?? ""
})

const NOTHING: JsonObject = {}

/** The decoded payload of the message, as its sender spelled it. */
export const payloadOf = (json: JsonObject): JsonObject => objectAt(json, "decodedPayload", "payload") ?? NOTHING

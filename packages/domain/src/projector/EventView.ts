import type { CanonicalEvent } from "../CanonicalEvent.ts"
import { objectAt, textAt } from "../JsonReader.ts"
import type { JsonObject } from "../PayloadDecoder.ts"

const NOTHING: JsonObject = {}

/** What the sections of the projection read of an event: its type, time and subject, and the common keys of `data`. */
export interface EventView {
  readonly event: CanonicalEvent
  readonly ts: string
  readonly data: JsonObject
  /** The runtime's message type; empty when the event comes from no message. */
  readonly messageType: string
  /** Empty when the event has no sender. */
  readonly sender: string
  /** `decodedPayload` of derived events, `payload` of message.received; an empty object otherwise. */
  readonly payload: JsonObject
  readonly subjectId: string
}

export const viewOf = (event: CanonicalEvent): EventView => ({
  event,
  ts: event.ts,
  data: event.data,
  messageType: textAt(event.data, "messageType") ?? "",
  sender: textAt(event.data, "sender") ?? "",
  payload: objectAt(event.data, "decodedPayload", "payload") ?? NOTHING,
  subjectId: event.subject?.id ?? ""
})

import * as Schema from "effect/Schema"
import { draftEvent, type EventDraft, type KnownEvent } from "./CanonicalEvent.ts"

export const OutboundMessageCategory = Schema.Literals(["kickoff", "signal", "context_update", "message"])
export type OutboundMessageCategory = typeof OutboundMessageCategory.Type

export const OutboundMessageStatus = Schema.Literals(["queued", "accepted", "rejected"])
export type OutboundMessageStatus = typeof OutboundMessageStatus.Type

/**
 * A message of an observed agent as the log captures it, before the store gives it
 * its `id` and `runId`. At most one per message id is kept.
 */
export const OutboundMessageDraft = Schema.Struct({
  runtimeSessionId: Schema.String,
  messageId: Schema.String,
  messageType: Schema.String,
  category: OutboundMessageCategory,
  sender: Schema.String,
  recipients: Schema.Array(Schema.String),
  status: OutboundMessageStatus,
  /** How the payload was encoded: `payloadTypeName?`, `encoding?`, `payloadBytes?`. */
  payloadDescriptor: Schema.JsonObject,
  ack: Schema.optionalKey(Schema.JsonObject),
  errorMessage: Schema.optionalKey(Schema.String),
  createdAt: Schema.String,
  acceptedAt: Schema.optionalKey(Schema.String),
  updatedAt: Schema.String
}).annotate({ identifier: "OutboundMessageDraft" })
export type OutboundMessageDraft = typeof OutboundMessageDraft.Type

export const outboundCategoryOf = (messageType: string): OutboundMessageCategory => {
  switch (messageType) {
    case "SessionStart":
      return "kickoff"
    case "Signal":
      return "signal"
    case "ContextUpdate":
      return "context_update"
    default:
      return "message"
  }
}

/** What an event does to the messages that a run lists: one more, or one in the position of a refused one. */
export interface OutboundChange {
  readonly status: "accepted" | "rejected"
  readonly replacesRejected: boolean
}

/**
 * The one rule of what counts as an outbound message (docs/reference/events.md#repeated-messages): each message id
 * once, an acceptance over a refusal. Undefined for an event that lists nothing: it names no message, acknowledges one,
 * or refuses one that is listed already.
 */
export const outboundChangeOf = (event: KnownEvent): OutboundChange | undefined => {
  switch (event.type) {
    case "message.received": {
      const { messageId, repeated = false } = event.data
      return messageId === "" ? undefined : { status: "accepted", replacesRejected: repeated }
    }
    case "message.sent":
      return event.data.ok ? undefined : refusalOf(event.data)
    case "message.send_failed":
      return refusalOf(event.data)
    default:
      return undefined
  }
}

const refusalOf = (data: {
  readonly messageId: string | undefined
  readonly repeated: boolean | undefined
}): OutboundChange | undefined =>
  data.repeated === true || (data.messageId ?? "") === "" ? undefined : { status: "rejected", replacesRejected: false }

/** The draft, marked as a repetition of another frame's message; drafts of other types stay as they are. */
export const repeatedMessage = (draft: EventDraft): EventDraft =>
  draft.type === "message.received" || draft.type === "message.sent" || draft.type === "message.send_failed"
    ? draftEvent(draft.type, draft, { ...draft.recorded.data, repeated: true })
    : draft

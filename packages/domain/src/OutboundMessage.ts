import * as Schema from "effect/Schema"

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

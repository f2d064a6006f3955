import { RunId } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { Timestamp } from "./Run.ts"

const optional = Schema.optionalKey

/** A stored artifact of a run (http-details section 4.10). */
export const Artifact = Schema.Struct({
  id: Schema.String,
  runId: RunId,
  kind: Schema.Literals(["trace", "json", "report", "log", "bundle"]),
  label: Schema.String,
  uri: optional(Schema.String),
  inline: optional(Schema.JsonObject),
  createdAt: Timestamp
}).annotate({ identifier: "Artifact", description: "A trace bundle, report or log of a run" })
export type Artifact = typeof Artifact.Type

/** A message that an observed agent sent, as captured from the runtime stream (http-details section 4.10). */
export const OutboundMessage = Schema.Struct({
  id: Schema.String,
  runId: RunId,
  runtimeSessionId: Schema.String,
  messageId: Schema.String,
  messageType: Schema.String,
  category: Schema.Literals(["kickoff", "signal", "context_update", "message"]),
  sender: Schema.String,
  recipients: Schema.Array(Schema.String),
  status: Schema.Literals(["queued", "accepted", "rejected"]),
  payloadDescriptor: Schema.JsonObject,
  ack: optional(Schema.JsonObject),
  errorMessage: optional(Schema.String),
  createdAt: Timestamp,
  acceptedAt: optional(Timestamp),
  updatedAt: Timestamp
}).annotate({ identifier: "OutboundMessage", description: "A message captured from the runtime stream" })
export type OutboundMessage = typeof OutboundMessage.Type

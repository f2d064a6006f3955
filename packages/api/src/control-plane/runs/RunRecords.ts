import {
  A2A_TURN,
  Field,
  PEOPLE_ANSWER,
  PEOPLE_ITEM,
  PEOPLE_QUESTION,
  RECEIPT_ARTIFACT,
  RunId,
  SHADOW_ACTS
} from "@runplane/domain"
import * as Schema from "effect/Schema"

const optional = Schema.optionalKey

/** A stored artifact of a run (docs/reference/runs.md#artifacts). */
const ArtifactKind = Schema.Literals([
  "trace",
  "json",
  "report",
  "log",
  "bundle",
  "otlp.input",
  "otlp.output",
  RECEIPT_ARTIFACT,
  PEOPLE_ITEM,
  PEOPLE_ANSWER,
  PEOPLE_QUESTION,
  A2A_TURN,
  SHADOW_ACTS
]).annotate({
  description:
    "What it is; macp.receipt is the runtime's receipt of the decision, people.item a question to a person, " +
    "people.answer its answer, a2a.turn a turn of an agent that speaks A2A, shadow.acts what an agent did that was " +
    "tried beside a participant"
})
export const isArtifactKind = Schema.is(ArtifactKind)

export const Artifact = Schema.Struct({
  id: Field.text("Id of the artifact: UUID"),
  runId: RunId,
  kind: ArtifactKind,
  label: Field.text("Name for readers", "Root run trace"),
  uri: optional(Field.text("Where it is kept, when not here")),
  inline: optional(Field.object("The artifact itself")),
  inlineOmitted: optional(
    Schema.Literal(true).annotate({
      description: "Present when the artifact has content that the archive, which has its run, does not keep"
    })
  ),
  createdAt: Field.time("When it was added")
}).annotate({ identifier: "Artifact", description: "A trace bundle, report or log of a run" })
export type Artifact = typeof Artifact.Type

/** An accepted message of a run, by its id (docs/reference/runs.md#messages). */
export const AcceptedMessage = Schema.Struct({
  messageId: Field.text("Id that the sender gave it"),
  messageType: Field.text("Type of the message", "Vote"),
  sender: Field.text("Who sent it", "risk-officer"),
  ordinal: Field.integer("Its position among the accepted messages that the log has; SessionStart is 1", 7),
  payloadSha256: optional(
    Field.text("SHA-256 of the bytes of its payload, hexadecimal; absent where the log does not have these bytes")
  ),
  receivedAt: Field.time("When the service received it")
}).annotate({ identifier: "AcceptedMessage", description: "A message that the runtime accepted, as the log has it" })
export type AcceptedMessage = typeof AcceptedMessage.Type

/** A message that an observed agent sent, as captured from the runtime stream (docs/reference/runs.md#messages). */
export const OutboundMessage = Schema.Struct({
  id: Field.text("Id of the record: UUID"),
  runId: RunId,
  runtimeSessionId: Field.text("Session it was sent into"),
  messageId: Field.text("Id that the sender gave it; one record for each"),
  messageType: Field.text("Type of the message", "Vote"),
  category: Schema.Literals(["kickoff", "signal", "context_update", "message"]).annotate({
    description: "Group of the type; kickoff is the message that opens the session"
  }),
  sender: Field.text("Who sent it", "impact-analyst"),
  recipients: Field.texts("Its recipients; empty for all participants"),
  status: Schema.Literals(["queued", "accepted", "rejected"]).annotate({
    description: "Whether the runtime accepted it"
  }),
  payloadDescriptor: Field.object("What its payload is, such as its type and size"),
  ack: optional(Field.object("The runtime's acknowledgement, when one was seen")),
  errorMessage: optional(Field.text("Why it was rejected")),
  createdAt: Field.time("When it was captured"),
  acceptedAt: optional(Field.time("When the runtime accepted it")),
  updatedAt: Field.time("When the record last changed")
}).annotate({ identifier: "OutboundMessage", description: "A message captured from the runtime stream" })
export type OutboundMessage = typeof OutboundMessage.Type

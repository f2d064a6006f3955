import {
  A2A_TURN,
  Field,
  idempotencyKey,
  isOneLine,
  MAX_TAG_LENGTH,
  MAX_TAGS,
  PEOPLE_ANSWER,
  PEOPLE_ITEM,
  PEOPLE_QUESTION,
  SHADOW_ACTS
} from "@runplane/domain"
import * as Schema from "effect/Schema"

const optional = Schema.optionalKey

/**
 * `context` belongs to the agents of a session, which the control plane does not talk to: it is taken for the sake of
 * older callers, and only when it is empty.
 */
const EmptyContext = Field.object(
  "Accepted only when it is empty; the context of a session belongs to its agents"
).check(
  Schema.makeFilter((context) => Array.isArray(context) || Object.keys(context).length === 0, {
    message: "context cannot be overridden: it must be absent or empty",
    toJsonSchema: () => ({ maxProperties: 0 })
  })
)

/** The body of `POST /runs/:id/clone`. */
export const CloneRun = Schema.Struct({
  tags: optional(
    Schema.Array(Schema.String.check(Schema.isMaxLength(MAX_TAG_LENGTH), isOneLine))
      .annotate({ description: "Replaces the tags of the original", examples: [["retry"]] })
      .check(Schema.isMaxLength(MAX_TAGS))
  ),
  context: optional(EmptyContext)
}).annotate({ identifier: "CloneRun", description: "What is to be different; the whole body may be absent" })

/** The body of `POST /runs/:id/artifacts`. */
export const NewArtifact = Schema.Struct({
  kind: Schema.Literals([
    "trace",
    "json",
    "report",
    "log",
    "bundle",
    PEOPLE_ITEM,
    PEOPLE_ANSWER,
    PEOPLE_QUESTION,
    A2A_TURN,
    SHADOW_ACTS
  ]).annotate({
    description: "What it is; only the launch service may add `people.*`, `a2a.turn` and `shadow.acts`",
    examples: ["report"]
  }),
  label: Field.text("Name for readers", "Post-mortem").check(Schema.isMinLength(1), isOneLine),
  uri: optional(Field.text("Where it is kept, when not here", "https://example.org/reports/17")),
  inline: optional(
    Field.object(
      "The artifact itself, any JSON object; of the kinds `people.*`, `a2a.turn` and `shadow.acts` one of their form"
    )
  ),
  idempotencyKey: optional(
    idempotencyKey(
      "A key of this artifact in its run: a second request with it and the same artifact answers with the first one",
      "report-17"
    )
  )
}).annotate({ identifier: "ArtifactRequest", description: "The artifact, or where it is" })
export type NewArtifact = typeof NewArtifact.Type

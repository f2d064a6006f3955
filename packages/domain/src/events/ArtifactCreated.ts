import * as Schema from "effect/Schema"
import { textAt } from "../JsonReader.ts"
import { eventType, maybeText } from "./EventType.ts"

/**
 * Something was added to the run: a document, or a link to a trace. Emitted by the control plane; the subject is the
 * artifact.
 */
export const ArtifactCreated = eventType(
  "artifact.created",
  { artifactId: Schema.String, kind: maybeText, label: maybeText, uri: maybeText, traceId: maybeText },
  (json, subjectId) => ({
    artifactId: textAt(json, "artifactId") ?? subjectId,
    kind: textAt(json, "kind"),
    label: textAt(json, "label"),
    uri: textAt(json, "uri"),
    traceId: textAt(json, "traceId")
  })
)

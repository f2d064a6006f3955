import { eventType } from "./EventType.ts"
import { inData, textOr } from "./Members.ts"

/**
 * Something was added to the run: a document, or a link to a trace. Emitted by the control plane; the subject is the
 * artifact.
 */
export const ArtifactCreated = eventType("artifact.created", {
  artifactId: textOr(inData.text()),
  kind: inData.text(),
  label: inData.text(),
  uri: inData.text(),
  traceId: inData.text(),
  /** SHA-256 of the inline content as it is served, hexadecimal. Recorded since seals cover artifacts. */
  contentSha256: inData.text()
})

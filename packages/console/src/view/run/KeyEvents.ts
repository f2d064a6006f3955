import { type CanonicalEvent, sentenceOf } from "@runplane/domain"
import type { Tone } from "../format/Status.ts"

/** An important event of a run. */
export interface KeyEvent {
  readonly index: number
  readonly kind: "proposal" | "vote" | "objection" | "decision" | "denial" | "end" | "failure"
  readonly tone: Tone
}

/** The key event of an event; undefined for unimportant ones. */
export const keyEventOf = (event: CanonicalEvent): KeyEvent | undefined => {
  const kind = kindOf(event)
  return kind === undefined ? undefined : { index: event.index, kind, tone: toneOf(kind, event) }
}

/** Votes and ends are many, or the last: their dots have no colour. A refused message is one without a sentence. */
const toneOf = (kind: KeyEvent["kind"], event: CanonicalEvent): Tone =>
  kind === "vote" || kind === "end" ? "calm" : (sentenceOf(event)?.tone ?? "bad")

const kindOf = (event: CanonicalEvent): KeyEvent["kind"] | undefined => {
  switch (event.type) {
    case "proposal.created":
      return "proposal"
    case "proposal.updated":
      if (event.data.messageType === "Objection") return "objection"
      return event.data.messageType === "Vote" || event.data.messageType === "Approve" ? "vote" : undefined
    case "decision.finalized":
      return "decision"
    case "policy.denied":
      return "denial"
    case "message.send_failed":
    case "run.failed":
      return "failure"
    case "run.corrected":
      return event.data.status === "failed" ? "failure" : "end"
    case "run.completed":
    case "run.cancelled":
      return "end"
    default:
      return undefined
  }
}

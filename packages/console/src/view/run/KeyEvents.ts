import type { CanonicalEvent } from "@runplane/domain"
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
  return kind === undefined ? undefined : { index: event.index, ...kind }
}

const kindOf = (event: CanonicalEvent): Omit<KeyEvent, "index"> | undefined => {
  switch (event.type) {
    case "proposal.created":
      return { kind: "proposal", tone: "accent" }
    case "proposal.updated":
      if (event.data.messageType === "Objection") return { kind: "objection", tone: "bad" }
      return event.data.messageType === "Vote" || event.data.messageType === "Approve"
        ? { kind: "vote", tone: "calm" }
        : undefined
    case "decision.finalized":
      return { kind: "decision", tone: event.data.outcomePositive === false ? "bad" : "good" }
    case "policy.denied":
      return { kind: "denial", tone: "bad" }
    case "message.send_failed":
    case "run.failed":
      return { kind: "failure", tone: "bad" }
    case "run.corrected":
      return event.data.status === "failed" ? { kind: "failure", tone: "bad" } : { kind: "end", tone: "calm" }
    case "run.completed":
    case "run.cancelled":
      return { kind: "end", tone: "calm" }
    default:
      return undefined
  }
}

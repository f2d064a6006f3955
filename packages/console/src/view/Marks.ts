import type { CanonicalEvent } from "@runplane/domain"
import type { Tone } from "./Status.ts"

/** A place in a run that readers look for. */
export interface Mark {
  readonly index: number
  readonly kind: "proposal" | "vote" | "objection" | "decision" | "denial" | "end" | "failure"
  readonly tone: Tone
}

/** Whether readers look for this event, and as what. */
export const markOf = (event: CanonicalEvent): Mark | undefined => {
  const look = lookOf(event)
  return look === undefined ? undefined : { index: event.index, ...look }
}

const lookOf = (event: CanonicalEvent): Omit<Mark, "index"> | undefined => {
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
    case "run.completed":
    case "run.cancelled":
      return { kind: "end", tone: "calm" }
    default:
      return undefined
  }
}

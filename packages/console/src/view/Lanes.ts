import type { CanonicalEvent } from "@runplane/domain"
import { gistOf } from "./Events.ts"

export type LaneKind = "proposal" | "opinion" | "objection" | "vote" | "commitment" | "model" | "other"

export const LANE_KINDS: ReadonlyArray<{ readonly kind: LaneKind; readonly title: string }> = [
  { kind: "proposal", title: "Proposal" },
  { kind: "opinion", title: "Opinion" },
  { kind: "objection", title: "Objection" },
  { kind: "vote", title: "Vote or answer" },
  { kind: "commitment", title: "Commitment" },
  { kind: "model", title: "Language model" },
  { kind: "other", title: "Signal, progress, tool" }
]

/** What stands in the lane of a participant. */
export interface LaneEvent {
  readonly event: CanonicalEvent
  readonly who: string
  readonly kind: LaneKind
  /** Unix milliseconds. */
  readonly at: number
  /** How long it took up to then, where that is known. */
  readonly lastedMs: number | undefined
  readonly text: string
}

/**
 * What each participant did, as its lane shows it: once for each message, by the event that says most about it. The
 * bare `message.received` is left out where another event tells what the message was.
 */
export const laneEventsOf = (events: Iterable<CanonicalEvent>): ReadonlyArray<LaneEvent> => {
  const found: Array<LaneEvent> = []
  for (const event of events) {
    if (event.type === "unknown") continue
    const kind = kindOf(event)
    if (kind === undefined || !("sender" in event.data) || event.data.sender === "") continue
    const lastedMs = event.type === "llm.call.completed" ? event.data.latencyMs : undefined
    found.push({ event, who: event.data.sender, kind, at: Date.parse(event.ts), lastedMs, text: gistOf(event) })
  }
  return found
}

const kindOf = (event: CanonicalEvent): LaneKind | undefined => {
  switch (event.type) {
    case "proposal.created":
      return "proposal"
    case "proposal.updated":
      if (event.data.messageType === "Evaluation") return "opinion"
      return event.data.messageType === "Objection" ? "objection" : "vote"
    case "decision.finalized":
      return "commitment"
    case "llm.call.completed":
      return "model"
    case "signal.emitted":
    case "progress.reported":
    case "tool.called":
    case "tool.completed":
      return "other"
    default:
      return undefined
  }
}

import type { CanonicalEventType } from "../events/CanonicalEventType.ts"

/** The events that decide what a list shows of a decision. */
export const FACT_TYPES: ReadonlyArray<CanonicalEventType> = [
  "run.created",
  "run.completed",
  "run.failed",
  "run.cancelled",
  "session.bound",
  "session.state.changed",
  "policy.resolved",
  "policy.denied",
  "participant.seen",
  "proposal.created",
  "proposal.updated",
  "decision.finalized"
]

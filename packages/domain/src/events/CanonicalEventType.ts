import * as Schema from "effect/Schema"

/** The names of all canonical event types, in the order in which they are documented. */
export const CANONICAL_EVENT_TYPES = [
  "run.created",
  "run.started",
  "run.completed",
  "run.failed",
  "run.cancelled",
  "run.corrected",
  "run.suspended",
  "run.resumed",
  "session.bound",
  "session.stream.opened",
  "session.state.changed",
  "participant.seen",
  "message.sent",
  "message.received",
  "message.send_failed",
  "signal.emitted",
  "signal.acknowledged",
  "proposal.created",
  "proposal.updated",
  "decision.proposed",
  "decision.finalized",
  "progress.reported",
  "tool.called",
  "tool.completed",
  "artifact.created",
  "policy.resolved",
  "policy.commitment.evaluated",
  "policy.denied",
  "llm.call.completed"
] as const

export const CanonicalEventType = Schema.Literals(CANONICAL_EVENT_TYPES).annotate({
  identifier: "CanonicalEventType",
  description: "What happened; decision.proposed is reserved and not emitted"
})
export type CanonicalEventType = typeof CanonicalEventType.Type

const names: ReadonlySet<string> = new Set(CANONICAL_EVENT_TYPES)

export const isCanonicalEventType = (type: string): type is CanonicalEventType => names.has(type)

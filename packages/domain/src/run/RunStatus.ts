import * as Schema from "effect/Schema"

/** The statuses of a run. */
export const RunStatus = Schema.Literals([
  "queued",
  "starting",
  "binding_session",
  "running",
  "suspended",
  "completed",
  "failed",
  "cancelled"
]).annotate({ identifier: "RunStatus", description: "completed, failed and cancelled are final" })
export type RunStatus = typeof RunStatus.Type

export type TerminalRunStatus = "completed" | "failed" | "cancelled"

/** The transition table (docs/reference/events.md#transitions): from -> allowed next statuses. */
const transitions: Readonly<Record<RunStatus, ReadonlyArray<RunStatus>>> = {
  queued: ["starting", "failed", "cancelled"],
  starting: ["binding_session", "failed", "cancelled"],
  binding_session: ["running", "failed", "cancelled"],
  running: ["suspended", "completed", "failed", "cancelled"],
  suspended: ["running", "completed", "failed", "cancelled"],
  completed: [],
  failed: [],
  cancelled: []
}

export const isTerminal = (status: RunStatus): status is TerminalRunStatus => transitions[status].length === 0

/** Whether a run of that status is not bound to its session yet: the session may not be opened. */
export const awaitsSession = (status: RunStatus): boolean => status === "queued" || status === "starting"

/**
 * Whether a run that has ended may have another end than recorded: a run that ended by silence, before its root came
 * (docs/reference/ingest.md#corrections). The run stays ended: a correction does not count as a transition.
 */
export const mayCorrect = (from: RunStatus, to: TerminalRunStatus): boolean =>
  isTerminal(from) && from !== "cancelled" && to !== "cancelled"

export type TransitionDecision = "apply" | "no-op" | "reject"

/**
 * Decides what a change of a run's status does. Setting the current status again, and marking a terminal run
 * terminal again, change nothing and emit nothing; whatever the table lacks is rejected
 * (409 `INVALID_STATE_TRANSITION` for callers, a logged no-op for races).
 */
export const decideTransition = (from: RunStatus, to: RunStatus): TransitionDecision => {
  if (from === to || (isTerminal(from) && isTerminal(to))) return "no-op"
  return transitions[from].includes(to) ? "apply" : "reject"
}

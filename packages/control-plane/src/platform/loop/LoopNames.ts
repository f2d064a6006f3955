/**
 * The background loops of the service, which are also the values of the label `loop` of metrics
 * (docs/reference/operations.md#loops). Some run in one process of all, some only with their setting.
 */
export const LOOP_NAMES = [
  "alert-commands",
  "alert-rules",
  "append-writers",
  "archive",
  "committees",
  "decisions",
  "erasures",
  "event-blocks",
  "idle-checks",
  "ledger",
  "log-tails",
  "notices-received",
  "notices-sent",
  "observer-notices",
  "observer-recovery",
  "process-report",
  "projection-cache",
  "rate-limits",
  "readiness",
  "receipts",
  "refusal-audit",
  "retention",
  "run-spans",
  "run-tallies",
  "seal-keys",
  "session-discovery",
  "session-reconciliation",
  "session-watch",
  "signal-watch",
  "telemetry-clock",
  "telemetry-inbox",
  "telemetry-workers",
  "webhooks"
] as const

export type LoopName = (typeof LOOP_NAMES)[number]

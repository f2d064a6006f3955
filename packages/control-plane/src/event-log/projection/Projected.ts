import type { RunMetrics, RunState } from "@runplane/domain"

/** What the log folds of a run: its state and its counters. */
export interface Projected {
  readonly state: RunState
  readonly metrics: RunMetrics
}

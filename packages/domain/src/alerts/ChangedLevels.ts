import type { AlertRule } from "./Rule.ts"

/** What becomes of a stored firing when the levels of its rule change. */
export type ChangedLevel =
  | { readonly _tag: "Kept"; readonly level: number }
  /** No level has its threshold any more: it ends, and the new levels can fire. */
  | { readonly _tag: "Gone" }

/**
 * A level is its threshold, not its number (docs/reference/alerts.md#rules): a firing follows its threshold to the new
 * number, and ends when no level has it.
 */
export const changedLevel = (at: number, levels: AlertRule["levels"]): ChangedLevel => {
  const level = levels.findIndex((each) => each.at === at)
  return level < 0 ? { _tag: "Gone" } : { _tag: "Kept", level }
}

/** Whether stored values have to be compared again, because a change decides which levels they reach or end. */
export const needsRecheck = (
  before: Pick<AlertRule, "levels" | "minRuns" | "resolveBelow">,
  after: Pick<AlertRule, "levels" | "minRuns" | "resolveBelow">
): boolean =>
  before.minRuns !== after.minRuns ||
  before.resolveBelow !== after.resolveBelow ||
  before.levels.length !== after.levels.length ||
  before.levels.some(({ at }, number) => at !== after.levels[number]?.at)

import type { AlertRuleState, ChangedAlertRule } from "@runplane/api"
import type { AlertAction } from "@runplane/domain"
import { storedAmount } from "./RuleSentence.ts"

/** A level as the form of a rule has it. */
export interface LevelFields {
  /** As it is typed: a share in percent, a time in minutes. */
  readonly at: string
  readonly severity: ChangedAlertRule["levels"][number]["severity"]
  readonly actions: ReadonlyArray<AlertAction>
}

/** An action in a few words: `pagerduty ****cdef to 0197c0de`, `tag over-budget`. */
export const actionText = (action: AlertAction): string => {
  switch (action.type) {
    case "webhook": {
      const target = action.url ?? action.subscription?.slice(0, 8) ?? ""
      const key = action.routingKey === undefined ? "" : ` ${action.routingKey}`
      return `${action.format}${key} to ${target}`
    }
    case "mark":
      return `mark ${action.name}: ${JSON.stringify(action.value)}`
    case "tag":
      return `tag ${action.tag}`
    case "suspend":
      return "suspend the run"
    case "cancel":
      return "cancel the run"
  }
}

/** The levels with one more target at each, where a level does not have it yet. Their other actions stay. */
export const withTarget = (
  levels: ReadonlyArray<LevelFields>,
  target: AlertAction | undefined
): ReadonlyArray<LevelFields> => {
  if (target === undefined) return levels
  const text = JSON.stringify(target)
  return levels.map((level) =>
    level.actions.some((action) => JSON.stringify(action) === text)
      ? level
      : { ...level, actions: [...level.actions, target] }
  )
}

/** What the form does not show stays as the rule has it. */
export const changedRule = (
  rule: AlertRuleState | undefined,
  shown: Omit<ChangedAlertRule, "levels" | "enabled" | "admission" | "expectedCostUsd">,
  levels: ReadonlyArray<LevelFields>,
  admission: Pick<ChangedAlertRule, "admission" | "expectedCostUsd">
): ChangedAlertRule => {
  const kept = rule === undefined ? {} : keptOf(rule)
  return {
    ...kept,
    ...shown,
    enabled: rule?.enabled ?? true,
    levels: levels.map(({ actions, at, severity }) => ({ at: storedAmount(shown.measure, at), severity, actions })),
    ...admission
  }
}

const keptOf = (rule: AlertRuleState) => {
  const { admission: _a, backfilling: _b, createdAt: _c, error: _e, expectedCostUsd: _x, ...rest } = rule
  const { id: _i, updatedAt: _u, ...kept } = rest
  return kept
}

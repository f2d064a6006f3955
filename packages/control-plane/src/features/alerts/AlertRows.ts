import type * as PgClient from "@effect/sql-pg/PgClient"
import type { AlertRuleState } from "@runplane/api"
import { type AlertAction, AlertActions, AlertFiring, AlertRule } from "@runplane/domain"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** A row of `alert_rules`. */
export interface RuleRow {
  readonly id: string
  readonly rule: string
  readonly enabled: boolean
  readonly from_seq: bigint
  readonly backfill_seq: bigint | null
  readonly silent_seq: bigint
  readonly error: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

export const ruleColumns = (sql: PgClient.PgClient) =>
  sql`id, rule::text AS rule, enabled, from_seq, backfill_seq, silent_seq, error, created_at, updated_at`

const decodeRule = Schema.decodeUnknownResult(Schema.fromJsonString(AlertRule))

/** The stored rule, or why this version cannot read it. */
export const storedRule = ({ rule }: Pick<RuleRow, "rule">): Result.Result<AlertRule, string> =>
  Result.mapError(decodeRule(rule), (error) => error.message)

const masked = (key: string): string => `****${key.slice(-4)}`

const shownAction = (action: AlertAction): AlertAction =>
  action.type === "webhook" && action.routingKey !== undefined
    ? { ...action, routingKey: masked(action.routingKey) }
    : action

/** The rule as it is served. One of an earlier release counts telemetry apart, as a rule that does not say. */
export const ruleState = (rule: AlertRule, row: Omit<RuleRow, "rule">): AlertRuleState => ({
  ...rule,
  telemetry: rule.telemetry ?? "count",
  levels: rule.levels.map((level) => ({ ...level, actions: level.actions.map(shownAction) })),
  ...(row.error !== null && { error: row.error }),
  ...(row.backfill_seq !== null && { backfilling: true }),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString()
})

const MASKED = /^\*{4}/

/**
 * The actions of a changed rule: a masked key stands for a key that the rule has, because a client sends back what it
 * has read. Levels and actions can be moved or removed meanwhile, so the key may be of another position. Fails with the
 * field of a masked key that is none of the rule's.
 */
export const withStoredKeys = (
  levels: AlertRule["levels"],
  before: AlertRule["levels"] | undefined
): Result.Result<AlertRule["levels"], string> => {
  const keys = (before ?? []).flatMap((level, number) =>
    level.actions.flatMap((action, index) =>
      action.type === "webhook" && action.routingKey !== undefined
        ? [{ number, index, at: level.at, subscription: action.subscription, key: action.routingKey }]
        : []
    )
  )
  const unknown: Array<string> = []
  const changed = levels.map((level, number) => ({
    ...level,
    actions: level.actions.map((action, index): AlertAction => {
      if (action.type !== "webhook" || action.routingKey === undefined || !MASKED.test(action.routingKey)) return action
      const same = keys.filter(({ key }) => masked(key) === action.routingKey)
      const found =
        same.find((one) => one.at === level.at && one.subscription === action.subscription) ??
        same.find((one) => one.number === number && one.index === index) ??
        same[0]
      if (found !== undefined) return { ...action, routingKey: found.key }
      unknown.push(`levels.${number}.actions.${index}.routingKey must be a whole key`)
      return action
    })
  }))
  const [problem] = unknown
  return problem === undefined ? Result.succeed(changed) : Result.fail(problem)
}

/** A row of `alert_firings`. */
export interface FiringRow {
  readonly id: string
  readonly firing: string
  readonly actions: string
  readonly run_id: string | null
  readonly rule_id: string
  readonly key: string
  readonly period: string
  readonly level: number
  readonly silenced: boolean
  readonly is_notified: boolean
  readonly resolved_at: Date | null
  readonly resolved_by: "value" | "period" | "run" | "rule" | null
  readonly acknowledged_at: Date | null
  readonly acknowledged_by: string | null
  readonly note: string | null
}

export const firingColumns = (sql: PgClient.PgClient) => sql`
  f.id::text AS id, f.firing::text AS firing, f.actions::text AS actions, f.run_id::text AS run_id, f.rule_id, f.key,
  f.period, f.level, f.silenced, coalesce(f.is_notified, NOT f.silenced) AS is_notified, f.resolved_at, f.resolved_by, f.acknowledged_at, f.acknowledged_by, f.note`

const StoredFiring = Schema.fromJsonString(
  AlertFiring.pipe(Schema.fieldsAssign({ status: Schema.optionalKey(AlertFiring.fields.status) }))
)
const decodeFiring = Schema.decodeUnknownSync(StoredFiring)

/** A firing as it is served. */
export const toFiring = (row: FiringRow): AlertFiring => {
  const { runId: _run, scenarioRef, seq, ...stored } = decodeFiring(row.firing)
  return {
    ...stored,
    // A change of the rule can move the threshold to another number.
    level: row.level,
    // A deleted run leaves no trace in the firings of a period.
    ...(row.run_id !== null && { runId: row.run_id }),
    ...(row.run_id !== null && scenarioRef !== undefined && { scenarioRef }),
    ...(seq !== undefined && { seq }),
    status: row.resolved_at === null ? "open" : "resolved",
    ...(row.resolved_at !== null && { endsAt: row.resolved_at.toISOString() }),
    ...(row.resolved_by !== null && { resolvedBy: row.resolved_by }),
    silenced: row.silenced,
    ...(row.acknowledged_at !== null && { acknowledgedAt: row.acknowledged_at.toISOString() }),
    ...(row.acknowledged_by !== null && { acknowledgedBy: row.acknowledged_by }),
    ...(row.note !== null && { note: row.note })
  }
}

const decodeActions = Schema.decodeUnknownSync(Schema.fromJsonString(AlertActions))

/** The actions of a firing, as its rule had them when it fired. */
export const actionsOf = ({ actions }: FiringRow): ReadonlyArray<AlertAction> => decodeActions(actions)

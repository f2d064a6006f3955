import * as PgClient from "@effect/sql-pg/PgClient"
import { type AlertBudget, MAX_BUDGET_KEYS, spendingOf } from "@runplane/api"
import {
  ALL,
  type AlertRule,
  APART,
  compareBudgets,
  isBudget,
  isoTime,
  measured,
  paceOf,
  periodOf,
  usdOfNano
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { DatabaseClock } from "../../../platform/postgres/DatabaseClock.ts"
import { unnestRows } from "../../../platform/postgres/UnnestRows.ts"
import { storedRule } from "../AlertRows.ts"
import { makePaces } from "./Paces.ts"
import { isSettled } from "./Reservations.ts"

const PERIOD_COLUMNS = { rule_id: "text", period: "text" } as const

interface SpentRow {
  readonly rule_id: string
  readonly key: string
  /** The key as counters have it. */
  readonly counted_key: string
  readonly spent: number
  /** What telemetry has reported, where the rule counts it apart. */
  readonly telemetry: number
  readonly reserved: number
}

/**
 * What the budgets have spent in their current periods, or in those of a time (ISO-8601), by rule
 * (docs/reference/alerts.md#budgets). The worst first.
 */
export const makeBudgets = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const clock = yield* DatabaseClock
  const paces = yield* makePaces

  const enabledRules = Effect.map(
    sql<{ readonly rule: string; readonly counted_since: Date | null }>`
      SELECT rule::text AS rule, counted_since FROM alert_rules WHERE enabled ORDER BY id`,
    (rows) =>
      rows.flatMap((row) => {
        const rule = storedRule(row)
        return Result.isSuccess(rule) && isBudget(rule.success)
          ? [{ rule: rule.success, countedSince: row.counted_since?.getTime() }]
          : []
      })
  )

  const spentOf = (periods: ReadonlyArray<{ readonly rule_id: string; readonly period: string }>) => sql<SpentRow>`
    SELECT w.rule_id, top.key, top.counted_key, top.spent, top.telemetry, top.reserved
    FROM ${unnestRows(sql, periods, PERIOD_COLUMNS)} AS w CROSS JOIN LATERAL (
      SELECT coalesce(min(label), key) AS key, key AS counted_key, sum(spent)::float8 AS spent, sum(telemetry)::float8 AS telemetry,
             sum(reserved)::float8 AS reserved
      FROM (
        SELECT replace(c.key, ${APART}, '') AS key, c.label,
               CASE WHEN right(c.key, ${APART.length}) = ${APART} THEN 0 ELSE c.value END AS spent,
               CASE WHEN right(c.key, ${APART.length}) = ${APART} THEN c.value ELSE 0 END AS telemetry, 0 AS reserved
        FROM alert_counters c WHERE c.rule_id = w.rule_id AND c.period = w.period
        UNION ALL
        SELECT v.key, NULL, 0, 0, v.amount FROM alert_reservations v
        WHERE v.rule_id = w.rule_id AND v.period = w.period AND NOT ${isSettled(sql)}
      ) parts
      GROUP BY parts.key ORDER BY sum(spent) + sum(reserved) DESC, sum(telemetry) DESC, parts.key LIMIT ${MAX_BUDGET_KEYS}
    ) top`

  return Effect.fn("Alerts.budgets")(function* (at: string | undefined) {
    const now = at === undefined ? yield* clock.now : Date.parse(at)
    const rules = yield* enabledRules
    if (rules.length === 0) return []
    const budgets = rules.map((one) => ({ ...one, period: periodOf(one.rule.window, one.rule.zone, now) }))
    const rows = yield* spentOf(budgets.map(({ period, rule }) => ({ rule_id: rule.id, period: period.key })))
    const known = yield* paces.load(
      rules.map(({ rule }) => rule.id),
      now
    )
    const found = budgets.flatMap(({ countedSince, period, rule }) => {
      const own = rows.filter(({ rule_id }) => rule_id === rule.id)
      const shown = own.length === 0 && rule.per === "all" ? [{ ...NOTHING, rule_id: rule.id }] : own
      return shown.map((row) => {
        // The parts are those of the last day alone.
        const pace =
          at === undefined
            ? paceOf(known.of(rule.id, row.counted_key), Math.max(known.since, countedSince ?? 0), now)
            : undefined
        return shownBudget(rule, row, {
          period: period.key,
          startsAt: isoTime(period.start),
          endsAt: isoTime(period.end),
          ...(countedSince !== undefined && { countedSince: isoTime(countedSince) }),
          ...(pace !== undefined && { pace: { of: pace.of, perHour: amountOf(rule, pace.perHour) } })
        })
      })
    })
    return found.toSorted((one, other) => compareBudgets(spendingOf(one), spendingOf(other), now))
  })
})

const NOTHING = { key: ALL, counted_key: ALL, spent: 0, telemetry: 0, reserved: 0 }

/** An amount of a counter in the unit of the measure. */
const amountOf = (rule: AlertRule, counted: number): number => measured(rule, [{ value: counted, n: 1 }]) ?? 0

const shownBudget = (
  rule: AlertRule,
  { key, reserved, spent, telemetry }: SpentRow,
  times: Pick<AlertBudget, "period" | "startsAt" | "endsAt" | "countedSince" | "pace">
): AlertBudget => ({
  ruleId: rule.id,
  name: rule.name,
  measure: rule.measure,
  per: rule.per,
  window: rule.window,
  key,
  ...times,
  levels: rule.levels.map(({ at, severity }) => ({ at, severity })),
  spent: amountOf(rule, spent),
  ...(telemetry !== 0 && { telemetry: amountOf(rule, telemetry) }),
  reserved: usdOfNano(reserved)
})

import * as PgClient from "@effect/sql-pg/PgClient"
import { type AlertBudget, MAX_BUDGET_KEYS } from "@runplane/api"
import { ALL, APART, isBudget, isoTime, measured, periodOf, usdOfNano } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { DatabaseClock } from "../../../platform/postgres/DatabaseClock.ts"
import { unnestRows } from "../../../platform/postgres/UnnestRows.ts"
import { storedRule } from "../AlertRows.ts"
import { isSettled } from "./Reservations.ts"

const PERIOD_COLUMNS = { rule_id: "text", period: "text" } as const

interface SpentRow {
  readonly rule_id: string
  readonly key: string
  readonly spent: number
  /** What telemetry has reported, where the rule counts it apart. */
  readonly telemetry: number
  readonly reserved: number
}

/**
 * What the budgets have spent in their current periods, or in those of a time (ISO-8601), by rule
 * (docs/reference/alerts.md#budgets).
 */
export const makeBudgets = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const clock = yield* DatabaseClock

  const enabledRules = Effect.map(
    sql<{ readonly rule: string }>`SELECT rule::text AS rule FROM alert_rules WHERE enabled ORDER BY id`,
    (rows) => rows.map(storedRule).flatMap((rule) => (Result.isSuccess(rule) ? [rule.success] : []))
  )

  const spentOf = (periods: ReadonlyArray<{ readonly rule_id: string; readonly period: string }>) => sql<SpentRow>`
    SELECT w.rule_id, top.key, top.spent, top.telemetry, top.reserved
    FROM ${unnestRows(sql, periods, PERIOD_COLUMNS)} AS w CROSS JOIN LATERAL (
      SELECT coalesce(min(label), key) AS key, sum(spent)::float8 AS spent, sum(telemetry)::float8 AS telemetry,
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
    const rules = (yield* enabledRules).filter(isBudget)
    if (rules.length === 0) return []
    const budgets = rules.map((rule) => ({ rule, period: periodOf(rule.window, rule.zone, now) }))
    const rows = yield* spentOf(budgets.map(({ period, rule }) => ({ rule_id: rule.id, period: period.key })))
    return budgets.flatMap(({ period, rule }) => {
      const found = rows.filter(({ rule_id }) => rule_id === rule.id)
      const shown =
        found.length === 0 && rule.per === "all" ? [{ key: ALL, spent: 0, telemetry: 0, reserved: 0 }] : found
      const amount = (counted: number) => measured(rule, [{ value: counted, n: 1 }]) ?? 0
      return shown.map(
        ({ key, reserved, spent, telemetry }): AlertBudget => ({
          ruleId: rule.id,
          name: rule.name,
          measure: rule.measure,
          per: rule.per,
          window: rule.window,
          key,
          period: period.key,
          startsAt: isoTime(period.start),
          endsAt: isoTime(period.end),
          levels: rule.levels.map(({ at, severity }) => ({ at, severity })),
          spent: amount(spent),
          ...(telemetry !== 0 && { telemetry: amount(telemetry) }),
          reserved: usdOfNano(reserved)
        })
      )
    })
  })
})

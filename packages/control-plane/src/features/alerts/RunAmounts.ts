import * as PgClient from "@effect/sql-pg/PgClient"
import { type AlertRule, APART, type Entry, isCalendarWindow, measured, measureOf, reaches } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import { AuditTrail } from "../../platform/audit/AuditTrail.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"
import type { makeChangedRules } from "./ChangedRules.ts"
import type { makeFiringWriter } from "./FiringWriter.ts"
import { evaluatorCaller } from "./RuleWebhooks.ts"

/** Deleted runs that one step takes out; the next one continues. */
const RUNS_AT_ONCE = 100
/** A step that was under way at the deletion has ended after this time. */
const KEPT = "10 minutes"

interface Amount {
  readonly run_id: string
  readonly rule_id: string
  readonly key: string
  readonly period: string
  readonly part: string
  value: number
  n: number
  readonly ends_at: string
}

/**
 * What each run has added to the counters of calendar periods, and its return when a caller deletes the run
 * (docs/reference/alerts.md#deleted-runs). All for use inside the transaction of a step.
 */
export const makeRunAmounts = Effect.fnUntraced(function* (
  writer: Effect.Success<typeof makeFiringWriter>,
  { release }: Effect.Success<ReturnType<typeof makeChangedRules>>
) {
  const sql = yield* PgClient.PgClient
  const audit = yield* AuditTrail

  /** Adds the sums of a step. Largest values and last values cannot be taken out: only sums are kept. */
  const save = (entries: ReadonlyArray<Entry>, keptMs: number) => {
    const amounts = new Map<string, Amount>()
    for (const { change, key, period, rule, runId } of entries) {
      if (!isCalendarWindow(rule.window) || measureOf(rule.measure).fold !== "add") continue
      const name = JSON.stringify([runId, rule.id, key, period.key, change.part])
      const known = amounts.get(name)
      if (known !== undefined) {
        known.value += change.value
        known.n += change.n
        continue
      }
      const { n, part, value } = change
      const ends_at = new Date(period.end + keptMs).toISOString()
      amounts.set(name, { run_id: runId, rule_id: rule.id, key, period: period.key, part, value, n, ends_at })
    }
    return amounts.size === 0
      ? Effect.void
      : Effect.asVoid(sql`
          INSERT INTO alert_amounts AS known (run_id, rule_id, key, period, part, value, n, ends_at)
          SELECT * FROM ${unnestRows(sql, [...amounts.values()], AMOUNT)} AS new
          ON CONFLICT (run_id, rule_id, key, period, part)
          DO UPDATE SET value = known.value + excluded.value, n = known.n + excluded.n`)
  }

  /** Subtracts amounts from the counters, and returns them by rule, key and period. */
  const subtract = (amounts: Fragment) =>
    sql<ReturnedRow>`
      WITH gone AS (
        DELETE FROM alert_amounts WHERE ${amounts} RETURNING run_id, rule_id, key, period, part, value, n
      ), sums AS (
        SELECT rule_id, key, period, part, sum(value) AS value, sum(n)::bigint AS n FROM gone
        GROUP BY rule_id, key, period, part
      ), changed AS (
        UPDATE alert_counters c SET value = c.value - s.value, n = c.n - s.n FROM sums s
        WHERE c.rule_id = s.rule_id AND c.key = s.key AND c.period = s.period AND c.part = s.part
      )
      SELECT rule_id, key, period, sum(value)::float8 AS value, count(DISTINCT run_id)::int AS runs,
             (array_agg(DISTINCT run_id::text))[1:20] AS run_ids
      FROM gone GROUP BY rule_id, key, period ORDER BY rule_id, key, period`

  /** Takes the amounts of deleted runs out, and ends the firings that they had reached. */
  const takeOut = Effect.fnUntraced(function* (rules: ReadonlyMap<string, AlertRule>, now: number) {
    const at = new Date(now).toISOString()
    const returned = yield* subtract(sql`run_id IN (
      SELECT d.run_id FROM alert_deleted_runs d WHERE EXISTS (SELECT FROM alert_amounts a WHERE a.run_id = d.run_id)
      LIMIT ${RUNS_AT_ONCE})`)
    yield* sql`DELETE FROM alert_deleted_runs WHERE deleted_at < now() - ${KEPT}::interval
      AND NOT EXISTS (SELECT FROM alert_amounts a WHERE a.run_id = alert_deleted_runs.run_id)`
    for (const { key, period, rule_id, run_ids, runs, value } of returned) {
      const details = { key: key.replace(APART, ""), period, value, runs, runIds: [...run_ids] }
      yield* audit.record({
        ...{ caller: evaluatorCaller, action: "alert_rule.take_out", resource: "alert_rule", resourceId: rule_id },
        ...{ details, at }
      })
      const rule = rules.get(rule_id)
      if (rule !== undefined) yield* endUnreached(rule, key, period, now)
    }
  })

  /** Ends the firings of a period whose level is not reached any more, and lets their levels fire again. */
  const endUnreached = Effect.fnUntraced(function* (rule: AlertRule, key: string, period: string, now: number) {
    const parts = yield* sql<{ readonly value: number; readonly n: number }>`
      SELECT value, n::float8 AS n FROM alert_counters
      WHERE rule_id = ${rule.id} AND key = ${key} AND period = ${period}`
    const value = measured(rule, parts)
    const firings = yield* sql<{ readonly id: string; readonly level: number; readonly is_open: boolean }>`
      SELECT id::text AS id, level, resolved_at IS NULL AS is_open FROM alert_firings
      WHERE rule_id = ${rule.id} AND key = ${key} AND period = ${period}`
    const unreached = firings.filter(({ level }) => value === undefined || !reaches(rule, level, value))
    yield* writer.end(
      unreached.flatMap(({ id, is_open }) => (is_open ? [{ id, by: "value" as const, at: now }] : [])),
      now
    )
    yield* release(
      rule.id,
      unreached.map(({ id }) => id)
    )
  })

  /** Takes the amounts of a run out of some rules while `count` counts the run again. */
  const replace = Effect.fnUntraced(function* <E, R>(
    runId: string,
    rules: ReadonlyMap<string, AlertRule>,
    count: Effect.Effect<void, E, R>,
    now: number
  ) {
    const taken = yield* subtract(sql`run_id = ${runId}::uuid AND rule_id = ANY(${[...rules.keys()]}::text[])`)
    yield* count
    for (const { key, period, rule_id } of taken) {
      const rule = rules.get(rule_id)
      if (rule !== undefined) yield* endUnreached(rule, key, period, now)
    }
  })

  return { save, takeOut, replace }
})

interface ReturnedRow {
  readonly rule_id: string
  readonly key: string
  readonly period: string
  readonly value: number
  readonly runs: number
  /** The first of them. */
  readonly run_ids: ReadonlyArray<string>
}

const AMOUNT = {
  run_id: "uuid",
  rule_id: "text",
  key: "text",
  period: "text",
  part: "text",
  value: "float8",
  n: "bigint",
  ends_at: "timestamptz"
} as const

import * as PgClient from "@effect/sql-pg/PgClient"
import { type AlertRule, changedLevel, hasDeadline, isRollingWindow, type Period, periodOf } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { hasStatus } from "../../event-log/runs/RunColumns.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"
import type { makeFiringWriter } from "./FiringWriter.ts"

/** Keys that one step compares again; the next one continues. */
const AT_ONCE = 500
/** The period of a counter of one run lasts until the run ends. Milliseconds. */
const RUN_KEPT_MS = 31 * 86_400_000

/** A counter of a changed rule, whose value is compared again. */
export interface Rechecked {
  readonly rule: AlertRule
  readonly key: string
  readonly period: Period
}

/**
 * Changes of rules that keep their counts (docs/reference/alerts.md#rules): firings follow the thresholds, and stored
 * values are compared with the new ones. All for use inside a transaction that holds the cursor.
 */
export const makeChangedRules = Effect.fnUntraced(function* (writer: Effect.Success<typeof makeFiringWriter>) {
  const sql = yield* PgClient.PgClient

  /** Moves firings out of their period, so that the same level can fire again in it. */
  const release = (ruleId: string, ids: ReadonlyArray<string>) =>
    ids.length === 0
      ? Effect.void
      : Effect.asVoid(sql`
          UPDATE alert_firings SET period = period || ' ' || id::text
          WHERE rule_id = ${ruleId} AND id = ANY(${ids}::text[]::uuid[]) AND NOT period LIKE '% ' || id::text`)

  /** Ends the firings whose threshold is gone, and numbers the others as the rule does now. */
  const moveFirings = Effect.fnUntraced(function* (rule: AlertRule, now: number) {
    const known = yield* sql<{
      readonly id: string
      readonly level: number
      readonly at: number
      readonly open: boolean
    }>`
      SELECT id::text AS id, level, (firing ->> 'at')::float8 AS at, resolved_at IS NULL AS open
      FROM alert_firings WHERE rule_id = ${rule.id} AND NOT period LIKE '% ' || id::text`
    const changes = known.map((one) => ({ ...one, to: changedLevel(one.at, rule.levels) }))
    const gone = changes.filter(({ to }) => to._tag === "Gone")
    yield* writer.end(
      gone.flatMap(({ id, open }) => (open ? [{ id, by: "rule" as const, at: now }] : [])),
      now
    )
    yield* release(
      rule.id,
      gone.map(({ id }) => id)
    )
    const moved = changes.flatMap(({ id, level, to }) =>
      to._tag === "Kept" && to.level !== level ? [{ id, level: to.level }] : []
    )
    if (moved.length === 0) return
    // Numbers are unique within a period at every moment of a statement: so they are moved out of the way first.
    yield* sql`
      UPDATE alert_firings f SET level = -1 - moved.level FROM ${unnestRows(sql, moved, MOVED)} AS moved
      WHERE f.id = moved.id`
    yield* sql`
      UPDATE alert_firings f SET level = moved.level FROM ${unnestRows(sql, moved, MOVED)} AS moved
      WHERE f.id = moved.id`
  })

  /** Lets the levels fire again that the disabling of their rule has ended. */
  const forgetEnded = (id: string) => sql`
    UPDATE alert_firings SET period = period || ' ' || id::text
    WHERE rule_id = ${id} AND resolved_by = 'rule' AND NOT period LIKE '% ' || id::text`

  /** Marks a changed rule for `due`; deadlines are due at once. */
  const request = Effect.fnUntraced(function* (rule: AlertRule, now: number) {
    if (!hasDeadline(rule))
      return yield* sql`UPDATE alert_rules SET recheck_after = ARRAY['', ''] WHERE id = ${rule.id}`
    const at = new Date(now).toISOString()
    // A run whose levels have all fired has no deadline any more.
    return yield* sql`
      INSERT INTO alert_deadlines (rule_id, run_id, due_at)
      SELECT ${rule.id}, watched.run_id, ${at}::timestamptz FROM (
        SELECT run_id FROM alert_deadlines WHERE rule_id = ${rule.id}
        UNION SELECT r.id FROM alert_firings f JOIN runs r ON r.id::text = f.key
        WHERE f.rule_id = ${rule.id} AND ${hasStatus(sql, "unfinished", "r")}
      ) AS watched
      ON CONFLICT (rule_id, run_id) DO UPDATE SET due_at = excluded.due_at`
  })

  /** The next counters of changed rules, of the current periods and the runs that have not ended. */
  const due = Effect.fnUntraced(function* (rules: ReadonlyMap<string, AlertRule>, now: number) {
    const [row] = yield* sql<{ readonly id: string; readonly recheck_after: readonly [key: string, period: string] }>`
      SELECT id, recheck_after FROM alert_rules
      WHERE recheck_after IS NOT NULL AND id = ANY(${[...rules.keys()]}::text[]) ORDER BY id LIMIT 1`
    const rule = row && rules.get(row.id)
    if (row === undefined || rule === undefined) return []
    const { window, zone } = rule
    const period = window === "run" ? undefined : periodOf(window, zone, now)
    const current = sql`c.period = ${period?.key ?? ""}`
    const isOfOpenRun = sql`EXISTS (
      SELECT FROM runs r WHERE r.id::text = c.period AND ${hasStatus(sql, "unfinished", "r")})`
    const isCurrent = period === undefined ? isOfOpenRun : isRollingWindow(window) ? sql`true` : current
    const [key, last] = row.recheck_after
    const found = yield* sql<{ readonly key: string; readonly period: string }>`
      SELECT DISTINCT c.key, ${period === undefined ? sql`c.period` : sql`''`} AS period FROM alert_counters c
      WHERE c.rule_id = ${rule.id} AND c.key >= ${key} AND ${isCurrent}
        AND (c.key, ${period === undefined ? sql`c.period` : sql`''`}) > (${key}::text, ${last}::text)
      ORDER BY 1, 2 LIMIT ${AT_ONCE}`
    const after = found.length < AT_ONCE ? undefined : found.at(-1)
    yield* sql`
      UPDATE alert_rules SET recheck_after = ${after === undefined ? null : [after.key, after.period]}::text[]
      WHERE id = ${rule.id}`
    return found.map((one): Rechecked => {
      const ofRun = { key: one.period, start: 0, end: now + RUN_KEPT_MS }
      return { rule, key: one.key, period: period ?? ofRun }
    })
  })

  return { release, moveFirings, forgetEnded, request, due }
})

const MOVED = { id: "uuid", level: "int" } as const

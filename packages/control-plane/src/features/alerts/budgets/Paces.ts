import * as PgClient from "@effect/sql-pg/PgClient"
import { type Entry, isApart, isBudget, isoTime, PACE_KEPT_MS, pacePartOf, type SpentPart } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { unnestRows } from "../../../platform/postgres/UnnestRows.ts"

interface PaceRow {
  readonly rule_id: string
  readonly key: string
  readonly starts_at: string
  value: number
}

const COLUMNS = { rule_id: "text", key: "text", starts_at: "timestamptz", value: "float8" } as const

/**
 * What budgets have spent in the last day, by parts of five minutes. Runs that are deleted or claimed later change
 * nothing here: the money was spent at that time. `save` and `forgetOld` are for use inside the transaction of a step.
 */
export const makePaces = Effect.map(PgClient.PgClient, (sql) => {
  const save = (entries: ReadonlyArray<Entry>, now: number) => {
    const rows = new Map<string, PaceRow>()
    for (const { change, countedAt, key, rule } of entries) {
      if (!isBudget(rule) || isApart(key) || countedAt < now - PACE_KEPT_MS) continue
      const starts_at = isoTime(pacePartOf(countedAt))
      const name = JSON.stringify([rule.id, key, starts_at])
      const known = rows.get(name)
      if (known === undefined) rows.set(name, { rule_id: rule.id, key, starts_at, value: change.value })
      else known.value += change.value
    }
    return rows.size === 0
      ? Effect.void
      : Effect.asVoid(sql`
          INSERT INTO alert_paces AS known (rule_id, key, starts_at, value)
          SELECT * FROM ${unnestRows(sql, [...rows.values()], COLUMNS)} AS new
          ON CONFLICT (rule_id, key, starts_at) DO UPDATE SET value = known.value + excluded.value`)
  }

  const forgetOld = (now: number, most: number) => sql`
    DELETE FROM alert_paces WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM alert_paces WHERE starts_at < ${isoTime(now - PACE_KEPT_MS)}::timestamptz LIMIT ${most}))`

  /** The parts of the last day by the JSON of rule and key, and since when there are parts. */
  const load = Effect.fnUntraced(function* (ruleIds: ReadonlyArray<string>, now: number) {
    const rows = yield* sql<{
      readonly rule_id: string
      readonly key: string
      readonly starts_at: Date
      readonly value: number
    }>`
      SELECT rule_id, key, starts_at, value FROM alert_paces
      WHERE rule_id = ANY(${ruleIds}::text[]) AND starts_at > ${isoTime(now - PACE_KEPT_MS)}::timestamptz`
    const [cursor] = yield* sql<{ readonly paced_since: Date }>`SELECT paced_since FROM alert_cursor`
    const parts = Map.groupBy(rows, ({ key, rule_id }) => JSON.stringify([rule_id, key]))
    return {
      since: cursor?.paced_since.getTime() ?? now,
      of: (ruleId: string, key: string): ReadonlyArray<SpentPart> =>
        (parts.get(JSON.stringify([ruleId, key])) ?? []).map(({ starts_at, value }) => ({
          startsAt: starts_at.getTime(),
          value
        }))
    }
  })

  return { save, forgetOld, load }
})

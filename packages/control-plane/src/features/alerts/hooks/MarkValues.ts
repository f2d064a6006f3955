import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type { MarkHook } from "../../../marks/MarkHooks.ts"
import { unnestRows } from "../../../platform/postgres/UnnestRows.ts"

/**
 * Adds the values of changed marks that a rule measures to those that the next step of the evaluator counts: the value
 * of a mark that becomes current, and its opposite when it is replaced or deleted.
 */
export const makeMarkValues = Effect.map(
  PgClient.PgClient,
  (sql): MarkHook =>
    Effect.fnUntraced(function* (runId, changes) {
      const counted = changes.flatMap(({ author, createdAt: at, current: sign, name, value }) =>
        sign === 0 || value === undefined || typeof value === "string"
          ? []
          : [{ ...{ name, at, sign, author }, score: Number(value) }]
      )
      if (counted.length === 0) return
      yield* sql`
        INSERT INTO alert_marks (run_id, name, at, value, n, telemetry)
        SELECT ${runId}::uuid, c.name, c.at, c.sign * round(c.score * 1000000000), c.sign, telemetry_of_mark(c.author)
        FROM ${unnestRows(sql, counted, COLUMNS, { ordinal: true })} AS c
        WHERE EXISTS (SELECT FROM alert_rules WHERE enabled AND rule ->> 'measure' = 'markBelow:' || c.name)
        ORDER BY c.ordinal`
    })
)

const COLUMNS = { name: "text", at: "timestamptz", sign: "int", score: "float8", author: "text" } as const

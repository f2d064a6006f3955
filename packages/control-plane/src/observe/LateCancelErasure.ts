import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import { type ErasureHook, foundRows } from "../event-log/erasure/ErasureHooks.ts"

/** Removes texts from the reason of a cancel that waits for the session of its run. */
export const makeLateCancelErasure = Effect.map(
  PgClient.PgClient,
  (sql): ErasureHook =>
    Effect.fnUntraced(function* ({ finder, isDryRun, runId }) {
      const [row] = yield* sql<{ readonly reason: string }>`
        SELECT reason FROM late_cancels WHERE run_id = ${runId}::uuid`
      if (row === undefined || !finder(row.reason)) return foundRows("command", 0)
      if (!isDryRun) yield* sql`UPDATE late_cancels SET reason = '' WHERE run_id = ${runId}::uuid`
      return foundRows("command", 1)
    })
)

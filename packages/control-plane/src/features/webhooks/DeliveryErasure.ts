import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import { type ErasureHook, foundRows, makeScrubber } from "../../event-log/erasure/ErasureHooks.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"

/** Members by which a receiver knows what a notification is about. */
const KEEP = new Set([
  ...["event", "runId", "status", "timestamp", "id", "ruleId", "measure", "severity", "per", "window", "startsAt"]
])

interface DeliveryRow {
  readonly id: string
  readonly payload: string
  readonly error_message: string | null
}

/** Removes texts from notifications of a run, delivered or not. One that is being sent has reached its receiver. */
export const makeDeliveryErasure = Effect.map(
  PgClient.PgClient,
  (sql): ErasureHook =>
    Effect.fnUntraced(function* ({ finder, isDryRun, runId }) {
      const rows = yield* sql<DeliveryRow>`
        SELECT id::text AS id, payload::text AS payload, error_message FROM webhook_deliveries
        WHERE run_id = ${runId}::uuid`
      const scrubber = makeScrubber(finder, KEEP)
      const changed = scrubber.changed(rows, ({ error_message, id, payload }) => ({
        id,
        payload: scrubber.json(payload),
        error_message: scrubber.text(error_message)
      }))
      if (changed.length > 0 && !isDryRun) {
        yield* sql`
          UPDATE webhook_deliveries d SET payload = c.payload, error_message = c.error_message
          FROM ${unnestRows(sql, changed, { id: "uuid", payload: "json", error_message: "text" })} AS c
          WHERE d.id = c.id`
      }
      return foundRows("delivery", changed.length, scrubber.kept())
    })
)

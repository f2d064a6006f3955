import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type { FoundRows, RunErasure } from "../../event-log/erasure/ErasureHooks.ts"

const WHY = "the ledger has its digest; retention deletes it by its age"

/** Audit entries about a run that have the text. They stay: a changed one would not be the one of the ledger. */
export const makeAuditRemains = Effect.map(PgClient.PgClient, (sql) =>
  Effect.fnUntraced(function* ({ finder, runId }: RunErasure) {
    const rows = yield* sql<{ readonly id: string; readonly details: string; readonly actor_name: string | null }>`
      SELECT id::text AS id, details::text AS details, actor_name FROM audit_log
      WHERE resource_id = ${runId} OR details ->> 'runId' = ${runId}`
    const found: FoundRows = {
      rows: [],
      remains: rows
        .filter(({ actor_name, details }) => finder(details) || finder(actor_name ?? ""))
        .map(({ id }) => ({ of: "audit entry", id, why: WHY }))
    }
    return found
  })
)

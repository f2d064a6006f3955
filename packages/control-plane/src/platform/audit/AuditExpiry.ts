import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import { insertPending, pendingEntry } from "../ledger/PendingEntries.ts"
import { SealKeys } from "../ledger/SealKeys.ts"
import { type Expiry, removeOldest } from "../postgres/Expiry.ts"

/** Retention of the audit log. The ledger keeps the entries of deleted rows, and says that the rows have expired. */
export const makeAuditExpiry = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const { current } = yield* SealKeys
  const removeBatch = Effect.fn("AuditExpiry.removeBatch")(function* (cutoff: string) {
    const isExpired = sql`created_at < ${cutoff}::timestamptz`
    const removed = yield* removeOldest(sql, { table: "audit_log", at: "created_at", isExpired })
    if (removed > 0) yield* insertPending(sql, [pendingEntry(current, "expiry", cutoff, { before: cutoff })])
    return removed
  }, sql.withTransaction)
  return { kind: "audit_entry", title: "audit entries", removeBatch } satisfies Expiry
})

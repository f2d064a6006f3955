import type * as PgClient from "@effect/sql-pg/PgClient"
import type { Tombstone, TombstoneReason } from "@runplane/api"
import { RunId, type RunStatus } from "@runplane/domain"
import { readStoredSeal } from "../../platform/ledger/StoredSeal.ts"

/** The columns of a `TombstoneRow`, of `run_tombstones`. */
export const tombstoneColumns = (sql: PgClient.PgClient) => sql`
  id::text AS id, run_id::text AS run_id, status, events, reason, deleted_at, deleted_by, seal::text AS seal`

export interface TombstoneRow {
  readonly id: string
  readonly run_id: string
  readonly status: RunStatus
  readonly events: number
  readonly reason: TombstoneReason
  readonly deleted_at: Date
  readonly deleted_by: string
  readonly seal: string | null
}

/** The digest in the ledger shows that its seal is altered, where that cannot be read any more. */
export const toTombstone = (row: TombstoneRow): Tombstone => {
  const seal = row.seal === null ? null : (readStoredSeal(row.seal) ?? null)
  return {
    runId: RunId.make(row.run_id),
    status: row.status,
    events: row.events,
    reason: row.reason,
    deletedAt: row.deleted_at.toISOString(),
    deletedBy: row.deleted_by,
    sealHead: seal?.head ?? null,
    seal
  }
}

/** The subject of a tombstone in the ledger. */
export const tombstoneSubject = ({ deletedAt, runId }: Tombstone): string => `${runId}/${deletedAt}`

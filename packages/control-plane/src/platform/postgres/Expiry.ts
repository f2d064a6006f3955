import type * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"

/** Rows that one statement deletes. */
const ROWS_PER_BATCH = 5_000

/**
 * Rows that retention deletes by their age (docs/reference/admin.md#retention), one batch a call, oldest first. A
 * locked row is skipped, so no writer waits for a batch and no batch waits for a writer; the next sweep deletes it.
 */
export interface Expiry {
  /** The rows in the metrics, such as `audit_entry`. */
  readonly kind: string
  /** The rows in the log, such as `audit entries`. */
  readonly title: string
  /** Deletes rows that are older than a cutoff (ISO-8601); returns how many. */
  readonly removeBatch: (cutoff: string) => Effect.Effect<number, SqlError>
}

/** The expiries of all features, and of the audit log. */
export class Expiries extends Context.Service<Expiries, ReadonlyArray<Expiry>>()("runplane/control-plane/Expiries") {}

interface Expired {
  readonly table: string
  /** The column of the age. */
  readonly at: string
  /** Which rows may be deleted, by their columns. */
  readonly isExpired: Fragment
}

/** Deletes the oldest of the rows of a table that may be deleted; returns how many. */
export const removeOldest = (sql: PgClient.PgClient, { at, isExpired, table }: Expired) =>
  Effect.map(
    sql<{ readonly removed: number }>`
      WITH expired AS (
        SELECT id FROM ${sql.literal(table)} WHERE ${isExpired}
        ORDER BY ${sql.literal(at)} LIMIT ${ROWS_PER_BATCH} FOR UPDATE SKIP LOCKED
      ), removed AS (DELETE FROM ${sql.literal(table)} t USING expired WHERE t.id = expired.id RETURNING 1)
      SELECT count(*)::int AS removed FROM removed`,
    ([row]) => row?.removed ?? 0
  )

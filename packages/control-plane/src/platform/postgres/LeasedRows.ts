import type * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"

/** A table whose rows wait for work. Its column `attempts` counts the claims of a row. */
interface LeasedTable {
  readonly table: string
  /** The column of the id, a uuid. */
  readonly key: string
  /** The column of the time from which a row can be claimed. */
  readonly dueAt: string
  /** The condition of rows whose work is not done; all by default. */
  readonly isOpen?: Fragment
  /** What a claim returns of `claimed`, the row as it was updated. `attempts` is always among it. */
  readonly columns: Fragment
  /** Further tables of these columns: a JOIN. */
  readonly joined?: Fragment
}

/** A row that this process has until its lease ends. */
export interface Leased {
  /**
   * The number of this attempt, from 1. It fences: a lease that ended, and whose row was claimed again, has a smaller
   * number than the row.
   */
  readonly attempts: number
}

/**
 * Rows that wait for work outside of the database, one row a piece of work, shared by all processes: a claim leases the
 * due rows, the ones that wait longest first, and skips those that another claim has locked. A row whose process ended
 * can be claimed again when its lease ends. The owner of the table inserts the rows, in the transaction of their cause,
 * and ends them, in the transaction of their result; the time is the database's.
 *
 * Webhooks claim by rules of their own (`features/webhooks/DeliveryClaims.ts`): the deliveries of a run keep their
 * order, the attempts of a subscription are bounded in all processes, slow subscriptions wait in a lane, and a
 * subscription is locked before its rows. Their claims share nothing with this one but the lease.
 *
 * `PersistedQueue` of Effect does not fit. Its tables are its own, so a row is not deleted with its run and its cause
 * and its result need a second statement. It decides a pause by the number of attempts alone, in whole seconds, and
 * keeps an element as failed after a number of attempts: a receipt is requested for a time, and a failed attempt knows
 * whether a later one can succeed. An acknowledgement ends the work outside of the transaction of the result.
 */
export const makeLeasedRows = <Row extends Leased>(sql: PgClient.PgClient, options: LeasedTable) => {
  const { columns, isOpen = sql`true`, joined = sql`` } = options
  const [table, key, dueAt] = [sql(options.table), sql(options.key), sql(options.dueAt)]
  const after = (ms: number) => sql`now() + make_interval(secs => ${ms / 1_000}::float8)`

  /** Leases due rows for `leaseMs` milliseconds. */
  const claim = ({ leaseMs, limit }: { readonly limit: number; readonly leaseMs: number }) =>
    sql<Row>`
      WITH claimed AS (
        UPDATE ${table} AS leased SET attempts = leased.attempts + 1, ${dueAt} = ${after(leaseMs)}
        FROM (SELECT ${key} AS key, ${dueAt} AS due_before FROM ${table} WHERE ${isOpen} AND ${dueAt} <= now()
              ORDER BY ${dueAt} LIMIT ${BigInt(limit)} FOR UPDATE SKIP LOCKED) AS due
        WHERE leased.${key} = due.key
        RETURNING leased.*, due.due_before
      )
      SELECT claimed.attempts, ${columns} FROM claimed ${joined} ORDER BY claimed.due_before`

  /** Ends a lease: the row is due again after the delay, milliseconds. Does nothing after another claim of the row. */
  const postpone = (id: string, { attempts }: Leased, delayMs: number): Effect.Effect<void, SqlError> =>
    Effect.asVoid(sql`
      UPDATE ${table} SET ${dueAt} = ${after(delayMs)} WHERE ${key} = ${id}::uuid AND attempts = ${attempts}`)

  /** Time until the next row is due, milliseconds, negative for one that is due; undefined without rows. */
  const nextDueMs = Effect.map(
    sql<{ readonly due_ms: number | null }>`
      SELECT (extract(epoch FROM min(${dueAt}) - now()) * 1000)::float8 AS due_ms FROM ${table} WHERE ${isOpen}`,
    ([row]) => row?.due_ms ?? undefined
  )
  return { claim, postpone, nextDueMs }
}

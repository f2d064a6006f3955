import * as PgClient from "@effect/sql-pg/PgClient"
import { callIdentityOf, isLogNode, type RunId, type TraceFoldStep, uuidOf } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { batchedReads } from "../../platform/postgres/Batched.ts"
import { idRows } from "../../platform/postgres/KeptPlans.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"
import { sha256Hex } from "../../platform/Sha256.ts"

/** Calls whose runs are read with one statement. */
const CALLS_PER_READ = 1_000
/** For so long a call in another trace is the same one. */
const KEPT = "1 hour"
const REMOVED_AT_ONCE = 20_000

/** A call that a step counts: its identity in the fold, and its id in the table. */
export interface CountedCall {
  readonly identity: string
  readonly call: string
}

/** The calls that a step counts and that another trace may repeat: those with a response id. */
export const countedCalls = (source: string, { consumed }: TraceFoldStep): ReadonlyArray<CountedCall> => {
  const identities = consumed.flatMap(({ node }) =>
    node === undefined || isLogNode(node) || node.isCounted !== true ? [] : (callIdentityOf(node) ?? [])
  )
  return [...new Set(identities)].map((identity) => ({
    identity,
    call: uuidOf(sha256Hex(JSON.stringify([source, identity])))
  }))
}

/**
 * Model calls that the runs of a source have counted within an hour, by response id and tokens
 * (docs/reference/ingest.md#counted-once).
 */
export const makeCountedCalls = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const readRun = batchedReads(sql, CALLS_PER_READ, (calls: ReadonlyArray<string>) =>
    Effect.map(
      sql<{ readonly call: string; readonly run_id: RunId }>`
        SELECT c.call::text AS call, c.run_id::text AS run_id
        FROM ${idRows(sql, calls)} AS k (call)
        CROSS JOIN LATERAL (SELECT * FROM otlp_calls o WHERE o.call = k.call LIMIT 1) AS c`,
      (rows) => new Map(rows.map(({ call, run_id }) => [call, run_id]))
    )
  )
  return {
    /** The identities that another run has counted. */
    countedElsewhere: (
      runId: RunId,
      calls: ReadonlyArray<CountedCall>
    ): Effect.Effect<ReadonlyArray<string>, SqlError> =>
      Effect.map(
        Effect.forEach(calls, ({ call, identity }) => Effect.map(readRun(call), (other) => ({ identity, other })), {
          concurrency: "unbounded"
        }),
        (read) => read.flatMap(({ identity, other }) => (other === undefined || other === runId ? [] : [identity]))
      ),
    /**
     * A statement that claims calls. It fails when another run has claimed one meanwhile, and with it the transaction
     * of the append: the step is made again.
     */
    claim: (calls: ReadonlyArray<{ readonly call: string; readonly run_id: RunId }>): Fragment => sql`
      INSERT INTO otlp_calls (call, run_id, counted_at)
      SELECT call, run_id, now() FROM ${unnestRows(sql, calls, CALL_COLUMNS)} AS c ORDER BY call`,
    /** Removes the calls that are too old to be repeated. */
    removeOld: Effect.asVoid(sql`
      DELETE FROM otlp_calls WHERE call IN (
        SELECT call FROM otlp_calls WHERE counted_at < now() - ${KEPT}::interval LIMIT ${REMOVED_AT_ONCE})`).pipe(
      Effect.withTracerEnabled(false)
    )
  }
})

const CALL_COLUMNS = { call: "uuid", run_id: "uuid" } as const

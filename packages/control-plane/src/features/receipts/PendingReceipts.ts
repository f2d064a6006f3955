import * as PgClient from "@effect/sql-pg/PgClient"
import { RunId } from "@runplane/domain"
import { ControlPlaneSettings, readSetting } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type { SqlError } from "effect/sql/SqlError"
import type { Reactor, WrittenAppend } from "../../event-log/append/Reactors.ts"
import { type Leased, makeLeasedRows } from "../../platform/postgres/LeasedRows.ts"

/** A receipt that this process may request now. */
export interface ClaimedReceipt extends Leased {
  readonly runId: RunId
  readonly sessionId: string
  readonly modeName: string
  /** Time since the run was resolved. Milliseconds. */
  readonly ageMs: number
}

interface ClaimLimits {
  readonly limit: number
  readonly leaseMs: number
}

interface ReceiptRow extends Leased {
  readonly run_id: string
  readonly session_id: string
  readonly mode_name: string
  readonly age_ms: number
}

export interface ReceiptClaims {
  readonly receipts: ReadonlyArray<ClaimedReceipt>
  /** Time until the next one is due; undefined when none waits. Milliseconds. */
  readonly nextDueMs: number | undefined
}

/**
 * The resolved runs whose receipt is still to be read (docs/internals/runtime.md#receipts), a row each. The transaction
 * that completes a run inserts the row, and the one that records the result deletes it, so neither a crash nor another
 * process loses or repeats a receipt.
 */
export class PendingReceipts extends Context.Service<
  PendingReceipts,
  {
    /** How long a receipt is requested; 0: receipts are not read. Milliseconds. */
    readonly windowMs: number
    /** Claims due receipts, each for `leaseMs` milliseconds. */
    readonly claim: (limits: ClaimLimits) => Effect.Effect<ReceiptClaims, SqlError>
    /** Ends a claim: the next attempt is due after the delay, milliseconds. */
    readonly postpone: (receipt: ClaimedReceipt, delayMs: number) => Effect.Effect<void, SqlError>
    /** Deletes the row; also for use inside an append. */
    readonly forget: (runId: RunId) => Effect.Effect<void, SqlError>
    /** Deletes the row if the artifact is stored, and says whether it is. */
    readonly settle: (runId: RunId, artifactId: string) => Effect.Effect<boolean, SqlError>
    /** There may be something to claim. Returns at once. */
    readonly wake: () => void
    /** Waits for the next `wake`. */
    readonly woken: Effect.Effect<void>
  }
>()("runplane/control-plane/PendingReceipts") {
  static readonly layer = Layer.effect(
    PendingReceipts,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const windowMs = yield* readSetting(ControlPlaneSettings.RECEIPT_RETRY_WINDOW_MS)
      const signal = yield* Queue.sliding<void>(1)

      const rows = makeLeasedRows<ReceiptRow>(sql, {
        table: "pending_receipts",
        key: "run_id",
        dueAt: "due_at",
        columns: sql`
          claimed.run_id::text AS run_id, claimed.session_id, claimed.mode_name,
          (extract(epoch FROM now() - claimed.since) * 1000)::float8 AS age_ms`
      })

      const claim = Effect.fn("PendingReceipts.claim")(function* (limits: ClaimLimits) {
        const claimed = yield* rows.claim(limits)
        return {
          receipts: claimed.map(({ age_ms, attempts, mode_name, run_id, session_id }) => ({
            runId: RunId.make(run_id),
            sessionId: session_id,
            modeName: mode_name,
            attempts,
            ageMs: age_ms
          })),
          nextDueMs: yield* rows.nextDueMs
        }
      })

      return PendingReceipts.of({
        windowMs,
        claim,
        postpone: Effect.fn("PendingReceipts.postpone")((receipt, delayMs) =>
          rows.postpone(receipt.runId, receipt, delayMs)
        ),
        forget: (runId) => Effect.asVoid(sql`DELETE FROM pending_receipts WHERE run_id = ${runId}::uuid`),
        settle: (runId, artifactId) =>
          Effect.map(
            sql<{ readonly id: string }>`
              WITH stored AS (SELECT id FROM artifacts WHERE id = ${artifactId}::uuid), gone AS (
                DELETE FROM pending_receipts WHERE run_id = ${runId}::uuid AND EXISTS (SELECT 1 FROM stored))
              SELECT id::text AS id FROM stored`,
            ([row]) => row !== undefined
          ),
        wake: () => {
          Queue.offerUnsafe(signal, undefined)
        },
        woken: Queue.take(signal)
      })
    })
  )
}

/**
 * Notes the runs that are completed and whose runtime issues receipts, by what it declared when the run was bound. A
 * runtime without this capability is never called.
 */
export const makeReceiptOutbox = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const { wake, windowMs } = yield* PendingReceipts
  const completed = (appends: ReadonlyArray<WrittenAppend>) =>
    appends.filter(({ change }) => change?.to === "completed")
  const reactor: Reactor = {
    inTransaction: (appends) => {
      const ids = completed(appends).map(({ runId }) => runId)
      if (ids.length === 0) return []
      return [
        sql`
          INSERT INTO pending_receipts (run_id, session_id, mode_name, since, due_at)
          SELECT run_id, runtime_session_id, mode_name, now(), now() FROM sessions
          WHERE run_id = ANY(${ids}::text[]::uuid[])
            AND capabilities #>> '{decisionReceipt,getDecisionReceipt}' = 'true'
          ON CONFLICT (run_id) DO NOTHING`
      ]
    },
    afterCommit: (appends) => {
      if (completed(appends).length > 0) wake()
    }
  }
  return windowMs === 0 ? {} : reactor
})

import * as PgClient from "@effect/sql-pg/PgClient"
import type { BacktestScope } from "@runplane/api"
import { BACKTEST_TYPES, RunId, SESSION_START } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { scenarioFilter } from "../../event-log/runs/RunSearch.ts"
import { READ_BYTES } from "../../platform/postgres/BoundedRows.ts"

/** Events of one read. */
const EVENTS_PER_READ = 500

export interface BacktestRun {
  readonly runId: RunId
  /** Events in its log. */
  readonly events: number
}

/** A position in the events of several runs. */
export interface BacktestPosition {
  readonly runId: string
  readonly seq: number
}

export interface BacktestEvent extends BacktestPosition {
  readonly json: string
}

export interface BacktestSlice {
  readonly events: ReadonlyArray<BacktestEvent>
  /** The position of the next slice; undefined at the end. */
  readonly next: BacktestPosition | undefined
}

/** The reads of a backtest (docs/reference/decisions.md#backtest), one slice at a time. */
export class BacktestRuns extends Context.Service<
  BacktestRuns,
  {
    /** The latest runs of a scope, at most one more than its limit. */
    readonly inScope: (scope: BacktestScope) => Effect.Effect<ReadonlyArray<BacktestRun>, SqlError>
    /** The next events of these runs that a backtest needs, run by run, bounded in number and in bytes. */
    readonly slice: (
      runIds: ReadonlyArray<RunId>,
      after: BacktestPosition | undefined
    ) => Effect.Effect<BacktestSlice, SqlError>
    /** The runs that exist. */
    readonly existing: (runIds: ReadonlyArray<RunId>) => Effect.Effect<ReadonlySet<string>, SqlError>
  }
>()("runplane/control-plane/BacktestRuns") {
  static readonly layer = Layer.effect(
    BacktestRuns,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const inScope = Effect.fn("BacktestRuns.inScope")((scope: BacktestScope) => {
        const { createdAfter, createdBefore, limit, modeName, scenarioRef, tags = [] } = scope
        const matches = sql.and([
          ...(createdAfter === undefined ? [] : [sql`r.created_at > ${createdAfter}::timestamptz`]),
          ...(createdBefore === undefined ? [] : [sql`r.created_at < ${createdBefore}::timestamptz`]),
          ...(modeName === undefined ? [] : [sql`r.mode_name = ${modeName}`]),
          ...(tags.length === 0 ? [] : [sql`r.tags @> ${tags}::text[]`]),
          ...(scenarioRef === undefined ? [] : [scenarioFilter(sql, scenarioRef, "runs")])
        ])
        return Effect.map(
          sql<{ readonly id: string; readonly events: number }>`
            SELECT r.id::text AS id, h.last_index AS events FROM runs r JOIN run_heads h ON h.run_id = r.id
            WHERE ${matches} ORDER BY r.created_at DESC, r.id DESC LIMIT ${BigInt(limit + 1)}`,
          (rows) => rows.map(({ events, id }): BacktestRun => ({ runId: RunId.make(id), events }))
        )
      })

      const slice = Effect.fn("BacktestRuns.slice")(function* (
        runIds: ReadonlyArray<RunId>,
        after: BacktestPosition | undefined
      ) {
        const behind =
          after === undefined ? sql`true` : sql`(run_id, seq) > (${after.runId}::uuid, ${BigInt(after.seq)})`
        const rows = yield* sql<{
          readonly run_id: string
          readonly seq: bigint
          readonly json: string
          readonly bytes: bigint
        }>`
          SELECT run_id::text AS run_id, seq, json, bytes
          FROM (SELECT run_id, seq, json, sum(octet_length(json)) OVER (ORDER BY run_id, seq) AS bytes
                FROM (SELECT run_id, seq, event::text AS json FROM canonical_events
                      WHERE run_id = ANY(${runIds}::text[]::uuid[]) AND ${behind}
                        AND type = ANY(${BACKTEST_TYPES}::text[])
                        AND (type <> 'message.received' OR event #>> '{data,messageType}' = ${SESSION_START})
                      ORDER BY run_id, seq LIMIT ${BigInt(EVENTS_PER_READ)}) AS next) AS measured
          WHERE bytes - octet_length(json) < ${READ_BYTES} ORDER BY run_id, seq`
        const events = rows.map(({ json, run_id, seq }): BacktestEvent => ({ runId: run_id, seq: Number(seq), json }))
        const last = rows.at(-1)
        const isFull = last !== undefined && (rows.length === EVENTS_PER_READ || Number(last.bytes) >= READ_BYTES)
        return { events, next: isFull ? { runId: last.run_id, seq: Number(last.seq) } : undefined }
      })
      const existing = Effect.fn("BacktestRuns.existing")((runIds: ReadonlyArray<RunId>) =>
        Effect.map(
          sql<{ readonly id: string }>`SELECT id::text AS id FROM runs WHERE id = ANY(${runIds}::text[]::uuid[])`,
          (rows) => new Set(rows.map(({ id }) => id))
        )
      )
      return BacktestRuns.of({ inScope, slice, existing })
    })
  )
}

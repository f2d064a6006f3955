import * as PgClient from "@effect/sql-pg/PgClient"
import type { BacktestScope } from "@runplane/api"
import {
  type CanonicalEvent,
  type CanonicalEventType,
  type Deliberation,
  decodeEventText,
  deliberationReader,
  RunId,
  SESSION_START,
  type Sliced
} from "@runplane/domain"
import { inSlices } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import { READ_BYTES } from "../../platform/postgres/BoundedRows.ts"
import { scenarioFilter } from "../runs/RunSearch.ts"

/** Events of one read. */
const EVENTS_PER_READ = 500
/** Events of a group of runs that are read together; a larger run is read alone. */
const EVENTS_PER_GROUP = 2_000
const RUNS_PER_GROUP = 100

export interface BacktestRun {
  readonly runId: RunId
  /** Events in its log. */
  readonly events: number
}

/** A row of the log. */
interface EventRow {
  readonly run_id: string
  readonly json: string
}

/** Decodes and takes rows, one a slice. */
function* taken(rows: ReadonlyArray<EventRow>, take: (event: CanonicalEvent, runId: string) => void): Sliced<void> {
  for (const { json, run_id } of rows) {
    take(Result.getOrThrow(decodeEventText(json)), run_id)
    yield
  }
}

/** A position in the events of several runs. */
interface Position {
  readonly runId: string
  readonly seq: number
}

/** Groups of runs that are read together, so that the memory of a read does not depend on the number of runs. */
export const groupsOf = (runs: ReadonlyArray<BacktestRun>): ReadonlyArray<ReadonlyArray<RunId>> => {
  const groups: Array<Array<RunId>> = []
  let events = Number.POSITIVE_INFINITY
  for (const run of runs) {
    const group = groups.at(-1)
    if (group !== undefined && group.length < RUNS_PER_GROUP && events + run.events <= EVENTS_PER_GROUP) {
      group.push(run.runId)
      events += run.events
    } else {
      groups.push([run.runId])
      events = run.events
    }
  }
  return groups
}

/**
 * The reads of a backtest (docs/reference/decisions.md#backtest) and of the record of an agent, one slice at a time.
 */
export class BacktestRuns extends Context.Service<
  BacktestRuns,
  {
    /** The latest runs of a scope, at most one more than its limit. */
    readonly inScope: (scope: BacktestScope) => Effect.Effect<ReadonlyArray<BacktestRun>, SqlError>
    /** Reads the events of these types, run by run. Of the messages only those that open a session. */
    readonly forEachEvent: (
      group: ReadonlyArray<RunId>,
      types: ReadonlyArray<CanonicalEventType>,
      take: (event: CanonicalEvent, runId: string) => void
    ) => Effect.Effect<void, SqlError>
    /**
     * Evaluates the deliberation of each run of a group, with the events of one run in memory. It is made of the events
     * of these types alone. Runs without such events, and runs that were deleted meanwhile, are left out.
     */
    readonly evaluate: <A>(
      group: ReadonlyArray<RunId>,
      types: ReadonlyArray<CanonicalEventType>,
      evaluation: (run: Deliberation) => A
    ) => Effect.Effect<ReadonlyArray<A>, SqlError>
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

      /** The next events of these runs, run by run, bounded in number and in bytes; `next` is undefined at the end. */
      const slice = Effect.fnUntraced(function* (
        runIds: ReadonlyArray<RunId>,
        types: ReadonlyArray<CanonicalEventType>,
        after: Position | undefined
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
                        AND type = ANY(${types}::text[])
                        AND (type <> 'message.received' OR event #>> '{data,messageType}' = ${SESSION_START})
                      ORDER BY run_id, seq LIMIT ${BigInt(EVENTS_PER_READ)}) AS next) AS measured
          WHERE bytes - octet_length(json) < ${READ_BYTES} ORDER BY run_id, seq`
        const last = rows.at(-1)
        const isFull = last !== undefined && (rows.length === EVENTS_PER_READ || Number(last.bytes) >= READ_BYTES)
        return { rows, next: isFull ? { runId: last.run_id, seq: Number(last.seq) } : undefined }
      })

      const existing = (runIds: ReadonlyArray<RunId>) =>
        Effect.map(
          sql<{ readonly id: string }>`SELECT id::text AS id FROM runs WHERE id = ANY(${runIds}::text[]::uuid[])`,
          (rows) => new Set(rows.map(({ id }) => id))
        )

      const forEachEvent = Effect.fn("BacktestRuns.forEachEvent")(function* (
        group: ReadonlyArray<RunId>,
        types: ReadonlyArray<CanonicalEventType>,
        take: (event: CanonicalEvent, runId: string) => void
      ) {
        let after: Position | undefined
        do {
          const { next, rows } = yield* slice(group, types, after)
          yield* inSlices(taken(rows, take))
          after = next
        } while (after !== undefined)
      })

      const evaluate = Effect.fn("BacktestRuns.evaluate")(function* <A>(
        group: ReadonlyArray<RunId>,
        types: ReadonlyArray<CanonicalEventType>,
        evaluation: (run: Deliberation) => A
      ) {
        const evaluated: Array<{ readonly runId: string; readonly result: A }> = []
        let current = { runId: "", reader: deliberationReader() }
        const evaluateCurrent = () => {
          const { reader, runId } = current
          if (runId !== "") evaluated.push({ runId, result: evaluation({ ...reader.read(), runId }) })
        }
        yield* forEachEvent(group, types, (event, runId) => {
          if (runId !== current.runId) {
            evaluateCurrent()
            current = { runId, reader: deliberationReader() }
          }
          current.reader.take(event)
        })
        evaluateCurrent()
        // The events of a run that was deleted meanwhile may be incomplete.
        const found = yield* existing(group)
        return evaluated.flatMap(({ result, runId }) => (found.has(runId) ? [result] : []))
      })
      return BacktestRuns.of({ inScope, forEachEvent, evaluate })
    })
  )
}

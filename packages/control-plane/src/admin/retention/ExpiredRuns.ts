import * as PgClient from "@effect/sql-pg/PgClient"
import { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { RunAdministration } from "../../event-log/runs/RunAdministration.ts"
import { hasStatus } from "../../event-log/runs/RunColumns.ts"
import { isFiled } from "../../features/archive/FiledRuns.ts"
import { isoNow } from "../../platform/IsoNow.ts"

/** A transaction takes no further run once it deletes that many events, so that a batch of long runs stays short. */
const EVENTS_PER_BATCH = 50_000

/** Who deletes runs because of their age, as their tombstones name it. */
const RETENTION = "retention"

interface LockedRun {
  readonly id: string
  readonly last_index: number
}

/** The position of a sweep: the last run that it has read. */
export interface ExpiredPosition {
  readonly endedAt: string
  readonly id: string
}

export interface RemovedRuns {
  readonly runs: number
  readonly events: number
  /** Runs that stay until the archive has all of them. */
  readonly waiting: number
  /** The position of the next batch; undefined when this one has found no run. */
  readonly next: ExpiredPosition | undefined
}

/**
 * Deletes runs that ended before a cutoff (ISO-8601), one batch a call, oldest first. A locked row is skipped, so no
 * writer waits for a batch and no batch waits for a writer; the next sweep deletes it. When all rows of a batch are
 * locked, the next batch continues after them.
 */
export class ExpiredRuns extends Context.Service<
  ExpiredRuns,
  {
    /**
     * Terminal runs by the time they ended, each with all of its rows, in one transaction; with `onlyFiled` those
     * whose events, row and marks are in files of the archive.
     */
    readonly removeRuns: (
      cutoff: string,
      limit: number,
      options?: { readonly after?: ExpiredPosition | undefined; readonly onlyFiled?: boolean }
    ) => Effect.Effect<RemovedRuns, SqlError>
  }
>()("runplane/control-plane/ExpiredRuns") {
  static readonly layer = Layer.effect(
    ExpiredRuns,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const upkeep = yield* RunAdministration

      const expired = (cutoff: string) => sql`r.ended_at < ${cutoff}::timestamptz AND ${hasStatus(sql, "ended", "r")}`

      const behind = (after: ExpiredPosition | undefined) =>
        after === undefined ? sql`true` : sql`(r.ended_at, r.id) > (${after.endedAt}::timestamptz, ${after.id}::uuid)`

      /** The oldest runs, up to the one with which the batch is full. */
      const oldest = (cutoff: string, limit: number, after: ExpiredPosition | undefined) => sql<ExpiredPosition>`
        SELECT id::text AS id, ended_at::text AS "endedAt" FROM (
          SELECT r.id, r.ended_at, sum(h.last_index) OVER (ORDER BY r.ended_at, r.id) - h.last_index AS events_before
          FROM (
            SELECT * FROM runs r WHERE ${expired(cutoff)} AND ${behind(after)} ORDER BY r.ended_at, r.id LIMIT ${limit}
          ) r
          JOIN run_heads h ON h.run_id = r.id
        ) AS candidates WHERE events_before < ${EVENTS_PER_BATCH} ORDER BY ended_at, candidates.id`

      const lock = (ids: ReadonlyArray<string>, cutoff: string) => sql<LockedRun>`
        SELECT r.id::text AS id, h.last_index FROM runs r JOIN run_heads h ON h.run_id = r.id
        WHERE r.id = ANY(${ids}::text[]::uuid[]) AND ${expired(cutoff)}
        ORDER BY r.id FOR UPDATE OF r, h SKIP LOCKED`

      /** A statement of its own: it reads changes that were committed while the lock waited. */
      const filedAmong = Effect.fnUntraced(function* (runs: ReadonlyArray<LockedRun>) {
        const ids = runs.map(({ id }) => id)
        const rows = yield* sql<{ readonly id: string }>`
          SELECT r.id::text AS id FROM runs r WHERE r.id = ANY(${ids}::text[]::uuid[]) AND ${isFiled(sql)}`
        const archived = new Set(rows.map(({ id }) => id))
        return runs.filter(({ id }) => archived.has(id))
      })

      const removeRuns = Effect.fn("ExpiredRuns.removeRuns")(function* (
        cutoff: string,
        limit: number,
        {
          after,
          onlyFiled = false
        }: { readonly after?: ExpiredPosition | undefined; readonly onlyFiled?: boolean } = {}
      ) {
        const candidates = yield* oldest(cutoff, limit, after)
        const locked = yield* lock(
          candidates.map(({ id }) => id),
          cutoff
        )
        const runs = onlyFiled ? yield* filedAmong(locked) : locked
        if (runs.length > 0) {
          const at = yield* isoNow
          yield* upkeep.remove(
            runs.map(({ id }) => RunId.make(id)),
            { reason: "expired", by: RETENTION, at }
          )
        }
        const events = runs.reduce((sum, run) => sum + run.last_index, 0)
        return { runs: runs.length, events, waiting: locked.length - runs.length, next: candidates.at(-1) }
      }, sql.withTransaction)

      return ExpiredRuns.of({ removeRuns })
    })
  )
}

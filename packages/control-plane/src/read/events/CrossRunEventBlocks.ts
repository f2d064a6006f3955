import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type { SqlError } from "effect/sql/SqlError"
import type { EventFilter } from "../../log/EventRepository.ts"

/** Seqs in a block. The trigger of migration 0004 divides by the same number. */
export const BLOCK_SEQS = 20_000n
/** The lock of migration 0004: deleters of events share it, who counts blocks holds it alone. */
const BLOCKS_LOCK = 7_266_422
/** Blocks are also counted between requests, so that no request finds many of them uncounted. */
const COUNTING_INTERVAL = "1 minute"

/** A stretch of seqs: `first` inclusive, `past` exclusive. */
export interface SeqRange {
  readonly first: bigint
  readonly past: bigint
}

/**
 * The log in blocks of consecutive seqs, with the counts and the time span of every block that is closed: nothing can
 * come into it any more, because a place behind it has been passed by all writers (see migration 0004). So a total over
 * any part of the log is the sum of a few numbers and a count over the open end, and a span of time is a few stretches
 * of seqs; the append of events does nothing for it.
 */
export class CrossRunEventBlocks extends Context.Service<
  CrossRunEventBlocks,
  {
    /** Counts the blocks that have been closed since the last time. */
    readonly countClosed: Effect.Effect<void, SqlError>
    /** How many events of the whole log match; `countClosed` goes before. */
    readonly count: (filter: EventFilter) => Effect.Effect<number, SqlError>
    /** The stretches after `afterSeq` that may hold events of the filter's time span, ascending. */
    readonly ranges: (filter: EventFilter) => Effect.Effect<ReadonlyArray<SeqRange>, SqlError>
  }
>()("runplane/control-plane/CrossRunEventBlocks") {
  static readonly layer = Layer.effect(
    CrossRunEventBlocks,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const countUncounted = sql`
        WITH closed AS (
          SELECT (seq + 1) / ${BLOCK_SEQS} AS blocks FROM canonical_events
          WHERE gate <= (SELECT pg_snapshot_xmin(pg_current_snapshot())) ORDER BY seq DESC LIMIT 1
        )
        INSERT INTO event_blocks (block, total, by_type, min_ts, max_ts)
        SELECT n, coalesce(sum(types.count), 0)::int,
               coalesce(jsonb_object_agg(types.type, types.count) FILTER (WHERE types.type IS NOT NULL), '{}'),
               min(types.min_ts), max(types.max_ts)
        FROM closed CROSS JOIN generate_series(0, closed.blocks - 1) AS n
        LEFT JOIN LATERAL (
          SELECT type, count(*) AS count, min(ts) AS min_ts, max(ts) AS max_ts FROM canonical_events
          WHERE seq >= n * ${BLOCK_SEQS} AND seq < (n + 1) * ${BLOCK_SEQS} GROUP BY type
        ) AS types ON true
        WHERE NOT EXISTS (SELECT FROM event_blocks WHERE block = n)
        GROUP BY n`

      // Another counter, or a deletion under way, keeps the lock: then the uncounted blocks stay so for now.
      const countClosed = sql.withTransaction(
        Effect.gen(function* () {
          const [lock] = yield* sql<{ readonly taken: boolean }>`
            SELECT pg_try_advisory_xact_lock(${BLOCKS_LOCK}) AS taken`
          if (lock?.taken === true) yield* countUncounted
        })
      )

      const afterTs = (filter: EventFilter) => filter.afterTs ?? "-infinity"
      const beforeTs = (filter: EventFilter) => filter.beforeTs ?? "infinity"

      /** The blocks after `afterSeq` that are uncounted or reach into the time span. */
      const candidates = (filter: EventFilter) => sql`
        SELECT n, b.total, b.by_type, b.min_ts, b.max_ts, b.block IS NOT NULL AS counted
        FROM generate_series(
               ${BigInt(filter.afterSeq)} / ${BLOCK_SEQS},
               (SELECT coalesce(max(seq), 0) FROM canonical_events) / ${BLOCK_SEQS}
             ) AS n
        LEFT JOIN event_blocks b ON b.block = n
        WHERE b.block IS NULL
           OR (b.total > 0 AND b.max_ts >= ${afterTs(filter)}::timestamptz AND b.min_ts < ${beforeTs(filter)}::timestamptz)`

      const count = Effect.fn("CrossRunEventBlocks.count")((filter: EventFilter) => {
        const ofType = filter.types.length === 0 ? sql`true` : sql`e.type = ANY(${filter.types}::text[])`
        const inBlock =
          filter.types.length === 0
            ? sql`c.total`
            : sql`(SELECT coalesce(sum(value::int), 0) FROM jsonb_each_text(c.by_type) WHERE key = ANY(${filter.types}::text[]))`
        return Effect.map(
          sql<{ readonly total: string }>`
            SELECT coalesce(sum(CASE WHEN c.whole THEN ${inBlock} ELSE part.count END), 0)::text AS total
            FROM (
              SELECT *, counted AND n * ${BLOCK_SEQS} > ${BigInt(filter.afterSeq)}
                        AND min_ts >= ${afterTs(filter)}::timestamptz AND max_ts < ${beforeTs(filter)}::timestamptz AS whole
              FROM (${candidates(filter)}) AS candidate
            ) AS c
            LEFT JOIN LATERAL (
              SELECT count(*) AS count FROM canonical_events e
              WHERE NOT c.whole AND e.seq >= c.n * ${BLOCK_SEQS} AND e.seq < (c.n + 1) * ${BLOCK_SEQS}
                AND e.seq > ${BigInt(filter.afterSeq)} AND ${ofType}
                AND e.ts >= ${afterTs(filter)}::timestamptz AND e.ts < ${beforeTs(filter)}::timestamptz
            ) AS part ON true`,
          ([row]) => Number(row?.total ?? 0)
        )
      })

      const ranges = Effect.fn("CrossRunEventBlocks.ranges")(
        (filter: EventFilter) => sql<SeqRange>`
          SELECT min(n) * ${BLOCK_SEQS} AS first, (max(n) + 1) * ${BLOCK_SEQS} AS past
          FROM (SELECT n, n - row_number() OVER (ORDER BY n) AS stretch FROM (${candidates(filter)}) AS c) AS numbered
          GROUP BY stretch ORDER BY first`
      )

      yield* countClosed.pipe(
        Effect.catch((error) => Effect.logWarning("could not count the blocks of the log", error)),
        Effect.repeat(Schedule.spaced(COUNTING_INTERVAL)),
        Effect.forkScoped
      )
      return CrossRunEventBlocks.of({ countClosed, count, ranges })
    })
  )
}

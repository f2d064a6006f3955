/**
 * Without this: the `total` of `GET /events` scans every row, 10 million in a full log; costs a table of counts, which
 * a background fiber maintains.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import type { SqlError } from "effect/sql/SqlError"
import type { EventFilter } from "../../event-log/EventRepository.ts"
import { Watermark } from "../../event-log/subscribe/Watermark.ts"
import { forever } from "../../platform/loop/Forever.ts"
import { TALLY_LOCK } from "../../platform/postgres/AdvisoryLocks.ts"

/** The sizes of blocks, as powers of two of their seqs; the same as in `migrations/0001_schema.sql`. */
const LEVELS = [20, 15, 10] as const
const SMALLEST_BLOCK = 2 ** 10
/** The interval of the background count; a request with many uncounted blocks starts one, too. */
const COUNTING_INTERVAL_MS = 60_000
/** A first count of a large log takes its time. Milliseconds. */
const COUNTING_LIMIT_MS = 1_800_000
const UNCOUNTED_BLOCKS = 4

/** A range of seqs: `after` exclusive, `upTo` inclusive. */
export interface SeqRange {
  readonly after: number
  readonly upTo: number
}

/**
 * The log in blocks of consecutive seqs, with the counts and the time span of each block below the watermark. Blocks
 * have three sizes, so a total over a part of the log is the sum of a few counts and of some hundred rows at both ends,
 * and a time span is a few ranges of seqs. Appends do not maintain the blocks.
 */
export class CrossRunEventBlocks extends Context.Service<
  CrossRunEventBlocks,
  {
    /** Counts the new blocks below the watermark. */
    readonly countClosed: Effect.Effect<void, SqlError>
    /** The number of matches in the whole log. */
    readonly count: (filter: EventFilter) => Effect.Effect<number, SqlError>
    /** The ranges after `afterSeq` that may have events of the filter's time span, ascending and separate. */
    readonly ranges: (filter: EventFilter) => Effect.Effect<ReadonlyArray<SeqRange>, SqlError>
  }
>()("runplane/control-plane/CrossRunEventBlocks") {
  static readonly layer = Layer.effect(
    CrossRunEventBlocks,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const watermark = yield* Watermark
      let counted = 0

      // While another counter or a deletion has the lock, the blocks stay uncounted.
      const countUpTo = (seq: number) =>
        sql.withTransaction(
          Effect.gen(function* () {
            const [lock] = yield* sql<{ readonly locked: boolean }>`
              SELECT pg_try_advisory_xact_lock(${TALLY_LOCK}) AS locked`
            if (lock?.locked === true) yield* sql`SELECT count_event_blocks(${BigInt(seq)})::text`
          })
        )
      const countClosed = Effect.gen(function* () {
        const seq = yield* watermark.now
        yield* countUpTo(seq)
        counted = seq
      }).pipe(Semaphore.makeUnsafe(1).withPermits(1))
      const inBackground = countClosed.pipe(
        Effect.catch((error) => Effect.logWarning("could not count the blocks of the log", error))
      )
      const scope = yield* Effect.scope
      const countWhenDue = Effect.flatMap(watermark.known, (seq) =>
        seq - counted > UNCOUNTED_BLOCKS * SMALLEST_BLOCK
          ? Effect.asVoid(
              Effect.suspend(() => {
                counted = seq
                return Effect.forkIn(inBackground, scope)
              })
            )
          : Effect.void
      )

      const isTimed = ({ afterTs, beforeTs }: EventFilter) => afterTs !== undefined || beforeTs !== undefined
      const afterTs = (filter: EventFilter) => filter.afterTs ?? "-infinity"
      const beforeTs = (filter: EventFilter) => filter.beforeTs ?? "infinity"

      /**
       * The blocks of a level that may match, within the blocks of the level above that match in part. `whole` blocks
       * match except for the type. The LIMIT makes the planner use one index look-up a block.
       */
      const blocksOf = (level: number, above: number | undefined, filter: EventFilter) => {
        const shift = BigInt(level)
        const first = sql`${BigInt(filter.afterSeq)}::bigint >> ${shift}::int`
        const last = sql`((SELECT coalesce(max(seq), 0) FROM canonical_events) - 1) >> ${shift}::int`
        const [from, numbers] =
          above === undefined
            ? [sql``, sql`generate_series(${first}, ${last})`]
            : [
                sql`${sql(`blocks_${above}`)} AS larger CROSS JOIN LATERAL`,
                sql`generate_series(greatest(larger.n << ${BigInt(above - level)}::int, ${first}),
                      least(((larger.n + 1) << ${BigInt(above - level)}::int) - 1, ${last}))`
              ]
        const inTime = isTimed(filter)
          ? sql`counted.min_ts >= ${afterTs(filter)}::timestamptz AND counted.max_ts < ${beforeTs(filter)}::timestamptz`
          : sql`true`
        const apart = isTimed(filter)
          ? sql`(counted.total = 0 OR counted.max_ts < ${afterTs(filter)}::timestamptz OR counted.min_ts >= ${beforeTs(filter)}::timestamptz)`
          : sql`counted.total = 0`
        return sql`
          SELECT block.n, counted.total, counted.by_type, counted.total IS NOT NULL AND block.n << ${shift}::int >= ${BigInt(filter.afterSeq)} AND ${inTime} AS whole
          FROM ${from} ${numbers} AS block (n)
          LEFT JOIN LATERAL (
            SELECT total, by_type, min_ts, max_ts FROM event_blocks WHERE level = ${shift}::int AND event_blocks.block = block.n LIMIT 1
          ) AS counted ON true
          WHERE ${above === undefined ? sql`true` : sql`NOT larger.whole`} AND (counted.total IS NULL OR NOT ${apart})`
      }
      const allBlocks = (filter: EventFilter) =>
        sql.csv(
          LEVELS.map(
            (level, index) =>
              sql`${sql(`blocks_${level}`)} AS MATERIALIZED (${blocksOf(level, LEVELS[index - 1], filter)})`
          )
        )

      const count = Effect.fn("CrossRunEventBlocks.count")((filter: EventFilter) => {
        const types = sql`${[...new Set(filter.types)]}::text[]`
        const ofType = filter.types.length === 0 ? sql`true` : sql`e.type = ANY(${types})`
        const inBlock =
          filter.types.length === 0
            ? sql`total`
            : sql`(SELECT coalesce(sum((by_type ->> type)::int), 0) FROM unnest(${types}) AS type)`
        const inTime = isTimed(filter)
          ? sql`e.ts >= ${afterTs(filter)}::timestamptz AND e.ts < ${beforeTs(filter)}::timestamptz`
          : sql`true`
        const wholes = LEVELS.map((level) => sql`SELECT ${inBlock} AS count FROM ${sql(`blocks_${level}`)} WHERE whole`)
        const [first = sql``, ...others] = wholes
        const total = sql<{ readonly total: string }>`
          WITH ${allBlocks(filter)}, parts AS (
            ${first} ${sql.join("", false)(others.map((part) => sql`UNION ALL ${part} `))}
            UNION ALL
            SELECT part.count FROM blocks_10 AS block
            CROSS JOIN LATERAL (
              SELECT count(*) AS count FROM canonical_events e
              WHERE e.seq > greatest(block.n << 10, ${BigInt(filter.afterSeq)}) AND e.seq <= (block.n + 1) << 10
                AND ${ofType} AND ${inTime}
            ) AS part
            WHERE NOT block.whole
          )
          SELECT coalesce(sum(count), 0)::text AS total FROM parts`
        return Effect.andThen(
          countWhenDue,
          Effect.map(total, ([row]) => Number(row?.total ?? 0))
        )
      })

      const ranges = Effect.fn("CrossRunEventBlocks.ranges")(function* (filter: EventFilter) {
        const parts = LEVELS.map((level) => {
          const blocks = sql(`blocks_${level}`)
          const shift = BigInt(level)
          return sql`
            SELECT n << ${shift}::int AS after, (n + 1) << ${shift}::int AS up_to FROM ${blocks}
            WHERE whole OR ${level === 10}::boolean`
        })
        const [first = sql``, ...others] = parts
        const rows = yield* sql<{ readonly after: bigint; readonly up_to: bigint }>`
          WITH ${allBlocks(filter)}
          ${first} ${sql.join("", false)(others.map((part) => sql`UNION ALL ${part} `))} ORDER BY 1`
        return merged(rows.map(({ after, up_to }) => ({ after: Number(after), upTo: Number(up_to) })))
      })

      yield* Effect.forkScoped(
        forever("event-blocks", countClosed, { every: COUNTING_INTERVAL_MS, limitMs: COUNTING_LIMIT_MS })
      )
      return CrossRunEventBlocks.of({ countClosed, count, ranges })
    })
  )
}

/** Ascending ranges, with adjacent ones merged. */
export const merged = (ranges: ReadonlyArray<SeqRange>): ReadonlyArray<SeqRange> => {
  const apart: Array<SeqRange> = []
  for (const range of ranges) {
    const last = apart.at(-1)
    if (last === undefined || last.upTo < range.after) apart.push(range)
    else apart[apart.length - 1] = { after: last.after, upTo: Math.max(last.upTo, range.upTo) }
  }
  return apart
}

/**
 * Without this: the database sorts all durations of a window, 389 ms instead of 33 for an overview of a month of 6,000
 * runs a day (docs/internals/scale.md); costs a cache of sorted durations.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { makeByteCache } from "../../event-log/projection/ByteCache.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"
import { dashboardSql, type RunFilter } from "./DashboardSql.ts"
import { countOf, joined, meanOf, type Parts, percentilesOf, type Sorted, sorted } from "./Percentiles.ts"
import { BUCKET_MS, type Bucket as BucketUnit, type DashboardWindow } from "./WindowParts.ts"

/** Durations of the completed runs that ended in one bucket, milliseconds; `at` is null for all buckets. */
export interface Latency {
  readonly at: Date | null
  readonly mean: number
  /** 50th, 95th and 99th percentile, interpolated. */
  readonly percentiles: ReadonlyArray<number>
}

const FRACTIONS = [0.5, 0.95, 0.99]
const MICROS_PER_MILLI = 1_000
const MILLIS_PER_SECOND = 1_000

/** With more runs in the window, the database sorts the durations. */
const MOST_CACHED = 500_000
/** Runs of one read of durations; one bucket may have more. */
const READ_AT_ONCE = 100_000
/** The size of the cache. */
const CACHE_BYTES = 16 * 1024 * 1024
const BYTES_PER_DURATION = 8
const ARRAY_BYTES = 250
const BYTES_PER_CHARACTER = 2

/** The durations of the runs of a filter that were created in one bucket of the sums, microseconds. */
interface Bucket {
  /** The version of the sums of these runs, which changes with each of them. */
  readonly version: string
  readonly all: Sorted
  /** The durations by the bucket in which the run ended, Unix milliseconds. */
  readonly byEnd: ReadonlyMap<number, Sorted>
}

interface BucketRow {
  readonly unit: BucketUnit
  readonly at: Date
  readonly version: string
  readonly timed: number
}

/**
 * Exact percentiles of the durations of runs (docs/reference/events.md#tallies). Percentiles cannot be added, so each
 * process caches the sorted durations of buckets and reads a bucket again when its sums have changed. Runs that are not
 * in the sums, or have changed since, are read each time.
 */
export class RunDurations extends Context.Service<
  RunDurations,
  {
    /** Runs in a transaction with a snapshot of one moment. */
    readonly latencies: (window: DashboardWindow, filter: RunFilter) => Effect.Effect<ReadonlyArray<Latency>, SqlError>
  }
>()("runplane/control-plane/RunDurations") {
  /** Tests have another `mostCached`. */
  static readonly layerOf = (mostCached: number) =>
    Layer.effect(
      RunDurations,
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const { atEdges, bucket, chosen, inside, isPending, pending, within } = dashboardSql(sql)
        const cache = makeByteCache<string, Bucket>(CACHE_BYTES)

        // A changed row has the greatest version so far, so the number of rows and the greatest version identify the
        // state of a bucket.
        const bucketsOf = (window: DashboardWindow, filter: RunFilter) => sql<BucketRow>`
          SELECT r.unit, r.at, count(*) || ' ' || max(r.version) AS version, sum(r.timed)::float8 AS timed
          FROM run_tallies r WHERE r.axis = 'created' AND ${inside(window)} AND ${chosen(filter)} GROUP BY r.unit, r.at`
        const countPending = sql<{ readonly count: number }>`SELECT count(*)::float8 AS count FROM tally_changes`

        const readBuckets = (window: DashboardWindow, filter: RunFilter, buckets: ReadonlyArray<BucketRow>) => sql<{
          readonly position: number
          readonly ended: Date
          readonly took: string
        }>`
          SELECT wanted.ordinal::int AS position, ${bucket("ended", window)} AS ended,
                 string_agg(r.took::text, ',' ORDER BY r.took) AS took
          FROM ${unnestRows(
            sql,
            buckets.map(({ at, unit }) => ({ at: at.toISOString(), seconds: BUCKET_MS[unit] / MILLIS_PER_SECOND })),
            { at: "timestamptz", seconds: "float8" },
            { ordinal: true }
          )} AS wanted
          JOIN tallied_runs r
            ON r.created_at >= wanted.at AND r.created_at < wanted.at + make_interval(secs => wanted.seconds)
          WHERE r.took IS NOT NULL AND ${chosen(filter)} GROUP BY 1, 2`

        /** The durations outside of whole buckets, and the corrections of changed runs. */
        const readEdges = (window: DashboardWindow, filter: RunFilter) => sql<{
          readonly ended: Date
          readonly sign: number
          readonly took: string
        }>`
          WITH ${pending}, timed AS (
            SELECT r.ended_at, r.took, 1 AS sign FROM tallied_runs r
            WHERE ${atEdges("created", window)} AND r.took IS NOT NULL AND ${chosen(filter)} AND NOT ${isPending}
            UNION ALL
            SELECT r.ended_at, r.took, -1 FROM tallied_runs r
            WHERE ${isPending} AND ${within("created", window)} AND NOT ${atEdges("created", window)}
              AND r.took IS NOT NULL AND ${chosen(filter)}
            UNION ALL
            SELECT r.ended_at, r.took, 1 FROM pending JOIN run_contributions r USING (run_id)
            WHERE ${within("created", window)} AND r.took IS NOT NULL AND ${chosen(filter)}
          )
          SELECT ${bucket("ended", window)} AS ended, r.sign, string_agg(r.took::text, ',' ORDER BY r.took) AS took
          FROM timed r GROUP BY 1, 2`

        const sortedByDatabase = (window: DashboardWindow, filter: RunFilter) => sql<Latency>`
          WITH ${pending}, timed AS (
            SELECT r.ended_at, r.took FROM tallied_runs r
            WHERE ${within("created", window)} AND r.took IS NOT NULL AND ${chosen(filter)} AND NOT ${isPending}
            UNION ALL
            SELECT r.ended_at, r.took FROM pending JOIN run_contributions r USING (run_id)
            WHERE ${within("created", window)} AND r.took IS NOT NULL AND ${chosen(filter)}
          )
          SELECT ${bucket("ended", window)} AS at, avg(r.took)::float8 / ${MICROS_PER_MILLI} AS mean,
                 percentile_cont(${FRACTIONS}::float8[])
                   WITHIN GROUP (ORDER BY r.took::float8 / ${MICROS_PER_MILLI}) AS percentiles
          FROM timed r GROUP BY GROUPING SETS ((1), ()) HAVING count(*) > 0 ORDER BY 1`

        const readWhole = Effect.fnUntraced(function* (
          window: DashboardWindow,
          filter: RunFilter,
          rows: ReadonlyArray<BucketRow>
        ) {
          const kind = JSON.stringify([window.bucket, filter.environment, filter.scenarioRef])
          const keyOf = ({ at, unit }: BucketRow) => `${unit} ${at.getTime()} ${kind}`
          const buckets: Array<Bucket> = []
          const stale: Array<BucketRow> = []
          for (const row of rows) {
            if (row.timed === 0) continue
            const known = cache.get(keyOf(row))
            if (known?.version === row.version) buckets.push(known)
            else stale.push(row)
          }
          for (const part of inParts(stale)) {
            const read = Map.groupBy(yield* readBuckets(window, filter, part), ({ position }) => position)
            for (const [index, row] of part.entries()) {
              const found = bucketOf(row.version, read.get(index + 1) ?? [])
              const key = keyOf(row)
              buckets.push(found)
              cache.put(key, found, bytesOf(found) + BYTES_PER_CHARACTER * key.length)
            }
          }
          return buckets
        })

        const latencies = Effect.fn("RunDurations.latencies")(function* (window: DashboardWindow, filter: RunFilter) {
          const rows = yield* bucketsOf(window, filter)
          const [changed] = yield* countPending
          const timed = rows.reduce((sum, row) => sum + row.timed, changed?.count ?? 0)
          if (timed > mostCached) return yield* sortedByDatabase(window, filter)
          const buckets = yield* readWhole(window, filter, rows)
          const edges = yield* readEdges(window, filter)
          const byEnd = new Map<number, { readonly added: Array<Sorted>; readonly removed: Array<Sorted> }>()
          const endedAt = (at: number) => {
            const known = byEnd.get(at)
            if (known !== undefined) return known
            const made = { added: [], removed: [] }
            byEnd.set(at, made)
            return made
          }
          for (const bucket of buckets) for (const [at, part] of bucket.byEnd) endedAt(at).added.push(part)
          const added = buckets.map(({ all }) => all)
          const removed: Array<Sorted> = []
          for (const { ended, sign, took } of edges) {
            const part = sorted(numbersOf(took))
            const of = endedAt(ended.getTime())
            for (const parts of sign > 0 ? [added, of.added] : [removed, of.removed]) parts.push(part)
          }
          const found = [...byEnd].toSorted(([left], [right]) => left - right)
          return [
            ...found.flatMap(([at, parts]) => latencyOf(new Date(at), parts)),
            ...latencyOf(null, { added, removed })
          ]
        })
        return RunDurations.of({ latencies })
      })
    )

  static readonly layer = RunDurations.layerOf(MOST_CACHED)
}

const latencyOf = (at: Date | null, parts: Parts): ReadonlyArray<Latency> =>
  countOf(parts) === 0
    ? []
    : [
        {
          at,
          mean: meanOf(parts) / MICROS_PER_MILLI,
          percentiles: percentilesOf(parts, FRACTIONS).map((micros) => micros / MICROS_PER_MILLI)
        }
      ]

const numbersOf = (text: string): Float64Array => Float64Array.from(text.split(","), Number)

const bucketOf = (version: string, rows: ReadonlyArray<{ readonly ended: Date; readonly took: string }>): Bucket => {
  const byEnd = new Map(rows.map(({ ended, took }) => [ended.getTime(), sorted(numbersOf(took))]))
  const [only] = byEnd.values()
  if (byEnd.size === 1 && only !== undefined) return { version, all: only, byEnd }
  return { version, all: sorted(joined([...byEnd.values()]).sort()), byEnd }
}

const bytesOf = ({ all, byEnd }: Bucket): number =>
  (byEnd.size === 1 ? 1 : 2) * all.values.length * BYTES_PER_DURATION + (byEnd.size + 1) * ARRAY_BYTES

/** Parts of about `READ_AT_ONCE` runs. */
const inParts = (buckets: ReadonlyArray<BucketRow>): ReadonlyArray<ReadonlyArray<BucketRow>> => {
  const parts: Array<Array<BucketRow>> = []
  let capacity = 0
  for (const bucket of buckets) {
    const last = parts.at(-1)
    if (last === undefined || bucket.timed > capacity) {
      parts.push([bucket])
      capacity = READ_AT_ONCE
    } else last.push(bucket)
    capacity -= bucket.timed
  }
  return parts
}

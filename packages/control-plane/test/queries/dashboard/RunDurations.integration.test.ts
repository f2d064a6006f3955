import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { RunFilter } from "../../../src/queries/dashboard/DashboardSql.ts"
import { type Latency, RunDurations } from "../../../src/queries/dashboard/RunDurations.ts"
import { type DashboardWindow, windowOf } from "../../../src/queries/dashboard/WindowParts.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"

const RUNS = 400

const now = Date.parse("2026-07-02T10:15:30.000Z")
const windows = [
  windowOf({ from: "2026-07-01T07:30:00.000Z", to: undefined }, "hour", now),
  windowOf({ from: "2026-07-01T02:20:30.000Z", to: "2026-07-02T11:17:00.000Z" }, "hour", now),
  windowOf({ from: "2026-06-30T12:00:00.000Z", to: undefined }, "day", now),
  windowOf({ from: "2026-07-01T05:00:00.000Z", to: "2026-07-01T05:40:10.000Z" }, "minute", now),
  windowOf({ from: "2026-07-01T05:00:01.000Z", to: "2026-07-01T05:00:02.000Z" }, "hour", now)
]
const filters: ReadonlyArray<RunFilter> = [{}, { environment: "staging" }, { scenarioRef: "LOANS" }]

for (const [most, name] of [
  [1_000_000, "remembered"],
  [0, "sorted by the database"]
] as const) {
  layer(Layer.provideMerge(RunDurations.layerOf(most), layerTestDatabase))(`durations that are ${name}`, (it) => {
    it.effect("are those of the current runs before and after changes are added to the sums", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const { latencies } = yield* RunDurations

        /** The durations from the rows of the runs. */
        const plainly = (
          { bucket, from, to }: DashboardWindow,
          { environment, scenarioRef }: RunFilter
        ) => sql<Latency>`
          SELECT date_trunc(${bucket}::text, ended_at, 'UTC') AS at, avg(took) AS mean,
                 percentile_cont(ARRAY[0.5, 0.95, 0.99]::float8[]) WITHIN GROUP (ORDER BY took) AS percentiles
          FROM (SELECT *, CASE WHEN ended_at < started_at THEN 0
                               ELSE extract(epoch FROM ended_at - started_at)::float8 * 1000 END AS took FROM runs) AS r
          WHERE status = 'completed' AND took IS NOT NULL AND created_at >= ${from}::timestamptz
            AND (${to ?? null}::timestamptz IS NULL OR created_at < ${to ?? null}::timestamptz)
            AND (${environment ?? null}::text IS NULL OR environment = ${environment ?? null})
            AND (${scenarioRef ?? null}::text IS NULL OR lower(scenario_ref) = lower(${scenarioRef ?? null}))
          GROUP BY GROUPING SETS ((1), ()) HAVING count(*) > 0 ORDER BY 1`
        const agree = Effect.fnUntraced(function* (after: string) {
          for (const window of windows) {
            for (const filter of filters) {
              const found = yield* sql.withTransaction(latencies(window, filter))
              const expected = yield* plainly(window, filter)
              const about = `${after}: ${JSON.stringify([window.from, window.to, window.bucket, filter])}`
              assert.deepStrictEqual(
                found.map(({ at }) => at),
                expected.map(({ at }) => at),
                about
              )
              const figures = (row: Omit<Latency, "at"> | undefined) => [row?.mean, ...(row?.percentiles ?? [])]
              for (const [index, row] of found.entries()) {
                for (const [which, figure] of figures(row).entries()) {
                  assert.closeTo(figure ?? Number.NaN, figures(expected[index])[which] ?? Number.NaN, 0.01, about)
                }
              }
            }
          }
        })
        const fold = until(
          Effect.andThen(sql`SELECT fold_tallies(150)`, sql`SELECT FROM tally_changes`),
          (left) => left.length === 0
        )

        yield* sql`
          INSERT INTO runs (id, mode, mode_name, runtime_kind, runtime_session_id, trace_id, span_id, metadata, search_text,
                            updated_at, status, created_at, started_at, ended_at, environment, scenario_ref)
          SELECT gen_random_uuid(), 'live', 'decision', 'rust', n::text, '', '', '{}', '', at,
                 CASE WHEN n % 11 = 0 THEN 'failed' WHEN n % 13 = 0 THEN 'running' ELSE 'completed' END, at,
                 CASE WHEN n % 17 > 0 THEN at + interval '1 second' END,
                 CASE WHEN n % 13 > 0 THEN at + n * n * interval '531.7 ms' END,
                 CASE WHEN n % 3 = 0 THEN 'staging' END, CASE WHEN n % 2 = 0 THEN 'Loans' END
          FROM generate_series(1, ${RUNS}) AS n,
               LATERAL (SELECT '2026-07-01T00:00:00Z'::timestamptz + n * interval '7 minutes 1.234 s' AS at) AS created`
        yield* agree("before anything is added up")
        yield* sql`SELECT fold_tallies(150)`
        yield* agree("with a part of it added up")
        yield* fold
        yield* agree("with all of it added up")
        yield* agree("once more")
        const happenings = [
          sql`UPDATE runs SET status = 'completed', ended_at = created_at + interval '2 hours' WHERE status = 'running'`,
          sql`DELETE FROM runs WHERE id IN (SELECT id FROM runs ORDER BY created_at LIMIT 60)`,
          sql`UPDATE runs SET environment = 'staging', status = status WHERE extract(minute FROM created_at)::int % 4 = 0`,
          sql`DELETE FROM runs WHERE environment = 'staging' AND extract(hour FROM created_at) = 5`,
          sql`UPDATE runs SET status = 'failed' WHERE scenario_ref IS NULL`
        ]
        for (const [number, happening] of happenings.entries()) {
          yield* happening
          yield* agree(`after happening ${number}`)
          yield* fold
          yield* agree(`after happening ${number} is added up`)
        }
      })
    )
  })
}

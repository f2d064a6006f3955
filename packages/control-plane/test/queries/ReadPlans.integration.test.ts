import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { RunListQuery } from "@runplane/api"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import type { UnknownCursor } from "../../src/platform/postgres/search/PageCursor.ts"
import type { SearchFailure } from "../../src/platform/postgres/search/SearchBudget.ts"
import { DashboardRepository } from "../../src/queries/dashboard/DashboardRepository.ts"
import { windowOf } from "../../src/queries/dashboard/WindowParts.ts"
import { CrossRunEventBlocks } from "../../src/queries/events/CrossRunEventBlocks.ts"
import { CrossRunEvents } from "../../src/queries/events/CrossRunEvents.ts"
import { RunList } from "../../src/queries/runs/RunList.ts"
import { layerSearches } from "../../src/Reactions.ts"
import { layerTestLog } from "../support/ControlPlane.ts"
import { scansOf } from "../support/Plans.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

const RUNS = 4_000
const EVENTS_OF_RUN = 20

const layerReads = Layer.mergeAll(CrossRunEvents.layer, DashboardRepository.layer, RunList.layer).pipe(
  Layer.provideMerge(CrossRunEventBlocks.layer),
  Layer.provide(layerSearches),
  Layer.provideMerge(layerTestLog),
  Layer.provideMerge(layerTestDatabase)
)

/** Enough rows for a planner to prefer an index, over 40 days, most of them of one status. */
const fill = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql`
    INSERT INTO runs (id, status, mode, mode_name, runtime_kind, runtime_session_id, trace_id, span_id, metadata,
                      search_text, created_at, updated_at, started_at, ended_at)
    SELECT gen_random_uuid(), CASE n % 40 WHEN 0 THEN 'running' WHEN 1 THEN 'failed' ELSE 'completed' END, 'live',
           'm', 'rust', n::text, 't', 's', json_build_object('text', repeat('x', 1000)), '', at, at, at,
           CASE WHEN n % 40 > 0 THEN at + interval '5 s' END
    FROM generate_series(1, ${RUNS}::int) AS n, LATERAL (SELECT now() - n * interval '15 minutes' AS at) AS t`
  yield* sql`INSERT INTO run_heads (run_id) SELECT id FROM runs`
  yield* sql`
    INSERT INTO canonical_events (seq, run_id, index, ts, type, event)
    SELECT nextval('event_seq'), id, n, created_at, CASE n % 5 WHEN 0 THEN 'signal.emitted' ELSE 'message.received' END,
           json_build_object('text', repeat('x', 300))
    FROM (SELECT id, created_at FROM runs ORDER BY created_at) AS r
    CROSS JOIN generate_series(1, ${EVENTS_OF_RUN}::int) AS n`
  yield* sql`
    INSERT INTO key_events (run_id, seq, ts, type)
    SELECT run_id, seq, ts, type FROM canonical_events WHERE type = 'signal.emitted'`
  yield* sql`SELECT count_event_blocks(event_watermark())::text`
  yield* sql`SELECT fold_tallies(100000)`
  yield* sql`VACUUM ANALYZE`.unprepared
})

const BIG_TABLES = ["runs", "run_heads", "canonical_events", "key_events", "tallied_runs", "run_tallies"]

layer(layerReads, { excludeTestServices: true })("documented-fast reads", (it) => {
  let filled = false
  const onBigDatabase = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      if (!filled) yield* fill
      filled = true
      return yield* effect
    })

  const first: RunListQuery = { limit: 50, offset: 0, sortBy: "createdAt", sortOrder: "desc", includeArchived: false }
  const listed = (query: Partial<RunListQuery>) =>
    Effect.gen(function* () {
      const runs = yield* RunList
      yield* runs.list({ ...first, ...query })
    })
  const events = (filter: { readonly types?: ReadonlyArray<string>; readonly afterTs?: string }, afterSeq: number) =>
    Effect.gen(function* () {
      const log = yield* CrossRunEvents
      yield* log.page({ types: [], ...filter, afterSeq }, 50)
      yield* log.count({ types: [], ...filter, afterSeq })
    })
  const overview = (days: number, bucket: "hour" | "day") =>
    Effect.gen(function* () {
      const dashboard = yield* DashboardRepository
      const now = yield* Clock.currentTimeMillis
      const from = new Date(now - days * 86_400_000).toISOString()
      yield* dashboard.overview(windowOf({ from, to: undefined }, bucket, now), {})
    })

  type Reads = CrossRunEvents | DashboardRepository | RunList
  const reads: Readonly<Record<string, Effect.Effect<void, SqlError | SearchFailure | UnknownCursor, Reads>>> = {
    "GET /runs": listed({}),
    "GET /runs of a status, with offset": listed({ status: "completed", offset: 500 }),
    "GET /runs of a rare status": listed({ status: "running" }),
    "GET /runs by update": listed({ sortBy: "updatedAt", sortOrder: "asc", limit: 200 }),
    "GET /events": events({}, 0),
    "GET /events of a type": events({ types: ["message.received"] }, 0),
    "GET /events of two types, further on": events({ types: ["message.received", "signal.emitted"] }, 30_000),
    "GET /events of a time": events({ afterTs: new Date(Date.now() - 86_400_000).toISOString() }, 0),
    "GET /dashboard/overview": overview(1, "hour")
  }
  for (const [name, read] of Object.entries(reads)) {
    it.effect(`scan no big table: ${name}`, () =>
      onBigDatabase(
        Effect.gen(function* () {
          const scanned = yield* scansOf(read)
          assert.deepStrictEqual(
            scanned.filter((table) => BIG_TABLES.includes(table)),
            []
          )
        })
      )
    )
  }
})

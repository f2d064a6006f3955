import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { RUNPLANE_VERSION } from "@runplane/api"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { Processes } from "../../../src/admin/processes/Processes.ts"
import { AppendQueue } from "../../../src/event-log/append/AppendQueue.ts"
import { ObserverSettings } from "../../../src/observe/ObserverSettings.ts"
import { Observers } from "../../../src/observe/Observers.ts"
import { Placement } from "../../../src/observe/placement/Placement.ts"
import { Metrics } from "../../../src/platform/metrics/Metrics.ts"
import { call, layerTestService } from "../../support/HttpService.ts"

/** Another process on the database, as far as it concerns what it observes: 7 runs, and a write that waits. */
const other = Layer.fresh(Processes.layer).pipe(
  Layer.provide([
    Layer.mock(AppendQueue, { oldest: Effect.succeed({ runId: "", waitedMs: 1_500.4, locked: false }) }),
    Layer.mock(Observers, { active: Effect.succeed(7) }),
    Layer.fresh(Metrics.layer).pipe(
      Layer.tap((context) =>
        Effect.provideContext(
          Metrics.useSync((metrics) => metrics.streamReconnect()),
          context
        )
      )
    ),
    Layer.fresh(Placement.layer).pipe(Layer.provide(ObserverSettings.layerFrom({ refreshMs: 50 })))
  ])
)

const listed = Effect.map(call("GET", "/admin/processes"), ({ body }) => body.data)

/** Runs more than one process shows its share of, among others that do not matter here. */
const shares = (rows: ReadonlyArray<{ readonly shards: number }>) => rows.map(({ shards }) => shards)

layer(layerTestService({ observer: { refreshMs: 50 } }), { excludeTestServices: true })(
  "GET /admin/processes",
  (it) => {
    it.effect("lists each process that is there with what it observes, and leaves out who has gone", () =>
      Effect.gen(function* () {
        const [only, ...none] = yield* listed
        assert.deepStrictEqual(none, [])
        assert.deepInclude(only, {
          isThis: true,
          version: RUNPLANE_VERSION,
          shards: 64,
          observedRuns: 0,
          reconnects: 0
        })
        assert.match(only.name, /.+:\d+$/)

        const scope = yield* Scope.make()
        yield* Layer.buildWithScope(other, scope)
        const two = yield* until(listed, (rows) => rows.length === 2 && shares(rows).every((count) => count < 64))
        assert.deepStrictEqual(
          two.map(({ isThis, observedRuns, oldestAppendMs, reconnects }: typeof only) => ({
            isThis,
            observedRuns,
            oldestAppendMs,
            reconnects
          })),
          [
            { isThis: true, observedRuns: 0, oldestAppendMs: 0, reconnects: 0 },
            { isThis: false, observedRuns: 7, oldestAppendMs: 1_500, reconnects: 1 }
          ]
        )
        assert.isAtLeast(Date.parse(two[1].startedAt), Date.parse(two[0].startedAt))

        yield* Scope.close(scope, Exit.void)
        const left = yield* until(listed, ([first]) => first.shards === 64)
        assert.strictEqual(left.length, 1)
      })
    )

    it.effect("does not believe the words of a process whose lock is gone, and forgets them after an hour", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        yield* sql`
        INSERT INTO processes (seat, name, version, started_at, seen_at, shards, observed_runs, oldest_append_ms, reconnects)
        VALUES (1, 'dead:1', '0', now(), now(), 64, 9, 0, 0), (2, 'dead:2', '0', now(), now() - interval '2 hours', 1, 1, 0, 0)`
        assert.strictEqual((yield* listed).length, 1)
        const kept = yield* sql<{ readonly name: string }>`SELECT name FROM processes WHERE seat IN (1, 2)`
        assert.deepStrictEqual(
          kept.map(({ name }) => name),
          ["dead:1"]
        )
      })
    )
  }
)

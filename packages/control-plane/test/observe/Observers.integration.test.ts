import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import { MemoryGuard } from "../../src/observe/MemoryGuard.ts"
import { ObservedRuns } from "../../src/observe/ObservedRuns.ts"
import { ObserverSettings } from "../../src/observe/ObserverSettings.ts"
import { Observers } from "../../src/observe/Observers.ts"
import { Placement } from "../../src/observe/placement/Placement.ts"
import { SHARDS } from "../../src/observe/placement/ShardLocks.ts"
import { RunObserver } from "../../src/observe/RunObserver.ts"
import { SessionDirectory } from "../../src/observe/sessions/SessionDirectory.ts"
import { layerTestLog } from "../support/ControlPlane.ts"
import { createRun } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

/** More than the locks that a server with 200 connections has capacity for. */
const MANY = 14_000
const HOUR_MS = 3_600_000

/** Observers that are ready when the latch opens, and then observe for ever. */
const layerObservers = (latch: Latch.Latch, observed: Set<RunId>, isFull: () => boolean = () => false) =>
  Layer.fresh(Observers.layer).pipe(
    Layer.provide([
      ObservedRuns.layer,
      Placement.layer,
      Layer.mock(SessionDirectory, { isWatching: () => true, isObserved: () => false, publish: () => {} }),
      Layer.succeed(MemoryGuard, { isFull: Effect.sync(isFull) }),
      Layer.succeed(RunObserver, {
        observe: (runId, _, ready) =>
          latch.await.pipe(
            Effect.andThen(Effect.sync(() => observed.add(runId))),
            Effect.andThen(ready),
            Effect.andThen(Effect.never)
          )
      })
    ]),
    Layer.provide(ObserverSettings.layerFrom({ recoveryTimeoutMs: HOUR_MS, recoveryConcurrency: 2 }))
  )

layer(layerTestLog.pipe(Layer.provideMerge(layerTestDatabase)), { excludeTestServices: true })("a start", (it) => {
  it.effect("starts without a wait for the recovery of unfinished runs, and reports its progress", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runIds = yield* Effect.forEach([1, 2, 3], () => createRun())
      const latch = yield* Latch.make(false)
      const observed = new Set<RunId>()
      // The number of runs is unknown until they can be read.
      const [locked, readable] = [yield* Latch.make(false), yield* Latch.make(false)]
      const lock = sql`LOCK TABLE runs IN ACCESS EXCLUSIVE MODE`
      yield* lock.pipe(
        Effect.andThen(locked.open),
        Effect.andThen(readable.await),
        sql.withTransaction,
        Effect.forkScoped
      )
      yield* locked.await
      const observers = yield* Effect.provide(Observers, yield* Layer.build(layerObservers(latch, observed)))
      assert.deepStrictEqual(yield* observers.recovery, { done: 0, of: undefined, isWaitingForMemory: false })
      yield* readable.open
      yield* until(observers.recovery, (progress) => progress?.of === runIds.length)
      assert.deepStrictEqual(yield* observers.recovery, { done: 0, of: runIds.length, isWaitingForMemory: false })
      yield* latch.open
      yield* until(observers.recovery, (progress) => progress === undefined)
      assert.deepStrictEqual([...observed].sort(), [...runIds].sort())
    })
  )

  it.effect("adopts no more runs than fit into the heap, nor new ones, until memory is free", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* sql`UPDATE runs SET status = 'completed'`
      const [first, ...others] = yield* Effect.forEach([1, 2, 3, 4, 5], () => createRun())
      assert.isDefined(first)
      const observed = new Set<RunId>()
      let capacity = 2
      const layer = layerObservers(yield* Latch.make(true), observed, () => observed.size >= capacity)
      const observers = yield* Effect.provide(Observers, yield* Layer.build(layer))
      yield* until(observers.recovery, (progress) => progress?.isWaitingForMemory === true)
      const fresh = yield* createRun()
      yield* observers.adopt(fresh)
      const { size } = observed
      assert.isBelow(size, 4, "those that had begun before it was full are at most as many as begin together")
      assert.isFalse(observed.has(fresh))
      capacity = Number.POSITIVE_INFINITY
      yield* until(
        Effect.sync(() => observed.size),
        (size) => size === 6
      )
      assert.deepStrictEqual([...observed].sort(), [first, ...others, fresh].sort())
      yield* until(observers.recovery, (progress) => progress === undefined)
    })
  )

  it.effect(`adopts ${MANY} unfinished runs with as many locks as for one`, () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* sql`
        WITH created AS (
          INSERT INTO runs (id, status, mode, mode_name, runtime_kind, runtime_session_id, trace_id, span_id, tags,
                            metadata, search_text, created_at, updated_at)
          SELECT id, 'queued', 'live', 'mode', 'rust', id::text, 'trace', 'span', '{}', '{}', '', now(), now()
          FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, ${MANY}::int)) made
          RETURNING id
        )
        INSERT INTO run_heads (run_id) SELECT id FROM created`
      const observed = new Set<RunId>()
      const latch = yield* Latch.make(true)
      const { unobserved } = yield* Effect.provide(Observers, yield* Layer.build(layerObservers(latch, observed)))
      yield* until(
        Effect.sync(() => observed.size),
        (size) => size >= MANY
      )
      assert.deepStrictEqual(yield* unobserved(0), [])
      const [locks] = yield* sql<{ readonly advisory: number }>`
        SELECT count(*)::int AS advisory FROM pg_locks
        WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
      // One lock shows that the process is there.
      assert.strictEqual(locks?.advisory, SHARDS + 1)
    })
  )
})

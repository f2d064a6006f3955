import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { createDatabase } from "@runplane/postgres"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { inject } from "vitest"
import { layerBench, runBench } from "../../src/Bench.ts"
import { BenchDatabase } from "../../src/BenchDatabase.ts"
import type { Plan } from "../../src/Plan.ts"
import { large } from "../../src/scenarios/Large.ts"
import { latency } from "../../src/scenarios/Latency.ts"
import { longRun } from "../../src/scenarios/LongRun.ts"
import { posts } from "../../src/scenarios/Posts.ts"
import { throughput } from "../../src/scenarios/Throughput.ts"
import { ServiceForm } from "../../src/service/ServiceForm.ts"

/** An empty database on the test server. */
const layerTestDatabase = Layer.unwrap(
  Effect.map(
    Effect.suspend(() => createDatabase(inject("postgresUrl"))),
    BenchDatabase.layerUrl
  )
)

const tiny: Plan = {
  throughput: [{ runs: 1, envelopes: 5, subscribers: 0 }],
  latency: [{ runs: 1, subscribers: 1, eventsPerSecond: 200, seconds: 0.05 }],
  tails: [],
  posts: [{ runs: 2, atOnce: 2 }],
  cold: [],
  idle: [],
  longRun: [],
  large: [],
  standstill: [],
  idleSessions: [],
  fullLog: [],
  decisions: []
}

layer(layerBench.pipe(Layer.provideMerge([layerTestDatabase, ServiceForm.layerSource])), { excludeTestServices: true })(
  "the scenarios",
  (it) => {
    it.effect("release every envelope of every run into the log, and write the same rows again", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const found = yield* throughput({ runs: 3, envelopes: 40, subscribers: 1 })
        assert.strictEqual(found.envelopes, 120)
        assert.strictEqual(found.events, 3 * 79)
        assert.strictEqual(found.rows, 120 + 120 + 3 * 79)
        assert.isAtLeast(found.transactions, 1)
        assert.isAbove(found.rawRowsPerSecond, 0)
        assert.isAbove(found.walBytes, 0)
        const [copies] = yield* sql<{ readonly events: number; readonly raw: number; readonly messages: number }>`
          SELECT (SELECT count(*)::int FROM bench_raw.canonical_events) AS events,
                 (SELECT count(*)::int FROM bench_raw.raw_events) AS raw,
                 (SELECT count(*)::int FROM bench_raw.outbound_messages) AS messages`
        assert.deepStrictEqual(copies, { events: 3 * 79, raw: 120, messages: 120 })
        const unfinished = yield* sql`SELECT id FROM runs WHERE status <> 'completed'`
        assert.deepStrictEqual(unfinished, [])
      })
    )

    it.effect("measure every event once at every subscriber", () =>
      Effect.gen(function* () {
        const found = yield* latency({ runs: 2, subscribers: 3, eventsPerSecond: 400, seconds: 0.1 })
        assert.strictEqual(found.times.settled.count, 40 * 3)
        assert.isAbove(found.times.settled.p50, 0)
        assert.isAbove(found.bytes, 0)
      })
    )

    it.effect("measure every event once at every client of the whole log", () =>
      Effect.gen(function* () {
        const found = yield* latency({ runs: 2, subscribers: 3, ofLog: true, eventsPerSecond: 400, seconds: 0.1 })
        assert.strictEqual(found.times.settled.count, 40 * 3)
        // A plain server sends them the same beside.
        assert.strictEqual(found.plain?.millis.count, 40 * 3)
      })
    )

    it.effect("create runs at once without a failure", () =>
      Effect.gen(function* () {
        const found = yield* posts({ runs: 8, atOnce: 4 })
        assert.deepStrictEqual(found.failures, [])
        assert.strictEqual(found.millis.count, 8)
      })
    )

    it.effect("grow one run part by part", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const { costs } = yield* longRun({ envelopes: 31, parts: 3 })
        assert.lengthOf(costs, 3)
        const [row] = yield* sql`SELECT count(*)::int AS runs FROM run_heads WHERE stream_cursor = 31`
        assert.deepStrictEqual(row, { runs: 1 })
      })
    )

    it.effect("store large envelopes whole, and measure the quiet runs beside them", () =>
      Effect.gen(function* () {
        const found = yield* large({
          runs: 2,
          envelopes: 4,
          payloadBytes: 20_000,
          quietRuns: 2,
          quietPerSecond: 100,
          quietSeconds: 0.1,
          pausedSeconds: 0
        })
        assert.strictEqual(found.millis.count, 20)
        assert.isAbove(found.bytes, 6 * 20_000)
      })
    )

    it.effect("report each outcome in a line, and profile the last repetition", () =>
      Effect.gen(function* () {
        const folder = yield* Effect.acquireRelease(
          Effect.sync(() => mkdtempSync(join(tmpdir(), "runplane-bench-test-"))),
          (made) => Effect.sync(() => rmSync(made, { recursive: true }))
        )
        const lines: Array<string> = []
        const outcomes = yield* runBench({
          plan: tiny,
          repetitions: 2,
          profiles: folder,
          report: ({ line }, repetition) => Effect.sync(() => lines.push(`${repetition} ${line}`))
        })
        assert.deepStrictEqual(
          outcomes.map(({ scenario }) => scenario),
          [1, 2].flatMap(() => ["throughput 1 x 5", "latency 200/s, 1 x 1 SSE", "POST /runs 2 at once"])
        )
        assert.strictEqual(lines.length, 6)
        const profile: unknown = JSON.parse(readFileSync(join(folder, "scenario-1.cpuprofile"), "utf8"))
        assert.containsAllKeys(profile, ["nodes", "samples"])
      })
    )
  }
)

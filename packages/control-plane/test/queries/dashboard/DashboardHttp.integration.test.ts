import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { messageDraft } from "../../support/Appends.ts"
import { endedRun } from "../../support/EndedRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun, dropRun } from "../../support/Runs.ts"
import { at, decision, seedRun, seeds, signal } from "./RunSeeds.ts"

const CHARTS = [
  "runVolume",
  "latency",
  "signalVolume",
  "errorClasses",
  "throughput",
  "queueDepth",
  "latencyP50",
  "latencyP95",
  "latencyP99",
  "cost",
  "successRate",
  "decisionOutcome",
  "perScenario"
]

const WINDOW = `from=${at("10:00:00")}&to=${at("20:00:00")}`
const hour = (number: number) => at(`${number}:00:00`)

layer(layerTestService(), { excludeTestServices: true })("GET /dashboard/overview", (it) => {
  let seeded: ReadonlyArray<RunId> | undefined
  const overview = Effect.fnUntraced(function* (query: string) {
    seeded ??= yield* Effect.forEach(seeds, seedRun)
    const answer = yield* call("GET", `/dashboard/overview?${query}`)
    assert.strictEqual(answer.status, 200, answer.text)
    return answer.body
  })

  it.effect("has the key figures of the runs created, and of the signals emitted, in the window", () =>
    Effect.gen(function* () {
      const { kpis } = yield* overview(WINDOW)
      assert.deepStrictEqual(kpis, {
        totalRuns: 12,
        activeRuns: 5,
        completedRuns: 3,
        failedRuns: 3,
        cancelledRuns: 1,
        suspendedRuns: 1,
        declinedRuns: 1,
        totalSignals: 3,
        totalTokens: 111,
        totalCostUsd: 1.33,
        totalCostUsdExact: 1.334,
        guessedCostUsd: 0.134,
        avgDurationMs: Math.round((3_601_000 + 2_000 + 4_000) / 3),
        p50DurationMs: 4_000,
        p95DurationMs: Math.round(4_000 + 0.9 * (3_601_000 - 4_000)),
        successRate: 3 / 7
      })
    })
  )

  // docs/reference/search.md#dashboard-figures
  const charts: ReadonlyArray<readonly [string, ReadonlyArray<string>, ReadonlyArray<number>]> = [
    ["runVolume", [hour(10), hour(11), hour(12), hour(13)], [4, 1, 3, 4]],
    ["queueDepth", [hour(10), hour(11), hour(12), hour(13)], [0, 0, 1, 2]],
    ["cost", [hour(10), hour(11), hour(12), hour(13)], [1.334, 0, 0, 0]],
    ["successRate", [hour(10), hour(11), hour(12), hour(13)], [50, 100, 0, 0]],
    ["latency", [hour(11)], [Math.round((3_601_000 + 2_000 + 4_000) / 3)]],
    ["latencyP50", [hour(11)], [4_000]],
    ["latencyP95", [hour(11)], [Math.round(4_000 + 0.9 * (3_601_000 - 4_000))]],
    ["latencyP99", [hour(11)], [Math.round(4_000 + 0.98 * (3_601_000 - 4_000))]],
    // One of those that ended at 10 was created before the window.
    ["throughput", [hour(10), hour(11), hour(12)], [1, 3, 0]],
    ["signalVolume", [hour(10), hour(11)], [2, 1]],
    ["decisionOutcome", [hour(11)], [2]],
    ["errorClasses", ["RUNTIME_TIMEOUT", "UNKNOWN"], [2, 1]],
    ["perScenario", ["unknown", "loans/fast@1", "loans/slow"], [9, 2, 1]]
  ]
  for (const [name, labels, data] of charts) {
    it.effect(`draws ${name}`, () =>
      Effect.gen(function* () {
        const body = yield* overview(WINDOW)
        assert.hasAllKeys(body.charts, CHARTS)
        assert.deepStrictEqual(body.charts[name].labels, labels)
        assert.deepStrictEqual(
          body.charts[name].data.map((value: number) => Math.round(value * 1e6) / 1e6),
          data
        )
      })
    )
  }

  it.effect("has the key figures by time and by scenario, which add up to those of the window", () =>
    Effect.gen(function* () {
      const { charts, kpis, scenarios, trends } = yield* overview(WINDOW)
      const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)
      assert.deepStrictEqual(trends.labels, charts.runVolume.labels)
      for (const name of ["totalRuns", "activeRuns", "completedRuns", "failedRuns", "cancelledRuns", "declinedRuns"]) {
        assert.lengthOf(trends[name], trends.labels.length)
        assert.strictEqual(sum(trends[name]), kpis[name], name)
      }
      assert.strictEqual(sum(trends.tokens), kpis.totalTokens)
      assert.strictEqual(sum(trends.suspendedRuns), kpis.suspendedRuns)
      assert.deepStrictEqual(trends.guessedCostUsd, [0.134, 0, 0, 0])
      const guesses = scenarios.map((figures: Readonly<Record<string, number>>) => figures["guessedCostUsd"])
      assert.deepStrictEqual(guesses, [undefined, 0.134, undefined])
      assert.deepStrictEqual(
        scenarios.map(({ runs, scenario }: { readonly runs: number; readonly scenario: string }) => [scenario, runs]),
        [
          ["unknown", 9],
          ["loans/fast@1", 2],
          ["loans/slow", 1]
        ]
      )
      for (const name of ["activeRuns", "completedRuns", "failedRuns", "declinedRuns", "tokens"]) {
        const all = sum(scenarios.map((figures: Readonly<Record<string, number>>) => figures[name]))
        assert.strictEqual(all, sum(trends[name]), name)
      }
    })
  )

  it.effect("gives sparse charts without data as empty ones, and no average", () =>
    Effect.gen(function* () {
      const { charts, kpis } = yield* overview("from=2020-01-01&to=2020-02-01")
      for (const name of CHARTS) assert.deepStrictEqual(charts[name], { labels: [], data: [] })
      assert.strictEqual(kpis.totalRuns, 0)
      assert.isNull(kpis.avgDurationMs)
      assert.notProperty(kpis, "successRate")
    })
  )

  for (const [from, to, label] of [
    [at("10:00:00"), at("16:00:00"), at("10:05:00")],
    [at("10:00:00"), "2026-07-03T10:00:00.000Z", at("10:00:00")],
    [at("10:00:00"), "2026-07-03T10:00:01.000Z", at("00:00:00")]
  ]) {
    it.effect(`labels the first bucket of ${from} to ${to} with ${label}`, () =>
      Effect.gen(function* () {
        const { charts } = yield* overview(`from=${from}&to=${to}`)
        assert.strictEqual(charts.runVolume.labels[0], label)
      })
    )
  }

  for (const [filter, runs, signals] of [
    ["scenarioRef=loans/fast@1", 2, 2],
    ["scenarioRef=LOANS/fast", 1, 2],
    ["scenarioRef=loans", 0, 0],
    ["scenarioRef=loans/slow", 1, 1],
    ["environment=staging", 2, 2],
    ["environment=Staging", 0, 0],
    ["environment=staging&scenarioRef=loans/fast", 1, 2],
    ["environment=production&scenarioRef=loans/fast", 0, 0]
  ] as const) {
    it.effect(`filters all figures by ${filter}`, () =>
      Effect.gen(function* () {
        const { charts, kpis, recentRuns } = yield* overview(`${WINDOW}&${filter}`)
        assert.strictEqual(kpis.totalRuns, runs)
        assert.strictEqual(kpis.totalSignals, signals)
        const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)
        assert.strictEqual(sum(charts.runVolume.data), runs)
        assert.strictEqual(sum(charts.perScenario.data), runs)
        assert.lengthOf(recentRuns, runs)
      })
    )
  }

  it.effect("is empty in a window at the latest time", () =>
    Effect.gen(function* () {
      const { kpis } = yield* overview("from=9999-12-31T23:59:59.999Z")
      assert.strictEqual(kpis.totalRuns, 0)
    })
  )

  it.effect("lists the ten newest runs that are not archived, in any window", () =>
    Effect.gen(function* () {
      const { recentRuns } = yield* overview("from=2020-01-01&to=2020-02-01")
      assert.lengthOf(recentRuns, 10)
      const expected = seeds
        .filter((seed) => seed.archived !== true)
        .toSorted((left, right) => right.createdAt.localeCompare(left.createdAt))
      assert.deepStrictEqual(
        recentRuns.map((run: { createdAt: string }) => run.createdAt),
        expected.slice(0, 10).map((seed) => seed.createdAt)
      )
      const { recentRuns: staged } = yield* overview("environment=staging")
      assert.deepStrictEqual(staged[1], {
        id: seeded?.[0],
        status: "completed",
        runtimeKind: "rust",
        sourceRef: "loans/fast@1",
        source: { ref: "loans/fast@1" },
        metadata: { environment: "staging", scenarioRef: "Loans/Fast" },
        usage: { totalTokens: 100, estimatedCostUsd: 1.234, guessedCostUsd: 0.034 },
        startedAt: at("10:06:00"),
        endedAt: at("11:06:01"),
        createdAt: at("10:05:00")
      })
    })
  )

  it.effect("includes the results of the newest runs", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runId = yield* endedRun
      const costs = { totalTokens: 743, estimatedCostUsd: 0.002, guessedCostUsd: 0.001 }
      const ended = { ...costs, finalAction: "go", finalConfidence: 1 }
      const change = (metadata: object) =>
        sql`UPDATE runs SET metadata = ${JSON.stringify(metadata)}::json WHERE id = ${runId}::uuid`
      const shown = Effect.gen(function* () {
        const { body } = yield* call("GET", `/dashboard/overview?environment=ended-${runId}`)
        return body.recentRuns[0].metadata
      })
      yield* sql`UPDATE runs SET environment = ${`ended-${runId}`} WHERE id = ${runId}::uuid`
      yield* change(ended)
      assert.deepInclude(yield* shown, { ...costs, finalAction: "go" })
      yield* change({ totalTokens: "many", estimatedCostUsd: null, guessedCostUsd: "all", finalAction: { a: 1 } })
      assert.doesNotHaveAnyKeys(yield* shown, [...Object.keys(costs), "finalAction"])
      yield* dropRun(runId)
    })
  )

  it.effect("includes the health of the runtime", () =>
    Effect.gen(function* () {
      const { runtimeHealth } = yield* overview("")
      assert.strictEqual(runtimeHealth.ok, true)
      assert.isString(runtimeHealth.runtimeKind)
    })
  )

  it.effect("ends now without other bounds", () =>
    Effect.gen(function* () {
      const { kpis: before } = yield* overview("")
      yield* seedRun({ status: "queued", createdAt: new Date().toISOString() })
      for (const query of ["", "window=1h", "range=24h", "window=30d", "window=&range=&from=&to="]) {
        const { kpis } = yield* overview(query)
        assert.strictEqual(kpis.totalRuns, before.totalRuns + 1, query)
      }
    })
  )

  for (const query of [
    "window=15m",
    "window=24H",
    "range=1h",
    "from=yesterday",
    `from=${at("10:00:00")}&to=x`,
    "from=2026-07-02&to=2026-07-01"
  ]) {
    it.effect(`rejects ?${query}`, () =>
      Effect.gen(function* () {
        const { body, status } = yield* call("GET", `/dashboard/overview?${query}`)
        assert.strictEqual(status, 400)
        assert.strictEqual(body.errorCode, "VALIDATION_ERROR")
      })
    )
  }
})

layer(layerTestService(), { excludeTestServices: true })("the dashboard", (it) => {
  it.effect("has no negative durations of runs that end before they start", () =>
    Effect.gen(function* () {
      const ends = ["11:00:00", "11:30:00"].map((end) => ({ startedAt: at("12:00:00"), endedAt: at(end) }))
      const runIds = yield* Effect.forEach(ends, (times) =>
        seedRun({ status: "completed", createdAt: at("10:59:00"), ...times })
      )
      for (const window of [WINDOW, `from=${at("10:58:00")}&to=${at("11:31:00")}`]) {
        const { body } = yield* call("GET", `/dashboard/overview?${window}`)
        assert.deepInclude(body.kpis, { completedRuns: 2, avgDurationMs: 0, p50DurationMs: 0, p95DurationMs: 0 })
        for (const chart of CHARTS) {
          const values: ReadonlyArray<number | null> = body.charts[chart].data
          assert.isTrue(
            values.every((value) => value === null || value >= 0),
            `${chart}: ${values}`
          )
        }
      }
      const { body } = yield* call("GET", "/runs?q=duration%3A0")
      assert.sameMembers(
        body.data.map(({ id }: { readonly id: string }) => id),
        [...runIds]
      )
      const [leftRunId, rightRunId] = runIds
      const compared = yield* call("POST", "/runs/compare", { body: { leftRunId, rightRunId } })
      assert.deepStrictEqual([compared.body.left.durationMs, compared.body.durationDeltaMs], [0, 0])
    })
  )

  it.effect("does not read the event log", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const log = yield* EventLog
      const now = new Date(yield* Clock.currentTimeMillis).toISOString()
      const { runId } = yield* log.record({
        runId: yield* createRun(),
        events: [signal(now, "agent://a", 1), decision(now, true), messageDraft(1)]
      })
      for (const table of ["canonical_events", "raw_events", "event_blocks"]) {
        yield* sql.unsafe(`ALTER TABLE ${table} RENAME TO ${table}_away`).unprepared
      }
      assert.strictEqual((yield* call("GET", `/runs/${runId}/events`)).status, 500, "the log is out of reach")
      for (const query of ["", "?window=30d", "?scenarioRef=s&environment=e"]) {
        const { body, status } = yield* call("GET", `/dashboard/overview${query}`)
        assert.strictEqual(status, 200, query)
        assert.hasAllKeys(body.charts, CHARTS)
      }
      const { body } = yield* call("GET", "/dashboard/overview")
      assert.deepStrictEqual([body.kpis.totalSignals, body.charts.decisionOutcome.data], [1, [1]])
      assert.lengthOf((yield* call("GET", "/dashboard/agents/metrics")).body, 2)
    })
  )
})

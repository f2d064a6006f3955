import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { temporaryFolder } from "@runplane/postgres"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { pythonWithChdb, runChdb } from "./support/Chdb.ts"
import { command } from "./support/CommandLineReads.ts"
import { ROOT } from "./support/DocumentBlocks.ts"
import { startStack } from "./support/StackProcess.ts"

/** Scenarios with decisions in each direction, and with several models. */
const SCENARIOS = [
  "incident/region-failover@1.0.0",
  "release/production-rollout@1.0.0",
  "release/production-rollout@2.0.0",
  "support/escalation@1.0.0",
  "privacy/erasure-request@1.0.0"
]

const Overview = Schema.Struct({
  kpis: Schema.Struct({
    totalRuns: Schema.Int,
    completedRuns: Schema.Int,
    declinedRuns: Schema.Int,
    totalSignals: Schema.Int,
    totalTokens: Schema.Number,
    totalCostUsdExact: Schema.Number,
    activeRuns: Schema.Int
  })
})
const Models = Schema.Struct({
  models: Schema.Array(
    Schema.Struct({
      model: Schema.String,
      calls: Schema.Int,
      totalTokens: Schema.Number,
      estimatedCostUsd: Schema.Number
    })
  )
})
const Listed = Schema.Struct({ total: Schema.Int })
const Status = Schema.Struct({ archive: Schema.Struct({ lagEvents: Schema.Int, waitingChanges: Schema.Int }) })
const Answer = Schema.fromJsonString(
  Schema.Struct({ rows: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)), cut: Schema.Null })
)

const read = <A>(url: string, schema: Schema.Codec<A, unknown>) =>
  Effect.flatMap(
    Effect.promise(() => fetch(url).then((response) => response.json())),
    Schema.decodeUnknownEffect(schema)
  )

const query = Effect.fnUntraced(function* (archive: string, sql: string) {
  const { code, complaint, stdout } = yield* command(["query", sql, "--archive", archive, "--json"])
  assert.deepStrictEqual([code, complaint], [0, ""], sql)
  return (yield* Schema.decodeUnknownEffect(Answer)(stdout.join("\n"))).rows
})

/** The five questions of docs/guides/analytics.md. */
const guideQueries = () =>
  [...readFileSync(join(ROOT, "docs/guides/analytics.md"), "utf8").matchAll(/<<'SQL'\n([\s\S]*?)^SQL$/gm)].map(
    ([, sql = ""]) => sql
  )

/** The views of docs/reference/analytics.md, and its five questions. */
const clickHouseQueries = (folder: string) =>
  [...readFileSync(join(ROOT, "docs/reference/analytics.md"), "utf8").matchAll(/^```sql\n([^`]*)^```$/gm)].flatMap(
    ([, sql = ""]) =>
      sql
        .replaceAll("ARCHIVE", folder)
        .split(/;\n/)
        .filter((text) => text.trim() !== "")
  )

/** Engines print a number or a time in different ways. */
const comparable = (value: unknown): unknown => {
  const text = value === null ? "" : String(value)
  return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text.replaceAll(" ", "")
}

layer(Layer.empty, { excludeTestServices: true })("the archive of real runs", (it) => {
  it.effect("gives the API's own totals in DuckDB, and the same answers in ClickHouse", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const archive = `file://${folder}`
      const env = { RUNPLANE_DATA_DIR: yield* temporaryFolder, ARCHIVE_URL: archive, ARCHIVE_INTERVAL_MS: "1000" }
      const stack = yield* startStack({ args: ["--no-demo"], env })
      assert.isDefined(yield* stack.line("Serving"))
      const api = `http://127.0.0.1:${stack.ports.controlPlane}`
      for (const scenarioRef of SCENARIOS) {
        const response = yield* Effect.promise(() =>
          fetch(`http://127.0.0.1:${stack.ports.launcher}/examples/run`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ scenarioRef, inputs: {} })
          })
        )
        assert.isBelow(response.status, 300, scenarioRef)
      }
      const waiting = Effect.gen(function* () {
        const { kpis } = yield* read(`${api}/dashboard/overview`, Overview)
        const { archive: at } = yield* read(`${api}/admin/archive`, Status)
        return SCENARIOS.length - kpis.totalRuns + kpis.activeRuns + at.lagEvents + at.waitingChanges
      })
      yield* until(waiting, (count) => count === 0)
      const { kpis } = yield* read(`${api}/dashboard/overview`, Overview)
      const usd = "sum(cost_usd::DECIMAL(18, 9))::DOUBLE"
      const [runs] = yield* query(
        archive,
        `SELECT count(*) AS runs, count(*) FILTER (status = 'completed') AS completed, count(*) FILTER (declined) AS declined,
           sum(signals) AS signals, sum(total_tokens) AS tokens, ${usd} AS usd FROM runs`
      )
      assert.deepStrictEqual(runs, {
        runs: (yield* read(`${api}/runs?limit=1`, Listed)).total,
        completed: kpis.completedRuns,
        declined: kpis.declinedRuns,
        signals: kpis.totalSignals,
        tokens: kpis.totalTokens,
        usd: kpis.totalCostUsdExact
      })
      assert.isAbove(kpis.totalCostUsdExact, 0)
      const { models } = yield* read(`${api}/pricing/models`, Models)
      assert.isNotEmpty(models)
      const byModel = yield* query(
        archive,
        `SELECT model, sum(calls) AS calls, sum(total_tokens) AS "totalTokens", ${usd} AS "estimatedCostUsd"
         FROM events WHERE type = 'llm.call.completed' GROUP BY ALL`
      )
      assert.sameDeepMembers([...byModel], [...models])

      const questions = guideQueries()
      assert.lengthOf(questions, 5)
      const answers = yield* Effect.forEach(questions, (sql) => query(archive, sql))
      assert.isNotEmpty(answers[0])
      assert.isNotEmpty(answers[3])
      const python = pythonWithChdb()
      if (python === undefined) return
      const others = runChdb(python, clickHouseQueries(folder))
      assert.deepStrictEqual(
        others.map((rows) => rows.map((row) => (Array.isArray(row) ? row.map(comparable) : row))),
        answers.map((rows) => rows.map((row) => Object.values(row).map(comparable)))
      )
    })
  )
})

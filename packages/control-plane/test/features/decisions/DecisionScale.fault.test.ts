import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { makeChangedDecisions } from "../../../src/features/decisions/ChangedDecisions.ts"
import { makeDecisionRows } from "../../../src/features/decisions/DecisionRows.ts"
import { BacktestRuns } from "../../../src/queries/decisions/BacktestRuns.ts"
import { COST, decided, LEAD, opened, RISK, recorded, votes } from "../../support/Committee.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"

const RUNS = 2_000
const ACTS = 50_000

const service = BacktestRuns.layer.pipe(Layer.provideMerge(layerTestLog), Layer.provideMerge(layerTestDatabase))

/** Seconds of the clock and of the process. */
const timed = Effect.fnUntraced(function* <E, R>(what: string, work: Effect.Effect<unknown, E, R>) {
  const [begin, cpu] = [performance.now(), process.cpuUsage()]
  yield* work
  const used = process.cpuUsage(cpu)
  const seconds = (performance.now() - begin) / 1_000
  const cpuSeconds = (used.user + used.system) / 1_000_000
  yield* Effect.logInfo(`${what}: ${seconds.toFixed(2)} s, CPU of the process ${cpuSeconds.toFixed(2)} s`)
  return cpuSeconds
})

layer(service, { excludeTestServices: true })("the decisions of many runs", (it) => {
  it.effect(
    "cost the process a part of what their events cost",
    () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const follow = Effect.repeat(yield* makeChangedDecisions, { until: (followed) => followed?.isEnd === true })
        const makeRows = Effect.repeat(yield* makeDecisionRows, { until: ({ isEnd }) => isEnd })
        const appended = yield* timed(
          `append ${RUNS} runs`,
          Effect.forEach(Array.from({ length: RUNS }), () => decided, { concurrency: 16, discard: true })
        )
        const followed = yield* timed("follow the log", follow)
        const made = yield* timed(`make ${RUNS} rows`, makeRows)
        assert.isBelow(followed + made, appended)
        const [count] = yield* sql<{ readonly rows: number }>`SELECT count(*)::int AS rows FROM run_decisions`
        assert.strictEqual(count?.rows, RUNS)

        const runId = yield* recorded(...opened)
        const acts = Array.from({ length: ACTS }, (_, at) => votes([LEAD, RISK, COST][at % 3] ?? LEAD, "APPROVE"))
        const log = yield* EventLog
        for (let at = 0; at < ACTS; at += 2_000) yield* log.record({ runId, events: acts.slice(at, at + 2_000) })
        yield* timed(`follow ${ACTS} acts`, follow)
        yield* timed(`make the row of ${ACTS} acts`, makeRows)
      }),
    240_000
  )
})

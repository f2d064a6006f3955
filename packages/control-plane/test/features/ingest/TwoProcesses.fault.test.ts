import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { createDatabase, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { runOfKey } from "../../../src/features/ingest/TraceRuns.ts"
import { layerDatabase } from "../../../src/platform/postgres/Database.ts"
import { startService } from "../../faults/support/ServiceProcess.ts"
import { assertLogIsExact } from "../../support/LogChecks.ts"
import { ScriptedRuntime } from "../../support/ScriptedRuntime.ts"
import { exportOf, postTo, span, spanIdOf, toolSpan, traceIdOf } from "./support/Exports.ts"

const TRACES = 40
const CHILDREN = 6

describe("two processes that receive the spans of the same traces", () => {
  it.live(
    "append each of them once, also when one process leaves",
    () =>
      Effect.gen(function* () {
        const databaseUrl = yield* createDatabase
        const runtime = yield* ScriptedRuntime.start
        const start = startService({
          DATABASE_URL: databaseUrl,
          RUNTIME_ADDRESS: runtime.address,
          OTLP_SETTLE_MS: "2000",
          CLUSTER_LEASE_MS: "3000",
          THROTTLE_LIMIT: "1000000"
        })
        const stays = yield* (yield* start).url
        const traces = Array.from({ length: TRACES }, (_, index) => index + 1)
        /** Every request goes to both processes, as from two collectors. */
        const toBoth = (leaves: string, request: object) =>
          Effect.all([postTo(stays, request), Effect.exit(postTo(leaves, request))], { concurrency: 2 })
        yield* Effect.scoped(
          Effect.gen(function* () {
            const leaves = yield* (yield* start).url
            for (let number = 2; number < CHILDREN + 2; number++) {
              yield* toBoth(leaves, exportOf(traces.map((trace) => toolSpan(trace, number))))
            }
            yield* Effect.forEach(traces, (trace) => toBoth(leaves, exportOf([span({ trace, span: 1 })])), {
              concurrency: 4,
              discard: true
            })
          })
        )
        yield* Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          for (const trace of traces) {
            const runId = runOfKey("anonymous", traceIdOf(trace))
            const status = Effect.map(
              sql<{ readonly status: string }>`SELECT status FROM runs WHERE id = ${runId}::uuid`,
              ([row]) => row?.status
            )
            yield* until(status, (current) => current === "completed")
            const { decoded } = yield* assertLogIsExact(runId)
            assert.sameMembers(
              decoded.filter(({ type }) => type === "tool.called").map(({ recorded }) => recorded.data["spanId"]),
              Array.from({ length: CHILDREN }, (_, index) => spanIdOf(index + 2))
            )
          }
          const left = yield* sql`SELECT FROM otlp_inbox`
          assert.strictEqual(left.length, 0)
        }).pipe(Effect.scoped, Effect.provide(layerDatabase({ url: databaseUrl, maxConnections: 2 })))
      }).pipe(Effect.scoped),
    180_000
  )
})

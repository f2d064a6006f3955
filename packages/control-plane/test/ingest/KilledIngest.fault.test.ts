import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { createDatabase, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { runOfKey } from "../../src/ingest/TraceRuns.ts"
import { layerDatabase } from "../../src/platform/postgres/Database.ts"
import { startService } from "../faults/ServiceProcess.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { ScriptedRuntime } from "../support/ScriptedRuntime.ts"
import { exportOf, postTo, span, spanIdOf, toolSpan, traceIdOf } from "./Exports.ts"

/** `OTLP_KILLS=200` is the long form. */
const KILLS = Number(process.env["OTLP_KILLS"] ?? 20)
const TRACES_PER_LIFE = 4
const REQUESTS_PER_TRACE = 5
/** Each life begins with the start of a process, which takes seconds on a busy machine. Milliseconds. */
const LIMIT_MS = (KILLS + 2) * 20_000

/** The spans of a trace as an exporter sends them: children first, the root last. */
const requestsOf = (trace: number) =>
  Array.from({ length: REQUESTS_PER_TRACE }, (_, request) => {
    const isLast = request === REQUESTS_PER_TRACE - 1
    const child = (number: number) => toolSpan(trace, number)
    return exportOf([child(2 + 2 * request), child(3 + 2 * request), ...(isLast ? [span({ trace, span: 1 })] : [])])
  })

const spansOf = (trace: number) =>
  requestsOf(trace).flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans[0]?.spans ?? [])
  )

describe("a service that receives spans and is killed by signal 9", () => {
  it.live(
    `has every acknowledged span once after ${KILLS} kills at random points`,
    () =>
      Effect.gen(function* () {
        const databaseUrl = yield* createDatabase
        const runtime = yield* ScriptedRuntime.start
        const start = startService({
          DATABASE_URL: databaseUrl,
          RUNTIME_ADDRESS: runtime.address,
          OTLP_SETTLE_MS: "200",
          CLUSTER_LEASE_MS: "3000",
          THROTTLE_LIMIT: "1000000"
        })
        let trace = 0
        /** Sends a request until it is acknowledged by this life; what is not acknowledged is sent to the next one. */
        const unacknowledged: Array<object> = []
        for (let life = 0; life < KILLS; life++) {
          yield* Effect.scoped(
            Effect.gen(function* () {
              const url = yield* (yield* start).url
              for (let number = 0; number < TRACES_PER_LIFE; number++) unacknowledged.push(...requestsOf(++trace))
              const batch = unacknowledged.splice(0)
              const killAt = yield* Random.nextIntBetween(1, batch.length)
              yield* Effect.forEach(
                batch.slice(0, killAt),
                (request) =>
                  Effect.map(Effect.exit(postTo(url, request)), (exit) => {
                    const acknowledged = exit._tag === "Success" && exit.value.status === 200
                    if (!acknowledged) unacknowledged.push(request)
                  }),
                { concurrency: 3, discard: true }
              )
              unacknowledged.push(...batch.slice(killAt))
              // The kill meets the reception of this request, or the drain of those before.
              const last = batch[killAt - 1]
              if (last !== undefined) yield* Effect.forkChild(Effect.exit(postTo(url, last)))
              yield* Effect.sleep(yield* Random.nextBetween(0, 400))
            })
          )
        }
        yield* Effect.gen(function* () {
          const url = yield* (yield* start).url
          for (const request of unacknowledged) {
            const answer = yield* postTo(url, request)
            assert.strictEqual(answer.status, 200, answer.text)
          }
          const sql = yield* PgClient.PgClient
          for (let number = 1; number <= trace; number++) {
            const runId = runOfKey("anonymous", traceIdOf(number))
            const status = Effect.map(
              sql<{ readonly status: string }>`SELECT status FROM runs WHERE id = ${runId}::uuid`,
              ([row]) => row?.status
            )
            yield* until(status, (current) => current === "completed")
            const { decoded } = yield* assertLogIsExact(runId)
            assert.strictEqual(decoded.filter(({ type }) => type === "run.created").length, 1)
            assert.strictEqual(decoded.filter(({ type }) => type === "run.completed").length, 1)
            const seen = yield* sql<{ readonly key: string }>`
              SELECT key FROM otlp_seen WHERE run_id = ${runId}::uuid`
            const expected = spansOf(number).map(({ spanId, traceId }) => `span:${traceId}:${spanId}`)
            assert.sameMembers(
              seen.map(({ key }) => key),
              expected
            )
            const tools = decoded
              .filter(({ type }) => type === "tool.called")
              .map(({ recorded }) => recorded.data["spanId"])
            assert.sameMembers(
              tools,
              Array.from({ length: 2 * REQUESTS_PER_TRACE }, (_, index) => spanIdOf(index + 2))
            )
          }
          const left = yield* sql`SELECT FROM otlp_inbox`
          assert.strictEqual(left.length, 0)
        }).pipe(Effect.scoped, Effect.provide(layerDatabase({ url: databaseUrl, maxConnections: 2 })))
      }).pipe(Effect.scoped),
    LIMIT_MS
  )
})

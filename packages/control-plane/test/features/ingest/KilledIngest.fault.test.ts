import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { createDatabase, until } from "@runplane/testing"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { runOfKey } from "../../../src/features/ingest/TraceRuns.ts"
import { layerDatabase } from "../../../src/platform/postgres/Database.ts"
import { startService } from "../../faults/support/ServiceProcess.ts"
import { assertLogIsExact } from "../../support/LogChecks.ts"
import { ScriptedRuntime } from "../../support/ScriptedRuntime.ts"
import { exportOf, postTo, span, spanIdOf, toolSpan, traceIdOf } from "./support/Exports.ts"
import { type StatementStep, statementProxy } from "./support/StatementProxy.ts"

/** Where the process is killed: at a statement, at its first 200, or after a random time. */
type Kill = StatementStep | "acknowledged" | "random"

const STORE = /INSERT INTO otlp_inbox/
const READ_TRACE = /otlp_inbox i WHERE i\.source = k\.source/
const BIND = /INSERT INTO otlp_traces/
const READ_RUN = /FROM otlp_traces t JOIN otlp_inbox/
const CREATE = /INSERT INTO runs/
const REMOVE = /DELETE FROM otlp_inbox/
const END = /UPDATE runs\s+SET\s+status/
const COMMIT = /^COMMIT/
const NOTIFY = /pg_notify/

const KILLS: Readonly<Record<string, Kill>> = {
  "before the insert": { statement: STORE, moment: "before" },
  "after the insert, before its commit": { statement: STORE, moment: "executed" },
  "after the commit of the span inbox, before the answer": { statement: STORE, moment: "answered" },
  "after the answer": "acknowledged",
  "before the notice to other processes": { statement: NOTIFY, moment: "before" },
  "before the span inbox is read": { statement: READ_TRACE, moment: "before" },
  "after the span inbox is read": { statement: READ_TRACE, moment: "answered" },
  "before the trace is bound": { statement: BIND, moment: "before" },
  "while the trace is bound": { statement: BIND, moment: "executed" },
  "after the trace is bound": { statement: BIND, moment: "answered" },
  "before the rows of the run are read": { statement: READ_RUN, moment: "before" },
  "after the rows of the run are read": { statement: READ_RUN, moment: "answered" },
  "before the append": { statement: CREATE, moment: "before" },
  "in the append, before the rows leave the span inbox": { statement: REMOVE, moment: "before" },
  "in the append, after the rows have left the span inbox": { statement: REMOVE, moment: "answered" },
  "before the commit of the append": { statement: COMMIT, moment: "before", within: REMOVE },
  "after the commit of the append": { statement: COMMIT, moment: "answered", within: REMOVE },
  "before the end of the run": { statement: END, moment: "before" },
  "before the commit of the end": { statement: COMMIT, moment: "before", within: END },
  "after the commit of the end": { statement: COMMIT, moment: "answered", within: END },
  "at a random time": "random"
}

/** Kills at each step; `OTLP_KILLS=200` is the long form. */
const ROUNDS = Math.ceil(Number(process.env["OTLP_KILLS"] ?? 0) / Object.keys(KILLS).length) || 1
/** Services with a database each that are killed at the same time. */
const LANES = 3
const TRACES_PER_LIFE = 3
const REQUESTS_PER_TRACE = 3
const LIMIT_MS = ROUNDS * Object.keys(KILLS).length * 15_000

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

/** Kills one service after the other on one database, and then checks that each acknowledged span is there once. */
const lane = Effect.fnUntraced(function* (kills: ReadonlyArray<readonly [name: string, kill: Kill]>) {
  const databaseUrl = yield* createDatabase
  const runtime = yield* ScriptedRuntime.start
  const proxy = yield* statementProxy(databaseUrl)
  const start = (url: string) =>
    startService({
      DATABASE_URL: url,
      RUNTIME_ADDRESS: runtime.address,
      OTLP_SETTLE_MS: "200",
      CLUSTER_LEASE_MS: "3000",
      THROTTLE_LIMIT: "1000000"
    })
  let trace = 0
  /** What a life has not acknowledged is sent to the next one. */
  let unacknowledged: ReadonlyArray<object> = []

  const life = Effect.fnUntraced(function* (name: string, kill: Kill) {
    const service = yield* start(proxy.url)
    const url = yield* service.url
    const killed = yield* Deferred.make<void>()
    const reached = () => {
      process.kill(service.pid, "SIGKILL")
      Deferred.doneUnsafe(killed, Effect.void)
    }
    if (typeof kill === "object") proxy.arm(kill, reached)
    const requests = [...unacknowledged, ...Array.from({ length: TRACES_PER_LIFE }, () => requestsOf(++trace)).flat()]
    const failed: Array<object> = []
    const send = Effect.forEach(
      requests,
      (request) =>
        Effect.map(Effect.exit(postTo(url, request)), (exit) => {
          const isAcknowledged = exit._tag === "Success" && exit.value.status === 200
          if (!isAcknowledged) failed.push(request)
          else if (kill === "acknowledged") reached()
        }),
      { concurrency: 3, discard: true }
    )
    const pause = kill === "random" ? yield* Random.nextBetween(0, 600) : 0
    const timed = kill === "random" ? Effect.andThen(Effect.sleep(pause), Effect.sync(reached)) : Effect.void
    yield* Effect.all([send, timed], { concurrency: 2 })
    const isKilled = yield* Effect.timeoutOption(Deferred.await(killed), "20 seconds")
    assert.strictEqual(isKilled._tag, "Some", `the service did not come to the step "${name}":\n${service.output()}`)
    yield* service.ended
    unacknowledged = failed
  }, Effect.scoped)
  yield* Effect.forEach(kills, ([name, kill]) => life(name, kill), { discard: true })
  proxy.disarm()

  yield* Effect.gen(function* () {
    const url = yield* (yield* start(databaseUrl)).url
    for (const request of unacknowledged) {
      const answer = yield* postTo(url, request)
      assert.strictEqual(answer.status, 200, answer.text)
    }
    for (let number = 1; number <= trace; number++) yield* assertWhole(number)
    const sql = yield* PgClient.PgClient
    assert.strictEqual((yield* sql`SELECT FROM otlp_inbox`).length, 0)
  }).pipe(Effect.scoped, Effect.provide(layerDatabase({ url: databaseUrl, maxConnections: 2 })))
}, Effect.scoped)

/** The run of the trace has ended, with each span once. */
const assertWhole = Effect.fnUntraced(function* (trace: number) {
  const sql = yield* PgClient.PgClient
  const runId = runOfKey("anonymous", traceIdOf(trace))
  const status = Effect.map(
    sql<{ readonly status: string }>`SELECT status FROM runs WHERE id = ${runId}::uuid`,
    ([row]) => row?.status
  )
  yield* until(status, (current) => current === "completed")
  const { decoded } = yield* assertLogIsExact(runId)
  assert.strictEqual(decoded.filter(({ type }) => type === "run.created").length, 1)
  assert.strictEqual(decoded.filter(({ type }) => type === "run.completed").length, 1)
  const seen = yield* sql<{ readonly key: string }>`SELECT key FROM otlp_seen WHERE run_id = ${runId}::uuid`
  assert.sameMembers(
    seen.map(({ key }) => key),
    spansOf(trace).map(({ spanId, traceId }) => `span:${traceId}:${spanId}`)
  )
  assert.sameMembers(
    decoded.filter(({ type }) => type === "tool.called").map(({ recorded }) => recorded.data["spanId"]),
    Array.from({ length: 2 * REQUESTS_PER_TRACE }, (_, index) => spanIdOf(index + 2))
  )
})

describe("a service that receives spans and is killed by signal 9", () => {
  it.live(
    `has every acknowledged span once after ${ROUNDS} kills at each of ${Object.keys(KILLS).length} steps`,
    Effect.fnUntraced(function* () {
      const all = Array.from({ length: ROUNDS }, () => Object.entries(KILLS)).flat()
      const lanes = Array.from({ length: LANES }, (_, number) => all.filter((_, index) => index % LANES === number))
      yield* Effect.forEach(lanes, lane, { concurrency: LANES, discard: true })
    }, Effect.scoped),
    LIMIT_MS
  )
})

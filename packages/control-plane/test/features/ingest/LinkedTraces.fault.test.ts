import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { runOfKey } from "../../../src/features/ingest/TraceRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { exportOf, post, span, traceIdOf } from "./support/Exports.ts"

const SETTLE_MS = 2_000

const settings = {
  AUTH_API_KEYS: "one,other,reader",
  AUTH_API_KEY_NAMES: "one,other,reader",
  AUTH_API_KEY_ROLES: "ingest,ingest,viewer",
  OTLP_SETTLE_MS: String(SETTLE_MS)
}

/** A root that links to the roots of other traces. */
const send = Effect.fnUntraced(function* (trace: number, links: ReadonlyArray<number>, key = "one") {
  const answer = yield* post(exportOf([span({ trace, span: 1, links })]), { headers: { "x-api-key": key } })
  assert.strictEqual(answer.status, 200, answer.text)
})

const runOf = (trace: number, source = "one") => runOfKey(source, traceIdOf(trace))

const statusOf = (trace: number, source = "one") =>
  Effect.map(
    call("GET", `/runs/${runOf(trace, source)}`, { headers: { "x-api-key": "reader" } }),
    ({ body, status }): string => (status === 200 ? body.status : String(status))
  )
const ended = (trace: number, source = "one") => until(statusOf(trace, source), (status) => status === "completed")

/** The runs of traces, once all of them are bound. */
const runsOf = Effect.fnUntraced(function* (traces: ReadonlyArray<number>, source = "one") {
  const sql = yield* PgClient.PgClient
  const rows = yield* until(
    sql<{ readonly run_id: string }>`
      SELECT run_id::text AS run_id FROM otlp_traces
      WHERE source = ${source} AND trace_id = ANY(${traces.map(traceIdOf)}::text[])`,
    (found) => found.length === traces.length
  )
  return [...new Set(rows.map(({ run_id }) => run_id))]
})

layer(layerTestService({ settings }), { excludeTestServices: true })("a trace that links to another", (it) => {
  it.effect("joins its run while that is open", () =>
    Effect.gen(function* () {
      yield* send(1, [])
      yield* send(2, [1])
      assert.deepStrictEqual(yield* runsOf([1, 2]), [runOf(1)])
      yield* ended(1)
      assert.strictEqual(yield* statusOf(2), "404")
    })
  )

  it.effect("joins its run within the settle time after the end, and not later", () =>
    Effect.gen(function* () {
      yield* send(11, [])
      yield* ended(11)
      yield* send(12, [11])
      assert.deepStrictEqual(yield* runsOf([11, 12]), [runOf(11)])
      const sql = yield* PgClient.PgClient
      yield* until(
        sql`
          SELECT FROM runs WHERE id = ${runOf(11)}::uuid AND updated_at < now() - make_interval(secs => ${SETTLE_MS / 1_000})
          AND NOT EXISTS (SELECT FROM otlp_inbox WHERE trace_id = ${traceIdOf(12)})`,
        (rows) => rows.length === 1
      )
      yield* send(13, [11])
      assert.deepStrictEqual(yield* runsOf([13]), [runOf(13)])
    })
  )

  it.effect("of another source has a run of its own", () =>
    Effect.gen(function* () {
      yield* send(21, [])
      yield* send(22, [21], "other")
      assert.deepStrictEqual(yield* runsOf([21]), [runOf(21)])
      assert.deepStrictEqual(yield* runsOf([22], "other"), [runOf(22, "other")])
    })
  )

  it.effect("joins its run through a chain of links, also when it arrives before the other", () =>
    Effect.gen(function* () {
      yield* send(33, [32])
      yield* send(32, [31])
      yield* send(31, [])
      assert.deepStrictEqual(yield* runsOf([31, 32, 33]), [runOf(31)])
      yield* ended(31)
    })
  )

  it.effect("that links back is one run with it", () =>
    Effect.gen(function* () {
      yield* send(41, [42])
      yield* send(42, [41])
      assert.strictEqual((yield* runsOf([41, 42])).length, 1)
    })
  )
})

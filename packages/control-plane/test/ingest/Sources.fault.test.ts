import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { createDatabase, slowness, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { runOfKey } from "../../src/ingest/TraceRuns.ts"
import { layerDatabase } from "../../src/platform/postgres/Database.ts"
import { startService } from "../faults/ServiceProcess.ts"
import { ScriptedRuntime } from "../support/ScriptedRuntime.ts"
import { exportOf, gzipped, postTo, span, traceIdOf } from "./Exports.ts"

const TRACES = 10_000
const LONGEST_MS = 2_000
const KEYS = { AUTH_API_KEYS: "key-flood-1234567890,key-quiet-0987654321", AUTH_API_KEY_NAMES: "flood,quiet" }
const [FLOOD, QUIET] = ["key-flood-1234567890", "key-quiet-0987654321"]
/** Traces of the quiet source, sent one after the other while the flood is drained. */
const SENT = 5

/** How long a trace of the quiet source takes to be a run, beside the drain of a flood. Milliseconds. */
const beside = (processes: number) =>
  Effect.gen(function* () {
    const databaseUrl = yield* createDatabase
    const runtime = yield* ScriptedRuntime.start
    const start = startService({
      ...KEYS,
      AUTH_API_KEY_ROLES: "ingest,ingest",
      DATABASE_URL: databaseUrl,
      RUNTIME_ADDRESS: runtime.address,
      OTLP_TRACES_PER_REQUEST: String(TRACES)
    })
    const urls = yield* Effect.forEach(
      Array.from({ length: processes }, () => start),
      (service) => Effect.flatMap(service, ({ url }) => url)
    )
    const [first = "", last = first] = [urls[0], urls.at(-1)]
    return yield* Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const spans = Array.from({ length: TRACES }, (_, index) => span({ trace: index + 1, span: 1 }))
      const headers = { "x-api-key": FLOOD, "content-encoding": "gzip" }
      const flood = yield* postTo(first, gzipped(exportOf(spans)), { headers })
      assert.deepStrictEqual([flood.status, flood.text], [200, "{}"])
      const waits: Array<number> = []
      for (let trace = 1; trace <= SENT; trace++) {
        const begun = performance.now()
        const answer = yield* postTo(last, exportOf([span({ trace, span: 1 })]), { headers: { "x-api-key": QUIET } })
        assert.strictEqual(answer.status, 200)
        const runId = runOfKey("quiet", traceIdOf(trace))
        yield* until(sql`SELECT FROM runs WHERE id = ${runId}::uuid`, (rows) => rows.length === 1)
        waits.push(performance.now() - begun)
      }
      const [left] = yield* sql<{ readonly rows: number }>`
        SELECT count(*)::int AS rows FROM otlp_inbox WHERE source = 'flood'`
      return { waits, left: left?.rows ?? 0 }
    }).pipe(Effect.scoped, Effect.provide(layerDatabase({ url: databaseUrl, maxConnections: 2 })))
  })

describe("a source that sends ten thousand traces at once", () => {
  for (const processes of [1, 2]) {
    it.live(
      `lets a trace of another source become a run within two seconds, with ${processes} of the processes`,
      () =>
        Effect.gen(function* () {
          const { left, waits } = yield* beside(processes)
          assert.isAbove(left, 0, "the flood was over before the other source sent")
          const factor = yield* slowness
          const usual = waits.toSorted((one, other) => one - other)[Math.floor(SENT / 2)] ?? Number.NaN
          yield* Effect.logInfo(`slowness ${factor}: waited ${waits.map(Math.round).join(", ")} ms; ${left} left`)
          assert.isBelow(usual, LONGEST_MS * factor, `waited ${waits.map(Math.round).join(", ")} ms`)
        }).pipe(Effect.scoped),
      300_000
    )
  }
})

import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { createDatabase, slowness, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { runOfKey } from "../../../src/features/ingest/TraceRuns.ts"
import { layerDatabase } from "../../../src/platform/postgres/Database.ts"
import { startService } from "../../faults/support/ServiceProcess.ts"
import { ScriptedRuntime } from "../../support/ScriptedRuntime.ts"
import { exportOf, gzipped, postTo, span, traceIdOf } from "./support/Exports.ts"

const TRACES = 10_000
const LONGEST_MS = 2_000
const KEYS = { AUTH_API_KEYS: "key-flood-1234567890,key-quiet-0987654321", AUTH_API_KEY_NAMES: "flood,quiet" }
const [FLOOD, QUIET] = ["key-flood-1234567890", "key-quiet-0987654321"]
/** Traces of the quiet source, sent one after the other: without the flood, and while it is drained. */
const SENT = 5

/** How long a trace of the quiet source takes to be a run, beside the drain of a flood. Milliseconds. */
const measured = (processes: number) =>
  Effect.gen(function* () {
    const databaseUrl = yield* createDatabase
    const runtime = yield* ScriptedRuntime.start
    const start = startService({
      ...KEYS,
      AUTH_API_KEY_ROLES: "ingest,ingest",
      DATABASE_URL: databaseUrl,
      RUNTIME_ADDRESS: runtime.address,
      OTLP_TRACES_PER_REQUEST: String(TRACES),
      OTLP_SETTLE_MS: "200"
    })
    const urls = yield* Effect.forEach(
      Array.from({ length: processes }, () => start),
      (service) => Effect.flatMap(service, ({ url }) => url)
    )
    const [first = "", last = first] = [urls[0], urls.at(-1)]
    return yield* Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      /** How long traces of the quiet source take to be runs, in their order. Milliseconds. */
      let next = 1
      const waits = (count: number) =>
        Effect.forEach(Array.from({ length: count }), () =>
          Effect.gen(function* () {
            const trace = next++
            const begun = performance.now()
            const answer = yield* postTo(last, exportOf([span({ trace, span: 1 })]), {
              headers: { "x-api-key": QUIET }
            })
            assert.strictEqual(answer.status, 200)
            const runId = runOfKey("quiet", traceIdOf(trace))
            yield* until(sql`SELECT FROM runs WHERE id = ${runId}::uuid`, (rows) => rows.length === 1)
            return performance.now() - begun
          })
        )
      const alone = yield* waits(SENT)
      const spans = Array.from({ length: TRACES }, (_, index) => span({ trace: index + 1, span: 1 }))
      const headers = { "x-api-key": FLOOD, "content-encoding": "gzip" }
      const flood = yield* postTo(first, gzipped(exportOf(spans)), { headers })
      assert.deepStrictEqual([flood.status, flood.text], [200, "{}"])
      const beside = yield* waits(SENT)
      const [left] = yield* sql<{ readonly rows: number }>`
        SELECT count(*)::int AS rows FROM otlp_inbox WHERE source = 'flood'`
      return { alone, beside, left: left?.rows ?? 0 }
    }).pipe(Effect.scoped, Effect.provide(layerDatabase({ url: databaseUrl, maxConnections: 2 })))
  })

const shown = (waits: ReadonlyArray<number>) => waits.map(Math.round).join(", ")
const median = (waits: ReadonlyArray<number>) =>
  waits.toSorted((one, other) => one - other)[Math.floor(waits.length / 2)] ?? Number.NaN

describe("a source that sends ten thousand traces at once", () => {
  for (const processes of [1, 2]) {
    it.live(
      `lets a trace of another source become a run within two seconds, with ${processes} of the processes`,
      () =>
        Effect.gen(function* () {
          const { alone, beside, left } = yield* measured(processes)
          assert.isAbove(left, 0, "the flood was over before the other source sent")
          const said = `alone ${shown(alone)}, beside the flood ${shown(beside)} ms; ${left} rows of it left`
          yield* Effect.logInfo(said)
          assert.isBelow(median(beside), LONGEST_MS * (yield* slowness), said)
        }).pipe(Effect.scoped),
      300_000
    )
  }
})

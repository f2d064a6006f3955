import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { assert, it } from "@effect/vitest"
import { CircuitBreaker } from "@runplane/runtime"
import { RuntimeFake } from "@runplane/runtime/testing"
import { LoopFaults } from "@runplane/server"
import { freePorts, openSse, otlpCollector, request, until } from "@runplane/testing"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { layerControlPlane } from "../../../src/ControlPlane.ts"
import { LOOP_NAMES } from "../../../src/platform/loop/LoopNames.ts"
import { createMigratedDatabase } from "../../support/TestDatabase.ts"

/** How often the test wakes every loop. Milliseconds. */
const WAKE_MS = 100
/** The test says then which loops have not recovered. Milliseconds. */
const LIMIT_MS = 40_000

/** The values of a metric of loops, by the name of the loop. */
const ofLoops = (metrics: string, name: string) =>
  new Map(
    [...metrics.matchAll(new RegExp(`^${name}{loop="(.+?)"} (\\S+)$`, "gm"))].map(([, loop, value]) => [loop, value])
  )

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "runplane-loops-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** The whole service, with every setting that brings a loop, and a log stream. */
const serviceWith = Effect.fnUntraced(function* (before: (name: string) => Effect.Effect<void>) {
  const collector = yield* otlpCollector
  const [port = 0] = yield* freePorts(1)
  const env = {
    NODE_ENV: "test",
    ARCHIVE_URL: pathToFileURL(yield* folder).href,
    DATA_RETENTION_ENABLED: "true",
    OTEL_ENABLED: "true",
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTLP_INGEST_ENABLED: "true",
    THROTTLE_STORE: "postgres"
  }
  const faults = { before, wake: () => Effect.sleep(WAKE_MS), longestMs: WAKE_MS }
  yield* layerControlPlane({
    http: { host: "127.0.0.1", port },
    database: { url: yield* createMigratedDatabase }
  }).pipe(
    Layer.provide([RuntimeFake.layer, CircuitBreaker.layer()]),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))),
    Layer.provide(Layer.succeed(LoopFaults, faults)),
    Layer.build
  )
  const url = `http://127.0.0.1:${port}`
  yield* openSse(`${url}/events/stream`)
  return {
    metrics: Effect.map(request("GET", `${url}/metrics`), ({ text }) => text),
    readiness: Effect.map(request("GET", `${url}/readyz?strict=true`), ({ body, status }) => ({ body, status }))
  }
})

it.live(
  "every loop goes on after a defect",
  () =>
    Effect.gen(function* () {
      const failed = new Set<string>()
      const { metrics, readiness } = yield* serviceWith((name) =>
        Effect.suspend(() => {
          if (failed.has(name)) return Effect.void
          failed.add(name)
          return Effect.die(new Error(`injected into ${name}`))
        })
      )
      const unrecovered = Effect.map(metrics, (text) => {
        const failures = ofLoops(text, "runplane_loop_failures_total")
        const rounds = ofLoops(text, "runplane_loop_last_round_timestamp_seconds")
        return LOOP_NAMES.filter((name) => failures.get(name) !== "1" || !rounds.has(name))
      })
      yield* until(unrecovered, (names) => names.length === 0, "200 millis").pipe(Effect.timeoutOption(LIMIT_MS))
      assert.deepStrictEqual(yield* unrecovered, [])
      // A loop that the list does not have would have no row in the documents.
      const known: ReadonlyArray<string> = LOOP_NAMES
      assert.deepStrictEqual([...failed].toSorted(), known.toSorted())
      // The answer may be a second old.
      const { body, status } = yield* until(readiness, (answer) => answer.body.checks.loops.detail === "", "200 millis")
      assert.strictEqual(status, 200, JSON.stringify(body))
      assert.isTrue(body.checks.loops.ok)
    }).pipe(Effect.scoped),
  2 * LIMIT_MS
)

it.live("readiness shows a loop that fails, with its error without secrets", () =>
  Effect.gen(function* () {
    const { readiness } = yield* serviceWith((name) =>
      name === "ledger" ? Effect.die(new Error("cannot reach https://me:hunter2@store/ledger")) : Effect.void
    )
    const { body } = yield* until(readiness, (answer) => answer.body.checks.loops.detail !== "", "200 millis")
    assert.match(
      body.checks.loops.detail,
      /^ledger fails for \d+ s \(\d+ rounds?\): cannot reach https:\/\/\*\*\*@store\/ledger$/
    )
    assert.isTrue(body.checks.loops.ok)
    assert.strictEqual(body.loops.detail, body.checks.loops.detail)
  }).pipe(Effect.scoped)
)

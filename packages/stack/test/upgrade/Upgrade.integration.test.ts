import { readdirSync } from "node:fs"
import { join } from "node:path"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { ControlPlaneClient } from "@runplane/api"
import { layerControlPlane, layerRuntime, restoreDatabase } from "@runplane/control-plane"
import { CONTROL_PLANE_IDENTITY } from "@runplane/runtime"
import { Sandbox } from "@runplane/sandbox"
import { createDatabase, freePorts } from "@runplane/testing"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { command } from "../support/CommandLineReads.ts"
import {
  awaitStatus,
  exportSpan,
  playAfterUpgrade,
  playUntilUpgrade,
  RUNS,
  sealKeyFile,
  TRACES
} from "./support/Yesterday.ts"

const FIXTURES = join(import.meta.dirname, "fixtures")

const SETTINGS = {
  NODE_ENV: "test",
  THROTTLE_LIMIT: "1000000",
  RUNTIME_ALLOW_INSECURE: "true",
  RUNTIME_BEARER_TOKEN: CONTROL_PLANE_IDENTITY,
  SESSION_DISCOVERY_GRACE_MS: "600000",
  OTLP_INGEST_ENABLED: "true",
  OTLP_SETTLE_MS: "200",
  // The traces of the dump are as old as their release, and their runs are still to be open.
  OTLP_IDLE_MS: String(100 * 365 * 24 * 60 * 60 * 1_000),
  DATA_RETENTION_ENABLED: "false"
}

const sandbox = Sandbox.layer({ port: 0, sweepIntervalMs: 50, observers: [CONTROL_PLANE_IDENTITY] })

/** The program of today on a database. */
const today = (databaseUrl: string, port: number, own: Readonly<Record<string, string>>) =>
  ControlPlaneClient.layer({ baseUrl: `http://127.0.0.1:${port}` }).pipe(
    Layer.provide(NodeHttpClient.layerNodeHttp),
    Layer.provideMerge(
      layerControlPlane({ http: { host: "127.0.0.1", port }, database: { url: databaseUrl } }).pipe(
        Layer.provide(Layer.fresh(layerRuntime)),
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { ...SETTINGS, ...own } })))
      )
    )
  )

const on = (url: string) => Effect.provide(Layer.fresh(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })))

/** Every event of the log as it is stored. */
const storedEvents = Effect.flatMap(
  PgClient.PgClient,
  (sql) => sql<{ readonly run: string; readonly index: number; readonly seq: string; readonly event: string }>`
    SELECT run_id::text AS run, index, seq::text AS seq, event::text AS event FROM canonical_events e ORDER BY e.seq`
)

const migrationsOf = Effect.flatMap(
  PgClient.PgClient,
  (sql) => sql<{ readonly id: number; readonly hash: string | null }>`
    SELECT migration_id AS id, to_jsonb(m)->>'hash' AS hash FROM runplane_migrations m ORDER BY 1`
)

/** Each run's events are numbered 1, 2, 3, ..., and their positions in the log ascend. */
const assertWhole = (events: Effect.Success<typeof storedEvents>) => {
  const last = new Map<string, number>()
  let before = 0n
  for (const { index, run, seq } of events) {
    assert.strictEqual(index, (last.get(run) ?? 0) + 1, run)
    last.set(run, index)
    assert.isTrue(BigInt(seq) > before)
    before = BigInt(seq)
  }
  return last
}

const eventsOf = Effect.fnUntraced(function* (run: string) {
  const { api } = yield* ControlPlaneClient
  const listed = yield* api.events.list({ params: { id: run }, query: { afterSeq: 0, limit: 1000 } })
  return ("data" in listed ? listed.data : listed).map(({ type }) => type)
})

const ENDED = [RUNS.decided, RUNS.worked, RUNS.expired, TRACES.ended.run]
const ALL = [...ENDED, RUNS.open, TRACES.open.run]

/** Restores the data of a release, and starts the program of today on it. */
const upgrade = Effect.fnUntraced(function* (file: string) {
  const url = yield* createDatabase
  yield* restoreDatabase({ url }, { file, progress: () => Effect.void })
  const before = yield* on(url)(storedEvents)
  const numbers = assertWhole(before)
  assert.sameMembers([...numbers.keys()], ALL)
  const [port = 0] = yield* freePorts(1)
  const baseUrl = `http://127.0.0.1:${port}`
  const own = { RUNTIME_ADDRESS: (yield* Sandbox).address, SEAL_PRIVATE_KEY_FILE: yield* sealKeyFile }
  // The runtime has the open session as it was.
  yield* playUntilUpgrade

  yield* Effect.gen(function* () {
    const { api } = yield* ControlPlaneClient
    const migrations = yield* on(url)(migrationsOf)
    assert.lengthOf(
      migrations,
      readdirSync(join(import.meta.dirname, "../../../../migrations")).filter((name) => name.endsWith(".sql")).length
    )
    for (const { hash, id } of migrations) assert.match(hash ?? "", /^[0-9a-f]{64}$/, `migration ${id}`)

    for (const id of ENDED) {
      const run = yield* api.runs.get({ params: { id }, query: {} })
      assert.strictEqual(run.status, id === RUNS.expired ? "failed" : "completed")
      assert.strictEqual((yield* eventsOf(id)).length, numbers.get(id))
      const verified = yield* command(["runs", "verify", id, "--keys", baseUrl, "--url", baseUrl])
      assert.deepStrictEqual([verified.code, verified.complaint], [0, ""], id)
      assert.strictEqual((yield* api.runs.state({ params: { id } })).run.status, run.status)
    }
    const ledger = yield* command(["ledger", "verify", "--keys", baseUrl, "--url", baseUrl])
    assert.deepStrictEqual([ledger.code, ledger.complaint], [0, ""])
    assert.lengthOf(
      (yield* api.marks.list({ params: { id: RUNS.decided }, query: { limit: 10, offset: 0, history: false } })).data,
      1
    )
    assert.deepStrictEqual(
      (yield* api.alerts.rules()).map(({ id }) => id),
      ["team"]
    )

    // What was open goes on to its end.
    assert.strictEqual((yield* api.runs.get({ params: { id: RUNS.open }, query: {} })).status, "running")
    yield* playAfterUpgrade
    yield* awaitStatus(RUNS.open, "completed")
    yield* awaitStatus(TRACES.open.run, "running")
    yield* exportSpan(baseUrl, TRACES.open, Date.now() - 1_000, true)
    yield* awaitStatus(TRACES.open.run, "completed")
    for (const id of [RUNS.open, TRACES.open.run]) {
      const verified = yield* command(["runs", "verify", id, "--keys", baseUrl, "--url", baseUrl])
      assert.deepStrictEqual([verified.code, verified.complaint], [0, ""], id)
    }
    assert.include(yield* eventsOf(RUNS.open), "decision.finalized")
  }).pipe(Effect.provide(today(url, port, own)))

  const after = yield* on(url)(storedEvents)
  assertWhole(after)
  assert.deepStrictEqual(after.slice(0, before.length), before)
})

// docs/reference/operations.md#upgrade
describe("the data of a release, started with the program of today", () => {
  const files = readdirSync(FIXTURES).filter((name) => name.endsWith(".backup"))
  it.live.each(files)("%s is migrated, its log is whole, its seals fit, and its open runs go on", (file) =>
    upgrade(join(FIXTURES, file)).pipe(Effect.provide(Layer.mergeAll(Layer.fresh(sandbox), NodeFileSystem.layer)))
  )
  it("is there for each release since 0.1.0", () => {
    assert.include(files, "0.1.0.backup")
  })
})

import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { ControlPlaneClient } from "@runplane/api"
import { layerControlPlane, layerRuntime, restoreDatabase } from "@runplane/control-plane"
import { temporaryFolder } from "@runplane/postgres"
import { CONTROL_PLANE_IDENTITY } from "@runplane/runtime"
import { Sandbox } from "@runplane/sandbox"
import { createDatabase, freePorts, until } from "@runplane/testing"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { command } from "../support/CommandLineReads.ts"
import { fixtures, type ReleaseFixture, releaseBefore } from "./support/Fixtures.ts"
import { unpack } from "./support/Packed.ts"
import { receiver } from "./support/Receiver.ts"
import { assertServed, type Served, serve } from "./support/Served.ts"
import {
  ALERT,
  archiveIsWritten,
  awaitStatus,
  exportSpan,
  HOOKS,
  playAfterUpgrade,
  playUntilUpgrade,
  RUNS,
  sealKeyFile,
  TRACES
} from "./support/Yesterday.ts"

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
  // The deliveries, too.
  WEBHOOK_RETRY_WINDOW_MS: String(100 * 365 * 24 * 60 * 60 * 1_000),
  WEBHOOK_ALLOW_PRIVATE_TARGETS: "true",
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

const assertVerified = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const verified = yield* command(args)
  assert.deepStrictEqual([verified.code, verified.complaint], [0, ""], args.join(" "))
})

const marksOf = Effect.fnUntraced(function* (run: string) {
  const { api } = yield* ControlPlaneClient
  return (yield* api.marks.list({ params: { id: run }, query: { limit: 10, offset: 0, history: false } })).data
})

/** What the service has served before the upgrade is served after it, and its deliveries arrive, once. */
const assertUnchanged = Effect.fnUntraced(function* (served: Served, baseUrl: string) {
  const { api } = yield* ControlPlaneClient
  assertServed(served, yield* serve(baseUrl, Object.keys(served)))
  const { received, url } = yield* receiver
  for (const hook of yield* api.webhooks.list()) {
    yield* api.webhooks.update({ params: { id: hook.id }, payload: { url: url(new URL(hook.url).pathname) } })
  }
  const completed = ENDED.filter((run) => run !== RUNS.expired)
  return {
    waitingHaveArrived: until(
      Effect.sync(() => received.filter(({ path }) => path === HOOKS.waiting).length),
      (count) => count >= completed.length
    ),
    allHaveArrived: Effect.gen(function* () {
      const later = [RUNS.open, TRACES.open.run]
      yield* until(
        Effect.sync(() => received.length),
        (count) => count >= completed.length + 2 * later.length
      )
      const runsAt = (wanted: string) => received.flatMap(({ path, runId }) => (path === wanted ? [runId] : []))
      assert.sameMembers(runsAt(HOOKS.waiting), [...completed, ...later])
      assert.sameMembers(runsAt(HOOKS.delivered), later)
    })
  }
})

/** Restores the data of a release, and starts the program of today on it. */
const upgrade = Effect.fnUntraced(function* (fixture: ReleaseFixture) {
  const url = yield* createDatabase
  yield* restoreDatabase({ url }, { file: fixture.backup, progress: () => Effect.void })
  const before = yield* on(url)(storedEvents)
  const numbers = assertWhole(before)
  assert.sameMembers([...numbers.keys()], ALL)
  const [port = 0] = yield* freePorts(1)
  const baseUrl = `http://127.0.0.1:${port}`
  const served: Served | undefined = existsSync(fixture.served)
    ? JSON.parse(readFileSync(fixture.served, "utf8"))
    : undefined
  const archive = yield* temporaryFolder
  const archiveUrl = pathToFileURL(archive).href
  if (served !== undefined) unpack(fixture.archive, archive)
  const own = {
    RUNTIME_ADDRESS: (yield* Sandbox).address,
    SEAL_PRIVATE_KEY_FILE: yield* sealKeyFile,
    ...(served !== undefined && { ARCHIVE_URL: archiveUrl, ARCHIVE_INTERVAL_MS: "1000" })
  }
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
    const deliveries = served === undefined ? undefined : yield* assertUnchanged(served, baseUrl)

    for (const id of ENDED) {
      const run = yield* api.runs.get({ params: { id }, query: {} })
      assert.strictEqual(run.status, id === RUNS.expired ? "failed" : "completed")
      assert.strictEqual((yield* eventsOf(id)).length, numbers.get(id))
      yield* assertVerified("runs", "verify", id, "--keys", baseUrl, "--url", baseUrl)
      if (served !== undefined) yield* assertVerified("verify", "--archive", archiveUrl, id, "--keys", baseUrl)
      assert.strictEqual((yield* api.runs.state({ params: { id } })).run.status, run.status)
    }
    yield* assertVerified("ledger", "verify", "--keys", baseUrl, "--url", baseUrl)
    assert.lengthOf(yield* marksOf(RUNS.decided), 1)
    assert.sameMembers(
      (yield* api.alerts.rules()).map(({ id }) => id),
      served === undefined ? ["team"] : ["team", ALERT.id]
    )
    yield* deliveries?.waitingHaveArrived ?? Effect.void

    // What was open goes on to its end, and marks, alerts and the archive follow.
    assert.strictEqual((yield* api.runs.get({ params: { id: RUNS.open }, query: {} })).status, "running")
    yield* playAfterUpgrade
    yield* awaitStatus(RUNS.open, "completed")
    yield* awaitStatus(TRACES.open.run, "running")
    yield* exportSpan(baseUrl, TRACES.open, Date.now() - 1_000, true)
    yield* awaitStatus(TRACES.open.run, "completed")
    yield* command(["marks", "add", RUNS.open, "correct", "true", "--on", "decision", "--url", baseUrl])
    assert.lengthOf(yield* marksOf(RUNS.open), 1)
    for (const id of [RUNS.open, TRACES.open.run]) {
      yield* assertVerified("runs", "verify", id, "--keys", baseUrl, "--url", baseUrl)
    }
    assert.include(yield* eventsOf(RUNS.open), "decision.finalized")
    if (served === undefined) return
    yield* deliveries?.allHaveArrived ?? Effect.void
    const alerts = yield* until(api.alerts.list({ query: { limit: 100, offset: 0 } }), ({ data }) =>
      data.every(({ status }) => status === "resolved")
    )
    assert.sameMembers(
      alerts.data.map(({ runId }) => runId),
      ALL
    )
    yield* archiveIsWritten
    for (const id of ALL) yield* assertVerified("verify", "--archive", archiveUrl, id, "--keys", baseUrl)
  }).pipe(Effect.provide(today(url, port, own)))

  const after = yield* on(url)(storedEvents)
  assertWhole(after)
  assert.deepStrictEqual(after.slice(0, before.length), before)
})

// docs/guides/upgrade.md
describe("the data of a release, started with the program of today", () => {
  it.live.each(fixtures())(
    "$version is migrated, its log is whole, its seals fit, and its open runs go on",
    (release) => upgrade(release).pipe(Effect.provide(Layer.mergeAll(Layer.fresh(sandbox), NodeFileSystem.layer)))
  )
  it("is there for each release since 0.1.0", () => {
    const versions = fixtures().map(({ version }) => version)
    assert.strictEqual(versions[0], "0.1.0")
    assert.include(versions, releaseBefore().version)
  })
})

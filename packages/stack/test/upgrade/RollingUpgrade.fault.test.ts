import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, it } from "@effect/vitest"
import { ControlPlaneClient } from "@runplane/api"
import { CONTROL_PLANE_IDENTITY } from "@runplane/runtime"
import { Sandbox } from "@runplane/sandbox"
import { createDatabase, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { inject } from "vitest"
import { PATIENCE, postRun } from "../observer/support/PlayedSession.ts"
import { command } from "../support/CommandLineReads.ts"
import { type Received, receiver } from "./support/Receiver.ts"
import { type Process, spawn, startProcess, unpackReleases } from "./support/Rolling.ts"
import { ALERT, awaitStatus, DECISION, play, sessionOf } from "./support/Yesterday.ts"

const RUNS = Array.from({ length: 12 }, (_, index) => `20000000-0000-4000-8000-${String(index).padStart(12, "0")}`)
const TTL_MS = 600_000
const SESSIONS = RUNS.map((id) => ({ id, messages: sessionOf(id, DECISION, TTL_MS) }))
const LENGTH = SESSIONS[0]?.messages.length ?? 0

const sandbox = Sandbox.layer({ port: 0, sweepIntervalMs: 50, observers: [CONTROL_PLANE_IDENTITY] })

/** Every message that the log has received, in its order, by run. */
const received = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const rows = yield* sql<{ readonly run: string; readonly message: string }>`
    SELECT run_id::text AS run, event::json->'data'->>'messageId' AS message FROM canonical_events
    WHERE event::json->>'type' = 'message.received' ORDER BY seq`
  return new Map(RUNS.map((id) => [id, rows.flatMap(({ message, run }) => (run === id ? [message] : []))]))
})

const isDone = ({ code }: { readonly code: number }) => code === 0

const idsUpTo = (count: number) => Array.from({ length: count }, (_, index) => `m${index + 1}`)

/** Waits until the log of each run has these messages of it; fails for one that is there twice or out of order. */
const awaitMessages = Effect.fnUntraced(function* (count: number) {
  const wanted = idsUpTo(count)
  const found = yield* until(received, (byRun) => [...byRun.values()].every((ids) => ids.length >= count)).pipe(
    Effect.timeout(PATIENCE),
    Effect.orDie
  )
  for (const [run, ids] of found) assert.deepStrictEqual(ids, wanted, run)
})

/** Waits until the process observes runs. */
const observes = (process: Process) =>
  Effect.gen(function* () {
    const { api } = yield* ControlPlaneClient
    yield* until(api.admin.processes(), ({ data }) => data.some((one) => one.isThis && one.observedRuns > 0))
  }).pipe(Effect.provideContext(process.client), Effect.timeout(PATIENCE), Effect.orDie)

/**
 * Each run has ended once, is numbered without a gap and fits its seal; the nth mark is the only one of its run; each
 * run has one alert and one delivery.
 */
const assertWhole = Effect.fnUntraced(function* (
  baseUrl: string,
  marks: ReadonlyArray<string>,
  deliveries: ReadonlyArray<Received>
) {
  const { api } = yield* ControlPlaneClient
  for (const id of RUNS) {
    yield* awaitStatus(id, "completed")
    const events = yield* api.events.list({ params: { id }, query: { afterSeq: 0, limit: 1000 } })
    const all = "data" in events ? events.data : events
    assert.deepStrictEqual(
      all.map(({ index }) => index),
      all.map((_, at) => at + 1)
    )
    assert.lengthOf(
      all.filter(({ type }) => type === "run.completed"),
      1
    )
    // A receipt that comes after the seal is sealed a moment later.
    yield* until(command(["runs", "verify", id, "--keys", baseUrl, "--url", baseUrl]), isDone).pipe(
      Effect.timeout(PATIENCE)
    )
  }
  for (const [index, id] of marks.entries()) {
    const { data } = yield* api.marks.list({ params: { id }, query: { limit: 10, offset: 0, history: false } })
    assert.deepStrictEqual(
      data.map(({ value }) => value),
      [`v${index + 1}`]
    )
  }
  const ledger = yield* command(["ledger", "verify", "--keys", baseUrl, "--url", baseUrl])
  assert.deepStrictEqual([ledger.code, ledger.complaint], [0, ""])
  // One alert and one delivery for each run.
  const alerts = yield* until(
    api.alerts.list({ query: { limit: 100, offset: 0 } }),
    ({ data }) => data.length >= RUNS.length && data.every(({ status }) => status === "resolved")
  )
  assert.sameMembers(
    alerts.data.map(({ runId }) => runId),
    RUNS
  )
  yield* until(
    Effect.sync(() => new Set(deliveries.map(({ runId }) => runId)).size),
    (count) => count === RUNS.length
  )
  assert.lengthOf(new Set(deliveries.map(({ delivery }) => delivery)), RUNS.length)
})

it.live("processes of two releases share a database during an upgrade, also when either is killed", () =>
  Effect.gen(function* () {
    const databaseUrl = yield* createDatabase
    const programs = inject("programs")
    assert.isDefined(programs)
    const releases = yield* unpackReleases(programs?.folder ?? "")
    const hooks = yield* receiver
    const database = Layer.fresh(PgClient.layer({ url: Redacted.make(databaseUrl), maxConnections: 1 }))
    let said = 0
    /** Plays the next messages of all sessions. */
    const say = Effect.fnUntraced(function* (count: number) {
      for (const { messages } of SESSIONS) yield* play(messages, said, said + count)
      said += count
    })
    const by = (process: Process) => Effect.provideContext(process.client)
    const marks: Array<string> = []
    const mark = Effect.fnUntraced(function* (process: Process, run: string) {
      const value = `v${marks.push(run)}`
      const { code, complaint } = yield* command(["marks", "add", run, "seen", value, "--url", process.baseUrl])
      assert.deepStrictEqual([code, complaint], [0, ""])
    })

    yield* Effect.gen(function* () {
      // The old release alone.
      const first = yield* startProcess(releases.old, databaseUrl)
      const second = yield* startProcess(releases.old, databaseUrl)
      yield* Effect.gen(function* () {
        const { api } = yield* ControlPlaneClient
        yield* api.webhooks.create({
          payload: { url: hooks.url("/hook"), events: ["run.completed"], secret: "of the upgrade" }
        })
        yield* api.alerts.addRule({ payload: ALERT })
        for (const id of RUNS) yield* postRun(id, { mode: DECISION, ttlMs: TTL_MS })
      }).pipe(by(first))
      yield* say(2)
      yield* awaitMessages(said)
      yield* Effect.forEach([first, second], observes)

      // A new process migrates the schema under the old ones.
      const third = yield* startProcess(releases.new, databaseUrl)
      yield* Effect.forEach([first, second, third], observes)
      yield* say(1)
      yield* awaitMessages(said)
      for (const [index, process] of [first, second, third].entries()) yield* mark(process, RUNS[index] ?? "")

      // No old process starts any more, and it says so in one line.
      const late = yield* spawn(releases.old, databaseUrl)
      const ended = yield* late.program.ended
      assert.notStrictEqual(ended.code, 0)
      assert.lengthOf(
        ended.stderr.concat(ended.stdout).filter((line) => line.includes("a newer Runplane")),
        1
      )

      // An old process is killed while it receives.
      yield* say(1)
      yield* first.program.kill("SIGKILL")
      yield* say(1)
      yield* awaitMessages(said)

      // The new one is killed while it receives: the old one observes all runs on the new schema.
      yield* say(1)
      yield* third.program.kill("SIGKILL")
      yield* say(1)
      yield* awaitMessages(said)
      yield* mark(second, RUNS[3] ?? "")

      // New processes replace the last old one.
      const fourth = yield* startProcess(releases.new, databaseUrl)
      yield* Effect.forEach([second, fourth], observes)
      yield* say(1)
      const { code } = yield* second.program.kill("SIGTERM")
      assert.strictEqual(code, 0)
      const fifth = yield* startProcess(releases.new, databaseUrl)
      yield* Effect.forEach([fourth, fifth], observes)
      yield* say(LENGTH - said)
      yield* awaitMessages(LENGTH)

      yield* assertWhole(fifth.baseUrl, marks, hooks.received).pipe(by(fifth))
      assert.isTrue(fourth.program.isAlive())
    }).pipe(Effect.provide(database))
  }).pipe(Effect.provide(Layer.mergeAll(Layer.fresh(sandbox), NodeHttpClient.layerNodeHttp)))
)

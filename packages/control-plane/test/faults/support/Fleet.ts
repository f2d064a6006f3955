import { randomUUID } from "node:crypto"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import { createDatabase, followSse, request, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { SHARDS } from "../../../src/observe/placement/ShardLocks.ts"
import { SHARD_LOCKS } from "../../../src/platform/postgres/AdvisoryLocks.ts"
import { layerDatabase } from "../../../src/platform/postgres/Database.ts"
import { postRun } from "../../support/HttpService.ts"
import { assertLogIsExact } from "../../support/LogChecks.ts"
import { ScriptedRuntime } from "../../support/ScriptedRuntime.ts"
import { webhookReceiver } from "../../support/WebhookReceiver.ts"
import { startService } from "./ServiceProcess.ts"

const MIGRATIONS = join(import.meta.dirname, "../../../../../migrations")

const LENGTH = 60
const HALF = LENGTH / 2
const SIGNALS = 5

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, position) => from + position)

/** How many shards of the runs each process holds, the fewest first. */
export const shares = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const rows = yield* sql<{ readonly shards: number }>`
    SELECT count(*)::int AS shards FROM pg_locks
    WHERE locktype = 'advisory' AND classid = ${SHARD_LOCKS}::int8::oid AND objsubid = 2 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    GROUP BY pid ORDER BY 1`
  return rows.map(({ shards }) => shards)
})

/**
 * Two processes on one database and one runtime, from their common start to the death of one of them. `runs` says how
 * many runs they share.
 */
export const shareTheWork = Effect.fnUntraced(function* (runs: number) {
  const databaseUrl = yield* createDatabase
  const runtime = yield* ScriptedRuntime.start
  const hooks = yield* webhookReceiver()
  const environment = {
    DATABASE_URL: databaseUrl,
    RUNTIME_ADDRESS: runtime.address,
    RUN_TAKE_OVER_INTERVAL_MS: "200",
    WEBHOOK_POLL_MS: "200",
    THROTTLE_LIMIT: "1000000",
    DATA_RETENTION_ENABLED: "true"
  }
  const a = yield* startService({ ...environment, DB_POOL_MAX: "4" })
  // The smallest pool there is.
  const b = yield* startService({ ...environment, DB_POOL_MAX: "1" })
  yield* Effect.addFinalizer((exit) =>
    Effect.sync(() => {
      if (exit._tag === "Failure") console.error(a.output().slice(-4_000), "\n=====\n", b.output().slice(-4_000))
    })
  )
  const [urlA, urlB] = yield* Effect.all([a.url, b.url], { concurrency: 2 })
  const migrations = [a, b].map((each) => each.output().match(/applied migration \d+/g)?.length ?? 0)
  // Two processes that start at once: one of them migrates.
  const files = readdirSync(MIGRATIONS).filter((file) => file.endsWith(".sql"))
  assert.deepStrictEqual(
    migrations.toSorted((one, other) => one - other),
    [0, files.length]
  )

  return yield* Effect.gen(function* () {
    yield* until(shares, (each) => each.length === 2 && each[0] === SHARDS / 2)
    yield* request("POST", `${urlA}/webhooks`, { body: { url: hooks.url, events: [], secret: "s" } })

    // The same post, to both at the same time.
    const sessions = Array.from({ length: runs }, () => randomUUID())
    const answers = yield* Effect.forEach(
      sessions,
      (sessionId) => {
        runtime.openSession(sessionId, LENGTH)
        const execution = { idempotencyKey: `key-${sessionId}` }
        return Effect.all([postRun(urlA, sessionId, execution), postRun(urlB, sessionId, execution)], {
          concurrency: 2
        })
      },
      { concurrency: 4 }
    )
    for (const [left, right] of answers) {
      assert.deepStrictEqual([left.status, right.status], [202, 202], JSON.stringify([left.body, right.body]))
      assert.strictEqual(left.body.runId, right.body.runId)
      assert.strictEqual(left.body.traceId, right.body.traceId)
    }
    const runIds = answers.map(([{ body }]) => RunId.make(body.runId))

    const readers = yield* Effect.forEach(runIds, (runId) =>
      Effect.all([
        followSse(`${urlA}/runs/${runId}/stream?afterSeq=0`),
        followSse(`${urlB}/runs/${runId}/stream?afterSeq=0`)
      ])
    )
    yield* until(
      Effect.sync(() => sessions.every((id) => runtime.open.get(id) === 1) && runtime.signalWatchers === 2),
      (ready) => ready
    )
    assert.deepStrictEqual(yield* shares, [SHARDS / 2, SHARDS / 2])
    for (const id of sessions) {
      runtime.accept(id, HALF)
      for (const number of numbers(1, SIGNALS)) runtime.signal(id, number)
    }
    // Subscribers of both processes receive all events of a run, whichever process observes it.
    yield* Effect.forEach(readers.flat(), (reader) => reader.until((events) => messagesIn(events) >= HALF + SIGNALS), {
      concurrency: "unbounded",
      discard: true
    })
    for (const id of sessions) assert.strictEqual(runtime.open.get(id), 1, "a session with two observers")

    yield* a.kill("SIGKILL")
    for (const id of sessions) runtime.accept(id, LENGTH)
    for (const [, reader] of readers) assert.strictEqual(yield* reader.closed, "end")
    for (const [position, runId] of runIds.entries()) {
      const { decoded, head } = yield* assertLogIsExact(runId)
      assert.deepStrictEqual([head?.status, Number(head?.stream_cursor)], ["completed", LENGTH])
      assert.deepStrictEqual(readers[position]?.[1].indexes(), numbers(1, decoded.length))
      assert.deepStrictEqual(
        decoded
          .filter(({ recorded: { data }, type }) => type === "message.received" && data["messageType"] !== "Signal")
          .map(({ recorded: { data } }) => data["messageId"]),
        numbers(1, LENGTH).map((ordinal) => `message-${ordinal}`)
      )
      // Both processes received each signal.
      assert.strictEqual(decoded.filter(({ type }) => type === "signal.emitted").length, SIGNALS)
      assert.strictEqual(decoded.filter(({ type }) => type === "run.completed").length, 1)
    }

    const deliveries = yield* Effect.forEach(numbers(1, 2 * runs), () => Queue.take(hooks.requests))
    const delivered = deliveries.map(({ body }) => JSON.parse(body)).map(({ event, runId }) => `${runId} ${event}`)
    assert.deepStrictEqual(
      [...delivered].sort(),
      runIds.flatMap((runId) => [`${runId} run.completed`, `${runId} run.started`]).sort()
    )
    assert.strictEqual((yield* b.kill("SIGTERM")).code, 0)
    assert.strictEqual(yield* Queue.size(hooks.requests), 0)
  }).pipe(Effect.provide(layerDatabase({ url: databaseUrl, maxConnections: 2 })))
})

const messagesIn = (events: ReadonlyArray<{ readonly type: string }>) =>
  events.filter(({ type }) => type === "message.received").length

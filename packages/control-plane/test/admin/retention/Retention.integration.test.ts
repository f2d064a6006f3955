import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { ExpiredRuns } from "../../../src/admin/retention/ExpiredRuns.ts"
import { Retention } from "../../../src/admin/retention/Retention.ts"
import { Metrics } from "../../../src/platform/metrics/Metrics.ts"
import { layerExpiries } from "../../../src/Reactions.ts"
import { appendMessages } from "../../support/Appends.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { lockRun } from "../../support/RowLock.ts"
import { createRun } from "../../support/Runs.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"

// The test clock stands at 1970-01-01, and 30 days are kept. (Moving it by years would run the pool's timers for
// years.)
const OLDER = "1969-12-01T23:59:58.000Z"
const OLD = "1969-12-01T23:59:59.000Z"
const YOUNG = "1969-12-02T00:00:01.000Z"

const service = Retention.layer({
  enabled: true,
  ttlDays: 30,
  intervalHours: 24,
  batchSize: 2,
  onlyFiled: false
}).pipe(
  Layer.provide([ExpiredRuns.layer, layerExpiries]),
  Layer.provideMerge(layerTestLog),
  Layer.provideMerge(Metrics.layer),
  Layer.provideMerge(layerTestDatabase)
)

/** The other rows of a sweep. */
const expired = (auditEntries: number, alerts: number, deliveries: number) => [
  { kind: "audit_entry", title: "audit entries", removed: auditEntries },
  { kind: "alert", title: "alerts", removed: alerts },
  { kind: "webhook_delivery", title: "webhook deliveries", removed: deliveries }
]

/** A run with three messages, as if it had ended then. */
const run = Effect.fnUntraced(function* (status: string, endedAt: string | null) {
  const sql = yield* PgClient.PgClient
  const id = yield* createRun()
  yield* appendMessages(id, 3, 3)
  yield* sql`UPDATE runs SET status = ${status}, ended_at = ${endedAt}::timestamptz WHERE id = ${id}::uuid`
  yield* sql`
    INSERT INTO artifacts (id, run_id, kind, label, created_at)
    VALUES (${randomUUID()}::uuid, ${id}::uuid, 'trace', 't', ${OLD}::timestamptz)`
  return id
})

const tables = [
  "run_heads",
  "canonical_events",
  "projections",
  "run_metrics",
  "artifacts",
  "key_events",
  "run_participants"
] as const

const rowsOf = Effect.fnUntraced(function* (id: RunId) {
  const sql = yield* PgClient.PgClient
  let count = 0
  for (const table of tables) {
    const [row] = yield* sql<{ readonly rows: number }>`
      SELECT count(*)::int AS rows FROM ${sql(table)} WHERE run_id = ${id}::uuid`
    count += row?.rows ?? 0
  }
  const [row] = yield* sql<{ readonly rows: number }>`SELECT count(*)::int AS rows FROM runs WHERE id = ${id}::uuid`
  return count + (row?.rows ?? 0)
})

const sweep = Retention.use((retention) => retention.sweep)

const emptied = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql`TRUNCATE runs, canonical_events, raw_events, outbound_messages, projections, run_metrics, audit_log,
                      webhooks CASCADE`
})

layer(service)("a retention sweep", (it) => {
  it.effect("deletes terminal runs past their time with all of their rows, in batches, and nothing else", () =>
    Effect.gen(function* () {
      yield* emptied
      const gone = yield* Effect.all(
        ["completed", "failed", "cancelled", "completed", "failed"].map((s) => run(s, OLD))
      )
      const kept = yield* Effect.all([run("completed", YOUNG), run("running", null), run("suspended", null)])
      const swept = yield* sweep
      assert.deepStrictEqual(swept, { runs: 5, events: 20, waiting: 0, expired: expired(0, 0, 0) })
      for (const id of gone) assert.strictEqual(yield* rowsOf(id), 0)
      for (const id of kept) assert.isAbove(yield* rowsOf(id), 5)
      const sql = yield* PgClient.PgClient
      const tombstones = yield* sql`
        SELECT run_id::text AS id, status, events, reason, deleted_by FROM run_tombstones
        WHERE run_id = ANY(${[...gone, ...kept]}::text[]::uuid[])`
      assert.sameDeepMembers(
        [...tombstones],
        ["completed", "failed", "cancelled", "completed", "failed"].map((status, position) => ({
          id: gone[position],
          status,
          events: 4,
          reason: "expired",
          deleted_by: "retention"
        }))
      )
      const { scrape } = yield* Metrics
      const text = yield* scrape({
        activeRuntimeStreams: 0,
        oldestAppendMs: 0,
        waitingAppends: 0,
        pool: { inUse: 0, waiting: 0, max: 0 },
        webhookBacklog: 0,
        circuitState: "CLOSED",
        circuitSuccesses: 0,
        circuitFailures: 0
      })
      assert.include(text, 'retention_removed_total{kind="run"} 5')
      assert.include(text, 'retention_removed_total{kind="event"} 20')
    })
  )

  it.effect("deletes audit entries and webhook deliveries by the time of their creation, and alerts by their end", () =>
    Effect.gen(function* () {
      yield* emptied
      const sql = yield* PgClient.PgClient
      const webhook = randomUUID()
      yield* sql`
        INSERT INTO webhooks (id, url, secret, created_at, updated_at) VALUES (${webhook}::uuid, 'u', 's', now(), now())`
      for (const at of [OLD, OLD, YOUNG]) {
        yield* sql`
          INSERT INTO audit_log (actor, actor_type, action, resource, details, created_at)
          VALUES ('a', 'api-key', 'run.create', 'run', '{}', ${at}::timestamptz)`
        yield* sql`
          INSERT INTO webhook_deliveries (webhook_id, run_id, event, payload, status, created_at, queued_at)
          VALUES (${webhook}::uuid, ${randomUUID()}::uuid, 'run.completed', '{}', 'delivered', ${at}::timestamptz,
                  ${at}::timestamptz)`
      }
      yield* sql`
        INSERT INTO webhook_deliveries (webhook_id, run_id, event, payload, status, created_at, queued_at)
        VALUES (${webhook}::uuid, ${randomUUID()}::uuid, 'run.failed', '{}', 'pending', ${OLD}::timestamptz,
                ${YOUNG}::timestamptz)`
      for (const [period, end] of [
        ["long ago", OLD],
        ["open", null],
        ["just over", YOUNG]
      ]) {
        yield* sql`
          INSERT INTO alert_firings (id, rule_id, key, period, level, severity, firing, actions, starts_at, silenced, resolved_at)
          VALUES (${randomUUID()}::uuid, 'r', '', ${period}, 0, 'info', '{}', '[]', ${OLD}::timestamptz, false,
                  ${end}::timestamptz)`
      }
      assert.deepStrictEqual(yield* sweep, {
        runs: 0,
        events: 0,
        waiting: 0,
        expired: expired(2, 1, 2)
      })
      const left = yield* sql`SELECT event FROM webhook_deliveries ORDER BY ordinal`
      assert.deepStrictEqual(left, [{ event: "run.completed" }, { event: "run.failed" }], "queued again: still owed")
      const alerts = yield* sql`SELECT period FROM alert_firings ORDER BY period`
      assert.deepStrictEqual(alerts, [{ period: "just over" }, { period: "open" }])
    })
  )

  it.effect("passes over what a writer holds, without waiting, and finds it the next time", () =>
    Effect.gen(function* () {
      yield* emptied
      const sql = yield* PgClient.PgClient
      const held = yield* run("completed", OLD)
      const free = yield* run("completed", OLD)
      const locked = yield* Deferred.make<void>()
      const done = yield* Deferred.make<void>()
      const writer = yield* Effect.forkChild(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT 1 FROM run_heads WHERE run_id = ${held}::uuid FOR NO KEY UPDATE`
            yield* Deferred.succeed(locked, undefined)
            yield* Deferred.await(done)
          })
        )
      )
      yield* Deferred.await(locked)
      assert.deepInclude(yield* sweep, { runs: 1 })
      assert.strictEqual(yield* rowsOf(free), 0)
      assert.isAbove(yield* rowsOf(held), 0)
      yield* Deferred.succeed(done, undefined)
      yield* Fiber.join(writer)
      assert.deepInclude(yield* sweep, { runs: 1 })
    })
  )

  it.effect("continues after a whole batch that is locked", () =>
    Effect.gen(function* () {
      yield* emptied
      const held = [yield* run("completed", OLDER), yield* run("completed", OLDER)]
      const free = yield* run("completed", OLD)
      const release = yield* Effect.forEach(held, (id) => lockRun(id))
      assert.deepInclude(yield* sweep, { runs: 1 })
      assert.strictEqual(yield* rowsOf(free), 0)
      yield* Effect.all(release)
      assert.deepInclude(yield* sweep, { runs: 2 })
    })
  )
})

import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RunAdministration } from "../../../src/event-log/runs/RunAdministration.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { endedRun } from "../../support/EndedRuns.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"

const AT = "2026-07-02T10:00:00.000Z"

/** Each table of the alerts that has rows of runs. */
const TABLES = ["memories", "marks", "deadlines", "reservations", "claimed_runs", "commands", "firings"]

/** A row of the run in each table; the alerts have a firing of the run and one of a period. */
const seed = Effect.fnUntraced(function* (runId: RunId) {
  const sql = yield* PgClient.PgClient
  const firing = randomUUID()
  yield* sql`
    INSERT INTO alert_rules (id, rule, enabled, from_seq, created_at, updated_at)
    VALUES ('budget', '{}', false, 0, ${AT}, ${AT}) ON CONFLICT DO NOTHING`
  yield* sql`INSERT INTO alert_memories (run_id, memory, updated_at) VALUES (${runId}::uuid, '{}', ${AT})`
  yield* sql`INSERT INTO alert_marks (run_id, name, at, value, n) VALUES (${runId}::uuid, 'tone', ${AT}, 1, 1)`
  yield* sql`INSERT INTO alert_deadlines (rule_id, run_id, due_at) VALUES ('budget', ${runId}::uuid, ${AT})`
  yield* sql`
    INSERT INTO alert_reservations (rule_id, run_id, key, period, amount, created_at)
    VALUES ('budget', ${runId}::uuid, 'all', '2026-07', 1, ${AT})`
  yield* sql`INSERT INTO alert_claimed_runs (run_id, up_to) VALUES (${runId}::uuid, 0)`
  for (const [id, period] of [
    [firing, `${runId}/1`],
    [randomUUID(), `2026-07-${runId}`]
  ] as const) {
    yield* sql`
      INSERT INTO alert_firings (id, rule_id, key, period, level, severity, firing, actions, run_id, starts_at, silenced)
      VALUES (${id}::uuid, 'budget', 'all', ${period}, 1, 'warning', '{}', '[]', ${runId}::uuid, ${AT}, false)`
  }
  yield* sql`
    INSERT INTO alert_commands (id, firing_id, action, run_id, command, created_at, next_attempt_at)
    VALUES (${randomUUID()}::uuid, ${firing}::uuid, 0, ${runId}::uuid, '{}', ${AT}, ${AT})`
})

const rowsOf = Effect.fnUntraced(function* (runId: RunId) {
  const sql = yield* PgClient.PgClient
  const counts: Array<number> = []
  for (const table of TABLES) {
    counts.push((yield* sql`SELECT FROM ${sql(`alert_${table}`)} WHERE run_id = ${runId}::uuid`).length)
  }
  return counts
})

const remove = Effect.fnUntraced(function* (runId: RunId, reason: "deleted" | "expired") {
  const sql = yield* PgClient.PgClient
  const { lock, remove } = yield* RunAdministration
  yield* sql.withTransaction(Effect.andThen(lock([runId]), remove([runId], { reason, by: "test", at: AT })))
})

const deletedRuns = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const rows = yield* sql<{ readonly id: string }>`SELECT run_id::text AS id FROM alert_deleted_runs ORDER BY run_id`
  return rows.map(({ id }) => id)
})

layer(layerTestLog.pipe(Layer.provideMerge(layerTestDatabase)))("the deletion of a run with alerts", (it) => {
  it.effect("deletes its rows, keeps the firings of periods, and is noted when a caller deletes it", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const [kept, expired, deleted] = [yield* endedRun, yield* endedRun, yield* endedRun]
      for (const runId of [kept, expired, deleted]) yield* seed(runId)
      yield* remove(expired, "expired")
      yield* remove(deleted, "deleted")
      for (const runId of [expired, deleted]) {
        assert.deepStrictEqual(yield* rowsOf(runId), [0, 0, 0, 0, 0, 0, 0])
        assert.lengthOf(yield* sql`SELECT FROM alert_firings WHERE period = ${`2026-07-${runId}`}`, 1)
      }
      assert.deepStrictEqual(yield* rowsOf(kept), [1, 1, 1, 1, 1, 1, 2])
      assert.deepStrictEqual(yield* deletedRuns, [deleted])

      // A caller deletes the run whose events only files have.
      const { removeArchived } = yield* RunAdministration
      yield* sql`INSERT INTO archive_state (cell, url, seq) VALUES ('main', 'file:///archive', 1000000)`
      assert.strictEqual(yield* removeArchived(expired, { reason: "deleted", by: "test", at: AT }), "cancelled")
      assert.sameMembers(yield* deletedRuns, [deleted, expired])
    })
  )
})

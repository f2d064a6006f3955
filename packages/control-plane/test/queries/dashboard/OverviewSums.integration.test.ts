import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { RunAdministration } from "../../../src/event-log/runs/RunAdministration.ts"
import { TALLY_LOCK } from "../../../src/platform/postgres/AdvisoryLocks.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { aDeletion } from "../../support/Runs.ts"
import { at, decision, llmCall, seedRun, seeds, signal } from "./RunSeeds.ts"

layer(layerTestService(), { excludeTestServices: true })("the sums of the overview", (it) => {
  const bounds = ["2026-07-01", at("10:05:00")]
  const ends = [at("13:00:00"), "2026-08-01"]
  const filters = ["", "&scenarioRef=loans/fast@1"]
  const queries = bounds.flatMap((from) =>
    ends.flatMap((to) => filters.map((filter) => `/dashboard/overview?from=${from}&to=${to}${filter}`))
  )
  /** Every overview, and every count of runs, without the times of the runs. */
  const answers = Effect.gen(function* () {
    const lists = [
      "",
      "?includeArchived=true",
      ...["completed", "failed", "queued"].map((status) => `?status=${status}`)
    ]
    const overviews = yield* Effect.forEach(queries, (query) => Effect.map(call("GET", query), ({ body }) => body), {
      concurrency: 4
    })
    const totals = yield* Effect.forEach(lists, (query) =>
      Effect.map(call("GET", `/runs${query}`), ({ body }) => body.total)
    )
    return { overviews, totals }
  })
  /** Sums of the current runs and key events. */
  const addedUpAnew = Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    yield* sql.withTransaction(startOver)
    return yield* answers
  })
  const startOver = Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    yield* sql`SELECT pg_advisory_xact_lock(${TALLY_LOCK})`
    yield* sql`TRUNCATE tally_changes, tallied_runs, run_tallies, run_totals, key_event_tallies, removed_key_events`
    yield* sql`UPDATE tallied_key_events SET seq = 0`
    yield* sql`
      INSERT INTO tally_changes (run_id) SELECT id FROM runs WHERE status IN ('completed', 'failed', 'cancelled')`
  })
  const fold = Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    // It does nothing while the service runs it.
    yield* until(
      Effect.andThen(sql`SELECT fold_tallies(3)`, sql`SELECT FROM tally_changes`),
      (left) => left.length === 0
    )
  })

  it.effect("are equal before and after changed runs are added to them", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const log = yield* EventLog
      const upkeep = yield* RunAdministration
      const ids = yield* Effect.forEach(seeds, seedRun)
      const [first, second, third] = ids
      const ended = yield* seedRun({ status: "cancelled", createdAt: at("12:00:00"), endedAt: at("12:20:00") })
      assert(first !== undefined && second !== undefined && third !== undefined)
      let before = yield* answers
      const happenings = [
        // Late events of an ended run add tokens.
        log.record({ runId: ended, events: [llmCall(at("12:30:00"), 40), signal(at("12:31:00"))] }),
        log.record({ runId: ended, events: [decision(at("12:32:00"), false)] }),
        Effect.all([
          sql`UPDATE run_metrics SET total_tokens = 70, estimated_cost_usd = 0.7, guessed_cost_usd = 0.2
              WHERE run_id = ${third}::uuid`,
          sql`INSERT INTO tally_changes (run_id) VALUES (${third}::uuid)`
        ]),
        upkeep.setArchived(second, true, at("19:00:00")),
        sql.withTransaction(upkeep.remove([first], aDeletion)),
        seedRun({ status: "completed", createdAt: at("10:59:59"), startedAt: at("11:00:00"), endedAt: at("11:59:59") }),
        sql`UPDATE runs SET status = 'failed', ended_at = ${at("14:00:00")}::timestamptz WHERE status = 'running'`,
        sql.withTransaction(upkeep.remove([second, third], aDeletion))
      ]
      for (const happening of happenings) {
        yield* happening
        const live = yield* answers
        assert.notDeepEqual(live, before)
        yield* fold
        assert.deepStrictEqual(yield* answers, live)
        assert.deepStrictEqual(yield* addedUpAnew, live)
        yield* fold
        before = live
      }
    })
  )
})

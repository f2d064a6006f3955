import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { AT, COST, commits, LEAD, opened, RISK, votes } from "../../support/Committee.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"

const RUNS = 10_000
/** Far above what a read takes, and far below a scan for each run, on a busy machine. Milliseconds. */
const SLOWEST_MS = 5_000

/**
 * Copies a decided run: each copy has its rows of the run, its log, its tallies and one mark. Of the marks 1 in 4 says
 * that the decision was wrong, and a judge has marked the first 5,000 as well.
 */
const fill = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const model = yield* createRun()
  yield* (yield* EventLog).record({
    runId: RunId.make(model),
    events: [...opened, votes(RISK, "APPROVE"), votes(COST, "APPROVE"), votes(LEAD, "REJECT"), commits]
  })
  yield* sql`
    INSERT INTO run_participants SELECT ${model}::uuid, unnest(${[RISK, COST, LEAD]}::text[]), 1, 0, 0, 0
    ON CONFLICT DO NOTHING`
  yield* sql`
    CREATE TEMP TABLE copies AS SELECT gen_random_uuid() AS id, n FROM generate_series(2, ${RUNS}::int) AS n`
  yield* sql`
    INSERT INTO runs (id, status, mode, mode_name, runtime_kind, runtime_session_id, trace_id, span_id, tags, metadata,
                      search_text, created_at, updated_at)
    SELECT c.id, 'completed', r.mode, r.mode_name, r.runtime_kind, c.id::text, r.trace_id, r.span_id, r.tags, r.metadata,
           '', ${AT}::timestamptz + c.n * interval '1 second', r.updated_at
    FROM copies c, runs r WHERE r.id = ${model}::uuid`
  yield* sql`
    INSERT INTO run_heads (run_id, last_index)
    SELECT c.id, h.last_index FROM copies c, run_heads h WHERE h.run_id = ${model}::uuid`
  yield* sql`
    INSERT INTO canonical_events (seq, run_id, index, ts, type, event)
    SELECT nextval('event_seq'), c.id, e.index, e.ts, e.type, e.event
    FROM copies c, canonical_events e WHERE e.run_id = ${model}::uuid ORDER BY c.n, e.index`
  yield* sql`
    INSERT INTO key_events (run_id, seq, ts, type, positive)
    SELECT run_id, seq, ts, type, true FROM canonical_events
    WHERE type = 'decision.finalized' AND run_id <> ${model}::uuid`
  yield* sql`
    INSERT INTO run_participants
    SELECT c.id, p.participant_id, 1, 0, 0, 0 FROM copies c, run_participants p WHERE p.run_id = ${model}::uuid`
  yield* sql`
    INSERT INTO marks (id, run_id, position, target_kind, index, name, flag, number, source, judge_name, author,
                       created_at, content_sha256)
    SELECT gen_random_uuid(), id, kind, 'decision', NULL, CASE kind WHEN 3 THEN 'quality' ELSE 'correct' END,
           CASE WHEN kind < 3 THEN n % 4 > 0 END, CASE kind WHEN 3 THEN n / ${RUNS}::float8 END,
           CASE kind WHEN 2 THEN 'judge' ELSE 'human' END, CASE kind WHEN 2 THEN 'strict' END, 'key:5e884898',
           ${AT}::timestamptz + n * interval '1 second', ''
    FROM (SELECT ${model}::uuid AS id, 1 AS n UNION ALL SELECT id, n FROM copies) AS r, generate_series(1, 3) AS kind
    WHERE kind = 1 OR n <= 5000`
  yield* sql`ANALYZE`.unprepared
})

layer(layerTestService(), { excludeTestServices: true, timeout: 600_000 })(`${RUNS} runs with marks`, (it) => {
  it.effect(
    "are listed, searched, sorted and compared, and their record is read, each far below a scan for each run",
    () =>
      Effect.gen(function* () {
        yield* fill
        const clock = yield* Clock.Clock
        const get = Effect.fnUntraced(function* (path: string, query: Readonly<Record<string, string>> = {}) {
          const startedAt = clock.currentTimeMillisUnsafe()
          const before = process.cpuUsage()
          const { body, status, text } = yield* call("GET", `${path}?${new URLSearchParams(query)}`)
          const took = clock.currentTimeMillisUnsafe() - startedAt
          assert.strictEqual(status, 200, text)
          const { system, user } = process.cpuUsage(before)
          const cpu = Math.round((system + user) / 1_000)
          yield* Effect.logInfo(`${path} ${JSON.stringify(query)}: ${took} ms, ${cpu} ms of the process's CPU`)
          return { body, took }
        })
        const reads: ReadonlyArray<readonly [path: string, query: Readonly<Record<string, string>>, total: number]> = [
          ["/marks", {}, 20_000],
          ["/marks", { q: "name:correct value:false source:human" }, 2_500],
          ["/marks", { q: "name:quality value:>0.49", offset: "50" }, 100],
          ["/runs", { q: "mark.correct:false" }, 2_500],
          ["/runs", { q: "-mark.correct:false has:mark" }, 7_500],
          ["/runs", { q: "mark.quality:>0.49" }, 100],
          ["/runs", { sortBy: "mark.quality" }, RUNS]
        ]
        for (const [path, query, total] of reads) {
          const { body, took } = yield* get(path, query)
          assert.strictEqual(body.total, total, JSON.stringify(query))
          assert.isBelow(took, SLOWEST_MS)
        }
        const agreement = yield* get("/marks/agreement")
        assert.deepInclude(agreement.body.data[0].pairs[0], { n: 5_000, agreed: 5_000 })
        assert.isBelow(agreement.took, SLOWEST_MS)
        const path = `/agents/${encodeURIComponent(RISK)}/record`
        const latest = yield* get(path)
        assert.deepInclude(latest.body, { examined: 1_000, truncated: true })
        assert.isBelow(latest.took, 2 * SLOWEST_MS)
        const record = yield* get(path, { limit: String(RUNS) })
        assert.deepInclude(record.body, { examined: RUNS, runs: RUNS, judged: RUNS, right: 7_500, truncated: false })
        assert.isBelow(record.took, 12 * SLOWEST_MS)
      }),
    600_000
  )
})

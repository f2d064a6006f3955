import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { runOfKey } from "../../../src/features/ingest/TraceRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { assertLogIsExact } from "../../support/LogChecks.ts"
import { type RecordedRun, recordings } from "./Golden.ts"
import { post } from "./support/Exports.ts"

/** Seven traces of one program without a root: each is a run. */
const NO_ROOT = ["openai-v2/no-root", "litellm/committee"]
/** The emitter has no agents, or names them in texts that it does not send. */
const WITHOUT_AGENTS = /^openai-v2\/|^crewai-openinference\/nocontent$/
/** The emitter loses tokens. */
const WITHOUT_TOKENS = /^crewai-openinference\/crewai-only$|^openai-v2\/stream$/

const golden = recordings().filter(({ name }) => !NO_ROOT.includes(name))

const sendAll = (isReversed: boolean) =>
  Effect.forEach(
    golden,
    ({ name, requests }) =>
      Effect.forEach(isReversed ? requests.toReversed() : requests, ({ body, headers, path }) =>
        Effect.map(post(body, { headers, path }), (answer) =>
          assert.strictEqual(answer.status, 200, `${name} ${answer.text}`)
        )
      ),
    { concurrency: 4, discard: true }
  )

/** The run of one of its traces: the others have joined it. */
const runOf = Effect.fnUntraced(function* ({ traceIds }: RecordedRun) {
  const sql = yield* PgClient.PgClient
  const ids = traceIds.map((traceId) => runOfKey("anonymous", traceId))
  const ended = sql<{ readonly id: RunId; readonly status: string }>`
    SELECT id::text AS id, status FROM runs WHERE id = ANY(${ids}::text[]::uuid[])`
  const rows = yield* until(ended, (found) => found.length > 0 && found.every(({ status }) => status !== "running"))
  assert.strictEqual(rows.length, 1)
  return rows[0]?.id ?? assert.fail("no run")
})

const counts = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  return yield* sql`
    SELECT (SELECT count(*)::int FROM runs) AS runs, (SELECT count(*)::int FROM canonical_events) AS events,
           (SELECT count(*)::int FROM otlp_seen) AS seen`
})

const isDrained = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  return yield* sql`SELECT FROM otlp_inbox LIMIT 1`
})

layer(layerTestService({ settings: { OTLP_SETTLE_MS: "2000", OTLP_IDLE_MS: "4000", OTLP_PARENT_WAIT_MS: "4000" } }), {
  excludeTestServices: true
})("recorded exports of real emitters", (it) => {
  it.effect.skipIf(golden.length === 0)("become the runs that they recorded, and repetitions change nothing", () =>
    Effect.gen(function* () {
      yield* sendAll(false)
      for (const { name, runs } of golden) {
        for (const run of runs) {
          const runId = yield* runOf(run)
          const [record, state, metrics] = yield* Effect.forEach(["", "/state", "/metrics"], (part) =>
            call("GET", `/runs/${runId}${part}`)
          )
          assert.strictEqual(record?.body.status, run.status, name)
          if (!WITHOUT_AGENTS.test(name)) {
            const seen = state?.body.participants.map(({ participantId }: { participantId: string }) => participantId)
            assert.includeMembers(seen, [...run.participants], name)
          }
          if (WITHOUT_TOKENS.test(name)) continue
          const { completionTokens, promptTokens } = metrics?.body ?? {}
          assert.deepStrictEqual([promptTokens, completionTokens], [run.totals.input, run.totals.output], name)
          yield* assertLogIsExact(runId)
        }
      }
      for (const q of [
        "source:anonymous",
        'model:"gpt-4o-2024-08-06"',
        "has:framework",
        "has:conversation",
        "has:prompt"
      ]) {
        const found = yield* call("GET", `/runs?q=${encodeURIComponent(q)}&limit=1`)
        assert.isAtLeast(found.body.total, 1, q)
      }
      yield* until(isDrained, (rows) => rows.length === 0)
      const before = yield* counts
      yield* sendAll(true)
      yield* until(isDrained, (rows) => rows.length === 0)
      assert.deepStrictEqual(yield* counts, before)
    })
  )
})

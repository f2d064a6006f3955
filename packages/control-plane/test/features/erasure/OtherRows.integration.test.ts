import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { addRule, record, runningRun, spends } from "../../support/AlertRules.ts"
import { COST, said } from "../../support/Committee.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { subscribe } from "../../support/Webhooks.ts"
import { eraseText, PERSON, personRun, REASON, rowsWith } from "./PersonRuns.ts"

const countOf = (answer: { rows: ReadonlyArray<{ of: string; count: number }> }, of: string) =>
  answer.rows.find((row) => row.of === of)?.count ?? 0

/** The rows with the person that are not audit entries, whose digests are in the ledger. */
const leftRows = Effect.map(rowsWith(PERSON), (rows) => rows.filter((row) => !row.startsWith("public.audit_log")))

layer(layerTestService({ settings: { WEBHOOK_ALLOW_PRIVATE_TARGETS: "true" } }), { excludeTestServices: true })(
  "an erasure beside the log",
  (it) => {
    it.effect("reaches notifications that wait, and those that were delivered", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const { id } = yield* subscribe("http://127.0.0.1:9/hooks/runs", ["run.failed"])
        const runId = yield* personRun()
        yield* until(
          sql`SELECT FROM webhook_deliveries WHERE webhook_id = ${id}::uuid AND attempts > 0`,
          (rows) => rows.length > 0
        )
        yield* sql`UPDATE webhook_deliveries SET error_message = ${`refused ${PERSON}`} WHERE webhook_id = ${id}::uuid`
        const { erased } = yield* eraseText(runId)
        assert.isAbove(countOf(erased, "delivery"), 0)
        const [row] = yield* sql<{ readonly payload: string }>`
        SELECT payload::text AS payload FROM webhook_deliveries WHERE webhook_id = ${id}::uuid`
        assert.deepInclude(JSON.parse(row?.payload ?? "{}"), { event: "run.failed", runId, data: { error: "" } })
        assert.deepStrictEqual(yield* leftRows, [])
        yield* call("DELETE", `/webhooks/${id}`)
      })
    )

    it.effect("reaches an alert that is open, which stays open", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const rule = yield* addRule()
        const runId = yield* runningRun
        yield* record(
          runId,
          spends(5),
          said("proposal.updated", "Objection", COST, { severity: "low", reason: PERSON })
        )
        yield* until(
          sql`SELECT FROM alert_firings WHERE rule_id = ${rule.id} AND resolved_at IS NULL`,
          (rows) => rows.length === 1
        )
        yield* sql`UPDATE alert_firings SET note = ${`call ${PERSON}`} WHERE rule_id = ${rule.id}`
        const { erased } = yield* eraseText(runId)
        assert.strictEqual(countOf(erased, "alert"), 1)
        const open = yield* sql<{ readonly note: string; readonly firing: string }>`
        SELECT note, firing::text AS firing FROM alert_firings WHERE rule_id = ${rule.id} AND resolved_at IS NULL`
        assert.lengthOf(open, 1)
        assert.strictEqual(open[0]?.note, "")
        assert.strictEqual(JSON.parse(open[0]?.firing ?? "{}").runId, runId)
        assert.deepStrictEqual(yield* leftRows, [])
      })
    )

    it.effect("reaches spans that wait for their run, and what was kept of others", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const runId = yield* personRun()
        const trace = "0af7651916cd43dd8448eb211c80319c"
        yield* sql`INSERT INTO otlp_traces (source, trace_id, run_id) VALUES ('test', ${trace}, ${runId}::uuid)`
        yield* sql`
        INSERT INTO otlp_inbox (source, trace_id, span_id, kind, received_at, bytes, span)
        VALUES ('test', ${trace}, 'b7ad6b7169203331', 'span', now() + interval '1 hour', 10,
                ${JSON.stringify({ traceId: trace, attributes: { prompt: `mail to ${PERSON}` } })}::text::json)`
        yield* sql`
        INSERT INTO otlp_seen (run_id, position, key, node)
        VALUES (${runId}::uuid, 0, 'k', ${JSON.stringify({ key: "k", kind: "tool", errorMessage: PERSON })}::text::json)`
        const { erased } = yield* eraseText(runId)
        assert.strictEqual(countOf(erased, "seen span"), 1)
        assert.deepStrictEqual(yield* leftRows, [])
        yield* sql`DELETE FROM otlp_inbox`
      })
    )

    it.effect("reaches the decision of the run in lists, also while it is being made", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const runId = yield* personRun()
        yield* until(sql`SELECT FROM run_decisions WHERE run_id = ${runId}::uuid`, (rows) => rows.length === 1)
        // A new event makes the row due again, and the erasure comes at the same time.
        yield* (yield* EventLog).record({
          runId,
          events: [said("proposal.updated", "Objection", COST, { severity: "low", reason: PERSON })]
        })
        yield* eraseText(runId)
        yield* until(sql`SELECT FROM run_decision_changes WHERE run_id = ${runId}::uuid`, (rows) => rows.length === 0)
        assert.deepStrictEqual(yield* leftRows, [])
      })
    )

    it.effect("reaches the labels and the tags of the run, by which searches find it no more", () =>
      Effect.gen(function* () {
        const runId = yield* personRun()
        const q = encodeURIComponent(`metadata.customer:"${PERSON}"`)
        assert.strictEqual((yield* call("GET", `/runs?q=${q}`)).body.total, 1)
        yield* eraseText(runId)
        assert.strictEqual((yield* call("GET", `/runs?q=${q}`)).body.total, 0)
        const { body } = yield* call("GET", `/runs/${runId}`)
        assert.deepStrictEqual(body.tags, ["refund"])
        assert.deepInclude(body.metadata, { customer: "", note: "" })
      })
    )

    it.effect("deletes marks whose comment has the text, and keeps their chain", () =>
      Effect.gen(function* () {
        const runId = yield* personRun()
        const before = yield* call("GET", `/runs/${runId}/marks`)
        assert.strictEqual(before.body.total, 1)
        const { erased } = yield* eraseText(runId)
        assert.strictEqual(countOf(erased, "mark"), 1)
        assert.strictEqual((yield* call("GET", `/runs/${runId}/marks`)).body.total, 0)
        assert.strictEqual((yield* call("GET", `/runs/${runId}/marks?history=true`)).body.total, 1)
        assert.strictEqual(erased.reason, REASON)
      })
    )
  }
)

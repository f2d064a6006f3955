import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { draftEvent, type EventDraft, type JsonObject } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { AT, COST, commits, LEAD, opened, RISK, recordedAs, votes } from "../../support/Committee.ts"
import { call, layerTestService } from "../../support/HttpService.ts"

const usage = (model: string, usd: number): EventDraft =>
  draftEvent(
    "llm.call.completed",
    { ts: AT, subject: { kind: "message", id: "m" }, source: { kind: "runtime", name: "rust-runtime" } },
    { messageType: "Signal", sender: RISK, decodedPayload: { model, estimatedCostUsd: usd } }
  )

const refuses = draftEvent(
  "decision.finalized",
  { ts: AT, subject: { kind: "proposal", id: "p1" }, source: { kind: "runtime", name: "rust-runtime" } },
  { messageType: "Commitment", sender: LEAD, decodedPayload: { action: "decision.rejected", outcome_positive: false } }
)

const yes = [...opened, votes(COST, "APPROVE"), votes(RISK, "APPROVE"), usage("m1", 0.1), commits]
const no = [...opened, votes(COST, "APPROVE"), votes(RISK, "REJECT"), usage("m2", 0.3), refuses]

const stability = Effect.fnUntraced(function* (query: string) {
  const { status, text } = yield* call("GET", `/stability?${query}`)
  assert.strictEqual(status, 200, text)
  return JSON.parse(text)
})

layer(layerTestService(), { excludeTestServices: true })("GET /stability", (it) => {
  it.effect("describes outcomes, agreement, causes, cost and duration", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const first = yield* recordedAs("completed", ...yes)
      const ids = [first, ...(yield* Effect.replicateEffect(recordedAs("completed", ...yes), 2))]
      const parted = yield* recordedAs("completed", ...no)
      const failed = yield* recordedAs("failed", ...opened)
      const open = yield* recordedAs("running", ...opened)
      const all = [...ids, parted, failed, open]
      const end = sql`ended_at = created_at + interval '2 s', started_at = created_at`
      yield* sql`UPDATE runs SET tags = '{stable}' WHERE id = ANY(${all}::text[]::uuid[])`
      yield* sql`UPDATE runs SET ${end} WHERE id = ANY(${[...ids, parted]}::text[]::uuid[])`
      const answer = yield* stability("q=tags:stable&by=model")
      assert.strictEqual(answer.n, 4)
      assert.deepStrictEqual(answer.excluded, { byReason: { failed: 1, unfinished: 1 } })
      assert.deepStrictEqual(answer.outcomes, [
        { action: "decision.selected", positive: true, count: 3, share: 0.75 },
        { action: "decision.rejected", positive: false, count: 1, share: 0.25 }
      ])
      assert.deepInclude(answer.agreement, { rate: 0.75, method: "wilson", confidence: 0.95 })
      assert.deepStrictEqual(
        [answer.cost, answer.durationMs],
        [
          { p50: 0.1, p95: 0.3 },
          { p50: 2_000, p95: 2_000 }
        ]
      )
      const [flip, ...others] = answer.flips
      assert.deepStrictEqual(others, [])
      assert.deepInclude(flip, {
        count: 1,
        text: `${RISK} voted REJECT after the first vote`,
        exampleRight: parted
      })
      assert.deepStrictEqual(
        answer.by.map(({ model, n }: JsonObject) => [model, n]),
        [
          ["m1", 3],
          ["m2", 1],
          ["", 0]
        ]
      )
    })
  )

  it.effect("counts runs without decision when all count, and no runs that nothing matches", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runId = yield* recordedAs("failed", ...opened)
      yield* sql`UPDATE runs SET tags = '{counted}' WHERE id = ${runId}::uuid`
      const answer = yield* stability("q=tags:counted&count=all")
      assert.deepStrictEqual([answer.n, answer.outcomes[0].action], [1, "failed"])
      assert.deepInclude(yield* stability("q=tags:counted&since=2100-01-01"), { n: 0, outcomes: [], flips: [] })
      const policies = yield* stability("q=tags:counted&by=policyVersion")
      assert.strictEqual(policies.by.length, 1)
      for (const by of ["promptHash", "template", "source"]) yield* stability(`q=tags:counted&by=${by}`)
    })
  )

  it.effect("lists days and weeks in their order, the variants of a gate, and scenarios", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const created = ["2026-07-05T23:59:59Z", "2026-07-06T00:00:00Z", "2026-07-08T12:00:00Z", "2026-07-08T13:00:00Z"]
      for (const [at, time] of created.entries()) {
        const runId = yield* recordedAs("completed", ...yes)
        const metadata = { gate: { case: "one", variant: `model=m${Math.min(at, 1)}` } }
        yield* sql`UPDATE runs SET tags = '{timed}', created_at = ${time}::timestamptz,
          scenario_ref = ${`loans/fast@${Math.min(at, 1)}`}, metadata = ${JSON.stringify(metadata)}::jsonb WHERE id = ${runId}::uuid`
      }
      const groups = Effect.fnUntraced(function* (by: string) {
        const answer = yield* stability(`q=tags:timed&by=${by}`)
        return answer.by.map((group: JsonObject) => [group[by], group["n"]])
      })
      assert.deepStrictEqual(yield* groups("day"), [
        ["2026-07-05", 1],
        ["2026-07-06", 1],
        ["2026-07-08", 2]
      ])
      assert.deepStrictEqual(yield* groups("week"), [
        ["2026-06-29", 1],
        ["2026-07-06", 3]
      ])
      assert.deepStrictEqual(yield* groups("variant"), [
        ["model=m1", 3],
        ["model=m0", 1]
      ])
      assert.deepStrictEqual(yield* groups("scenario"), [
        ["loans/fast@1", 3],
        ["loans/fast@0", 1]
      ])
    })
  )

  it.effect("refuses an unknown property", () =>
    Effect.map(call("GET", "/stability?by=color"), ({ status }) => assert.strictEqual(status, 400))
  )
})

import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { draftEvent, type EventDraft } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { AT, COST, commits, LEAD, opened, RISK, recorded, votes } from "../../support/Committee.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { insertMark } from "../../support/MarkSeeds.ts"
import { createRun } from "../../support/Runs.ts"

const get = (path: string, query: Readonly<Record<string, string>> = {}) =>
  Effect.map(call("GET", `${path}?${new URLSearchParams(query)}`), (answer) => {
    assert.strictEqual(answer.status, 200, answer.text)
    return answer.body
  })

const says = (by: string, messageType: string, payload: Readonly<Record<string, string | number>>): EventDraft =>
  draftEvent(
    "proposal.updated",
    {
      ts: AT,
      subject: { kind: "proposal", id: "p1" },
      source: { kind: "runtime", name: "rust-runtime", rawType: messageType }
    },
    { messageType, sender: by, decodedPayload: { proposalId: "p1", ...payload } }
  )

const called = (by: string, estimatedCostUsd: number): EventDraft =>
  draftEvent(
    "llm.call.completed",
    { ts: AT, subject: { kind: "participant", id: by }, source: { kind: "runtime", name: "rust-runtime" } },
    {
      sender: by,
      decodedPayload: { model: "m", promptTokens: 1, completionTokens: 1, totalTokens: 2, estimatedCostUsd }
    }
  )

/** A committee whose outcome is positive; the participants are in the tallies, as their messages would put them. */
const committee = Effect.fnUntraced(function* (...said: ReadonlyArray<EventDraft>) {
  const runId = yield* recorded(...opened, ...said, commits)
  const sql = yield* PgClient.PgClient
  yield* sql`
    INSERT INTO run_participants SELECT ${runId}::uuid, unnest(${[RISK, COST, LEAD]}::text[]), 1, 0, 0, 0
    ON CONFLICT DO NOTHING`
  const [row] = yield* sql<{ readonly index: number }>`
    SELECT index FROM canonical_events WHERE run_id = ${runId}::uuid AND type = 'decision.finalized'`
  return { runId, index: row?.index ?? 0 }
})

layer(layerTestService(), { excludeTestServices: true })("marks of all runs", (it) => {
  it.effect("are listed with the newest first, searched and paged", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const at = (day: number) => `2026-07-${String(day).padStart(2, "0")}T10:00:00.000Z`
      const first = yield* insertMark({ runId, name: "quality", value: 0.4, createdAt: at(1), comment: "Too short" })
      const second = yield* insertMark({
        runId,
        name: "quality",
        value: 0.9,
        createdAt: at(2),
        source: "judge",
        judge: "polite"
      })
      const third = yield* insertMark({
        runId,
        name: "tone",
        value: "rude",
        createdAt: at(3),
        kind: "participant",
        targetId: RISK
      })
      const fourth = yield* insertMark({
        runId,
        name: "correct",
        value: false,
        createdAt: at(4),
        author: "user:ann",
        index: 7
      })
      yield* insertMark({ runId, name: "quality", value: 0.1, createdAt: at(5), replaced: true })
      yield* insertMark({ runId, name: "quality", value: 0.2, createdAt: at(6), deleted: true })
      const found = (q: string, more = {}) =>
        Effect.map(get("/marks", { q: `run:${runId} ${q}`, ...more }), ({ data }) =>
          data.map(({ id }: { id: string }) => id)
        )
      const page = yield* get("/marks", { q: `run:${runId}`, limit: "2", offset: "1" })
      assert.deepInclude(page, { total: 4, limit: 2, offset: 1 })
      assert.deepStrictEqual(
        page.data.map(({ id }: { id: string }) => id),
        [third, second]
      )
      assert.deepStrictEqual(page.data[0], {
        id: third,
        runId,
        target: { kind: "participant", id: RISK },
        name: "tone",
        value: "rude",
        source: "human",
        author: "key:5e884898",
        createdAt: at(3)
      })
      const cases: ReadonlyArray<readonly [q: string, ids: ReadonlyArray<string>]> = [
        ["name:quality", [second, first]],
        ["value:>0.5", [second]],
        ["value:0.4..1", [second, first]],
        ["value:false", [fourth]],
        ["value:rude", [third]],
        ["value:true", []],
        ["-value:rude", [fourth, second, first]],
        ["source:judge", [second]],
        ["judge:polite", [second]],
        [`kind:participant target:"${RISK}"`, [third]],
        ["index:7", [fourth]],
        ["author:user:ann", [fourth]],
        ["has:comment", [first]],
        ["short", [first]],
        ["createdAt:>=2026-07-03", [fourth, third]],
        [`id:${second}`, [second]]
      ]
      for (const [q, ids] of cases) assert.deepStrictEqual(yield* found(q), ids, q)
    })
  )

  it.effect("refuse a search with an unknown field", () =>
    Effect.gen(function* () {
      const { status, text } = yield* call("GET", "/marks?q=color:red")
      assert.strictEqual(status, 400)
      assert.include(text, "unknown field")
    })
  )
})

layer(layerTestService(), { excludeTestServices: true })("GET /marks/agreement", (it) => {
  it.effect("has the published kappa of each judge, by the current marks", () =>
    Effect.gen(function* () {
      // Wikipedia, "Cohen's kappa": 45 + 15 + 25 + 15 targets.
      const [first, second] = [yield* createRun(), yield* createRun()]
      const table = [
        [first, true, true, 45],
        [first, true, false, 15],
        [second, false, true, 25],
        [second, false, false, 15]
      ] as const
      for (const [runId, human, judge, count] of table) {
        for (let at = 0; at < count; at++) {
          const on = { runId, kind: "event", targetId: `${judge} ${at}`, name: "correct" } as const
          yield* insertMark({ ...on, value: !human, createdAt: "2026-07-01T00:00:00.000Z", author: "user:bob" })
          yield* insertMark({ ...on, value: human, author: "user:ann" })
          yield* insertMark({ ...on, value: judge, source: "judge", judge: "strict" })
          yield* insertMark({ ...on, value: human, source: "judge", judge: "same" })
          yield* insertMark({ ...on, value: !human, source: "judge", judge: "same", replaced: true })
        }
      }
      yield* insertMark({ runId: first, name: "tone", value: "rude" })
      yield* insertMark({ runId: first, name: "alone", value: 1, source: "judge", judge: "strict" })
      const { data, truncated } = yield* get("/marks/agreement", { name: "correct" })
      assert.isFalse(truncated)
      assert.strictEqual(data.length, 1)
      const [same, strict] = data[0].pairs.toSorted((one: { right: string }, other: { right: string }) =>
        one.right < other.right ? -1 : 1
      )
      assert.deepInclude(strict, {
        left: "human",
        right: "judge:strict",
        n: 100,
        agreed: 60,
        categories: [true, false],
        confusion: [
          [45, 15],
          [25, 15]
        ],
        weights: "none",
        verdict: "unreliable",
        unreliable: true
      })
      // Of three raters: krippendorff.alpha of the Python package, nominal.
      assert.deepInclude(data[0].alpha, { raters: 3, targets: 100, metric: "nominal" })
      assert.approximately(data[0].alpha.value, 0.427751, 5e-7)
      assert.isBelow(data[0].alpha.low, data[0].alpha.value)
      assert.isAbove(data[0].alpha.high, data[0].alpha.value)
      assert.approximately(strict.kappa.value, 0.1304, 5e-5)
      assert.approximately(strict.kappa.low, -0.0629, 5e-5)
      assert.approximately(strict.kappa.high, 0.3238, 5e-5)
      assert.deepInclude(same, { right: "judge:same", n: 100, agreed: 100, unreliable: false })
      assert.deepStrictEqual((yield* get("/marks/agreement")).data, data)
      const judges = yield* get("/marks/agreement", { sources: "judge,judge" })
      assert.deepInclude(judges.data[0].pairs[0], { left: "judge:same", right: "judge:strict", n: 100, agreed: 60 })
      const people = yield* get("/marks/agreement", { sources: "human,human" })
      assert.deepInclude(people.data[0].pairs[0], {
        left: "human:user:ann",
        right: "human:user:bob",
        n: 100,
        agreed: 0
      })
      const one = yield* get("/marks/agreement", { q: `id:${first}` })
      assert.deepStrictEqual(
        one.data[0].pairs.map(({ n }: { n: number }) => n),
        [60, 60]
      )
      assert.deepStrictEqual((yield* get("/marks/agreement", { since: "2026-08-01" })).data, [])
    })
  )

  it.effect("compares numbers by intervals of their definition", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const definition = { name: "score", kind: "number", min: 0, max: 1, reserved: false }
      yield* sql`
        INSERT INTO mark_definitions VALUES ('score', ${JSON.stringify(definition)}::text::json, now())`
      for (const [human, judge] of [
        [0.1, 0.15],
        [0.9, 1],
        [0.5, 0.9]
      ] as const) {
        const runId = yield* createRun()
        yield* insertMark({ runId, name: "score", kind: "run", value: human })
        yield* insertMark({ runId, name: "score", kind: "run", value: judge, source: "judge", judge: "j" })
      }
      const { data } = yield* get("/marks/agreement", { name: "score" })
      assert.notProperty(data[0], "alpha")
      assert.deepInclude(data[0].pairs[0], {
        n: 3,
        agreed: 2,
        weights: "quadratic",
        verdict: "unknown",
        unreliable: false,
        categories: ["0 to 0.2", "0.4 to 0.6", "0.8 to 1"],
        confusion: [
          [1, 0, 0],
          [0, 0, 1],
          [0, 0, 1]
        ]
      })
    })
  )

  it.effect("refuses other sources", () =>
    Effect.gen(function* () {
      for (const sources of ["human", "human,robot", "human,judge,api"]) {
        const { status, text } = yield* call("GET", `/marks/agreement?sources=${sources}`)
        assert.strictEqual(status, 400, sources)
        assert.include(text, "two of human, judge, rule, api")
      }
    })
  )
})

layer(layerTestService(), { excludeTestServices: true })("GET /agents/:id/record", (it) => {
  it.effect("compares the votes of an agent with the outcomes and the truth", () =>
    Effect.gen(function* () {
      const path = `/agents/${encodeURIComponent(RISK)}/record`
      const nothing = yield* get(path)
      assert.deepStrictEqual(nothing, {
        participantId: RISK,
        examined: 0,
        runs: 0,
        withOutcome: 0,
        judged: 0,
        right: 0,
        againstMajority: 0,
        rightAgainstMajority: 0,
        pivotal: 0,
        reliability: [],
        costUsd: 0,
        guessedCostUsd: 0,
        truncated: false,
        summary: "It voted in no decided run."
      })
      assert.deepInclude(yield* get(path, { by: "prompt" }), { by: [], olderGroups: 0 })
      // With the outcome, pivotal (two of three approve), and right: a judge says no, but a person says yes.
      const right = yield* committee(
        says(RISK, "Evaluation", { recommendation: "APPROVE", confidence: 0.9 }),
        called(RISK, 0.03),
        votes(RISK, "APPROVE"),
        votes(COST, "APPROVE"),
        votes(LEAD, "REJECT")
      )
      yield* insertMark({ ...right, name: "correct", value: "True" })
      yield* insertMark({ ...right, name: "correct", value: "no comment", createdAt: "2026-07-04" })
      yield* insertMark({
        ...right,
        name: "correct",
        value: false,
        source: "judge",
        judge: "j",
        createdAt: "2026-07-03"
      })
      // Against the majority and the outcome, and right.
      const against = yield* committee(
        says(RISK, "Evaluation", { recommendation: "REJECT", confidence: 0.6 }),
        called(RISK, 0.05),
        votes(RISK, "REJECT"),
        votes(COST, "APPROVE"),
        votes(LEAD, "APPROVE")
      )
      yield* insertMark({ ...against, name: "correct", value: "no_go", source: "api" })
      // With the outcome, not pivotal (three approve), and wrong; an older mark says the opposite.
      const wrong = yield* committee(
        says(RISK, "Evaluation", { recommendation: "APPROVE", confidence: 0.8 }),
        votes(RISK, "APPROVE"),
        votes(COST, "APPROVE"),
        votes(LEAD, "APPROVE")
      )
      yield* insertMark({ ...wrong, name: "correct", value: true, author: "user:bob", createdAt: "2026-07-01" })
      yield* insertMark({ ...wrong, name: "correct", value: false, author: "user:ann" })
      // Without truth: an earlier decision is judged, and deleted and replaced marks do not count.
      const open = yield* committee(
        called(RISK, 1),
        votes(RISK, "APPROVE"),
        votes(COST, "APPROVE"),
        votes(LEAD, "APPROVE")
      )
      yield* insertMark({ ...open, index: open.index - 1, name: "correct", value: true })
      yield* insertMark({ ...open, name: "correct", value: true, deleted: true })
      yield* insertMark({ ...open, name: "correct", value: true, replaced: true })
      // It took part and did not vote.
      yield* committee(votes(COST, "APPROVE"), votes(LEAD, "APPROVE"))
      const record = yield* get(path)
      assert.deepInclude(record, {
        examined: 5,
        runs: 4,
        withOutcome: 3,
        judged: 3,
        right: 2,
        againstMajority: 1,
        rightAgainstMajority: 1,
        pivotal: 1,
        costUsd: 1.08,
        guessedCostUsd: 0,
        truncated: false
      })
      assert.approximately(record.rightShare, 2 / 3, 1e-12)
      // Wilson, 2 of 3.
      assert.approximately(record.rightInterval.low, 0.2077, 5e-5)
      assert.approximately(record.rightInterval.high, 0.9385, 5e-5)
      assert.strictEqual(record.brier.n, 3)
      assert.approximately(record.brier.score, (0.1 ** 2 + 0.4 ** 2 + 0.8 ** 2) / 3, 1e-12)
      assert.deepStrictEqual(
        record.reliability.map(({ low, n, right }: { low: number; n: number; right: number }) => [low, n, right]),
        [
          [0.6, 1, 1],
          [0.8, 1, 0],
          [0.9, 1, 1]
        ]
      )
      assert.approximately(record.costPerRightUsd, 0.08 / 2, 1e-12)
      assert.strictEqual(
        record.summary,
        "Right in 67 % of 3 judged decisions (21 % to 94 %). Its runs record no prompt. " +
          "Whether its confidence fits is open with 3 of at least 20 votes that state one."
      )
      assert.approximately(record.confidence.mean, (0.9 + 0.6 + 0.8) / 3, 1e-12)
      assert.approximately(record.confidence.gap.value, 2.3 / 3 - 2 / 3, 1e-12)
      const sqlOfRuns = yield* PgClient.PgClient
      const prompted = (run: { readonly runId: string }, metadata: object, createdAt: string) => sqlOfRuns`
        UPDATE runs SET metadata = ${JSON.stringify(metadata)}::text::json, created_at = ${createdAt}::timestamptz
        WHERE id = ${run.runId}::uuid`
      const v2 = { promptName: "risk", promptVersion: 2, promptHash: "9f86d081884c7d659a2f" }
      yield* prompted(right, v2, "2026-06-24T10:00:00Z")
      yield* prompted(against, { promptHash: "0123456789abcdef" }, "2026-06-17T23:59:00Z")
      yield* prompted(wrong, v2, "2026-06-28T23:59:00Z")
      yield* prompted(open, { promptHash: { odd: true } }, "2026-06-16T10:00:00Z")
      const groups = Effect.fnUntraced(function* (by: string) {
        const found = yield* get(path, { by, since: "2026-06-01" })
        return found.by.map((one: Record<string, unknown>) => [one["name"], one["runs"], one["judged"], one["right"]])
      })
      assert.deepStrictEqual((yield* groups("prompt")).slice(0, 2), [
        ["risk 2 (9f86d081884c)", 2, 2, 1],
        ["0123456789ab", 1, 1, 1]
      ])
      assert.deepStrictEqual(yield* groups("week"), [
        ["2026-06-22", 2, 2, 1],
        ["2026-06-15", 2, 1, 1]
      ])
      assert.deepStrictEqual(yield* groups("model"), [
        ["m", 3, 2, 2],
        [undefined, 1, 1, 0]
      ])
      assert.deepStrictEqual(yield* groups("policyVersion"), [["p.majority", 4, 3, 2]])
      assert.include(
        (yield* get(path, { since: "2026-06-01" })).summary,
        "Right in 67 % of 3 judged decisions since 2026-06-01 (21 % to 94 %). With the latest prompt risk 2 (9f86d081884c) right in 50 % of 2"
      )
      const unknownGroup = yield* call("GET", `${path}?by=colour`)
      assert.strictEqual(unknownGroup.status, 400)
      assert.include(unknownGroup.text, "by")
      const narrowed = yield* get(path, { q: `id:(${right.runId},${against.runId})`, limit: "1" })
      assert.deepInclude(narrowed, { examined: 1, truncated: true })
      assert.deepInclude(yield* get(path, { since: "2026-07-02" }), { examined: 0 })
      assert.deepInclude(yield* get(path, { q: "mark.correct:no_go" }), { examined: 1, right: 1 })
      // A record reads 500,000 events, and always the latest run.
      const sql = yield* PgClient.PgClient
      const both = { q: `id:(${right.runId},${against.runId})` }
      for (const [of, events, examined] of [
        [right, 499_990, 2],
        [right, 500_001, 1],
        [against, 500_001, 1]
      ] as const) {
        yield* sql`UPDATE run_heads SET last_index = ${events} WHERE run_id = ${of.runId}::uuid`
        assert.deepInclude(yield* get(path, both), { examined, runs: examined, truncated: examined < 2 })
      }
    })
  )
})

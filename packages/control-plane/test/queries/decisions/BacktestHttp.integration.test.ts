import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { sessionBound } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import {
  AT,
  COST,
  commits,
  decided,
  LEAD,
  MAJORITY,
  MODE,
  opened,
  proposes,
  RISK,
  recorded,
  session,
  votes
} from "../../support/Committee.ts"
import { layerTestService } from "../../support/HttpService.ts"
import { insertMark } from "../../support/MarkSeeds.ts"
import { backtest, linesOf } from "./Backtests.ts"
import { lockedEvents, readingEvents } from "./EventLocks.ts"

layer(layerTestService(), { excludeTestServices: true })("POST /policies/backtest", (it) => {
  it.effect("lists the runs that another policy would have ended otherwise", () =>
    Effect.gen(function* () {
      const [flips, other] = [yield* decided, yield* recorded(...opened)]
      const task = yield* recorded(sessionBound(AT, session("p.t", "macp.mode.task.v1")), proposes, commits)
      const sql = yield* PgClient.PgClient
      const ids = [flips, other, task]
      yield* sql`UPDATE runs SET tags = '{tried}', scenario_ref = 'loans/big@1' WHERE id = ANY(${ids}::text[]::uuid[])`
      yield* sql`UPDATE runs SET mode_name = 'macp.mode.task.v1' WHERE id = ${task}::uuid`
      const scope = { tags: ["tried"] }
      const unanimous = { mode: MODE, rules: { voting: { algorithm: "unanimous" } } }
      const answer = yield* backtest({ policy: unanimous, scope })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.headers.get("content-type"), "application/x-ndjson")
      const lines = linesOf(answer.text)
      assert.deepStrictEqual(lines[0], {
        type: "flip",
        runId: flips,
        from: "positive",
        to: "negative",
        reasons: ["the votes do not carry a positive outcome: 2 approve, 1 reject (unanimous)"]
      })
      assert.deepStrictEqual(lines[1], { type: "progress", examined: 3, total: 3, flipped: 1 })
      assert.deepStrictEqual(lines.slice(2), [
        {
          type: "summary",
          policyVersion: "the given policy",
          examined: 3,
          unchanged: 0,
          flipped: 1,
          skipped: { "no decision": 1, "another mode": 1 },
          byRule: { "voting.algorithm": 1 },
          isLimited: false
        }
      ])
      const fake = yield* RuntimeFake
      yield* fake.client.registerPolicy({ ...MAJORITY, policyId: "p.tried" })
      const summary = (body: object) =>
        Effect.map(backtest({ policyVersion: "p.tried", ...body }), ({ text }) => linesOf(text).at(-1))
      assert.deepInclude(yield* summary({ scope }), { policyVersion: "p.tried", unchanged: 1, flipped: 0 })
      assert.deepInclude(yield* summary({ scope: { ...scope, limit: 2 } }), { examined: 2, isLimited: true })
      assert.deepInclude(yield* summary({ scope: { ...scope, modeName: MODE } }), { examined: 2 })
      assert.deepInclude(yield* summary({ scope: { ...scope, scenarioRef: "LOANS/" } }), { examined: 3 })
      assert.deepInclude(yield* summary({ scope: { ...scope, createdBefore: AT } }), { examined: 0 })
      assert.deepInclude(yield* summary({ scope: { ...scope, createdAfter: "2026-01-01" } }), { examined: 3 })
    })
  )

  it.effect("counts the outcomes that were right and would have been right", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const outvoted = decided
      const agreed = recorded(...opened, ...[LEAD, RISK, COST].map((by) => votes(by, "APPROVE")), commits)
      const [wrong, right, kept, unknown, other] = [
        yield* outvoted,
        yield* outvoted,
        yield* agreed,
        yield* outvoted,
        yield* recorded(...opened)
      ]
      const ids = [wrong, right, kept, unknown, other]
      yield* sql`UPDATE runs SET tags = '{true}' WHERE id = ANY(${ids}::text[]::uuid[])`
      const unanimous = { mode: MODE, rules: { voting: { algorithm: "unanimous" } } }
      const tried = Effect.map(backtest({ policy: unanimous, scope: { tags: ["true"] } }), ({ text }) =>
        linesOf(text).at(-1)
      )
      assert.notProperty(yield* tried, "truth")
      yield* insertMark({ runId: wrong, name: "correct", value: false })
      yield* insertMark({ runId: right, name: "correct", value: "decision.selected" })
      yield* insertMark({ runId: kept, name: "correct", value: "Yes" })
      yield* insertMark({ runId: other, name: "correct", value: true })
      // The unanimous policy turns the outcomes of the outvoted runs, one of which was wrong.
      assert.deepStrictEqual((yield* tried).truth, {
        judged: 3,
        right: 2,
        rightUnderPolicy: 2,
        gained: [wrong],
        lost: [right]
      })
    })
  )

  it.effect("evaluates a run that is larger than one read", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 1_100 }, (_, at) => votes(RISK, at % 2 === 0 ? "REJECT" : "APPROVE"))
      const runId = yield* recorded(...opened, ...many, votes(COST, "APPROVE"), votes(LEAD, "REJECT"), commits)
      const sql = yield* PgClient.PgClient
      yield* sql`UPDATE runs SET tags = '{large}' WHERE id = ${runId}::uuid`
      const tried = (algorithm: string) =>
        Effect.map(backtest({ policy: { rules: { voting: { algorithm } } }, scope: { tags: ["large"] } }), ({ text }) =>
          linesOf(text).at(-1)
        )
      assert.deepInclude(yield* tried("majority"), { examined: 1, unchanged: 1 })
      assert.deepInclude(yield* tried("unanimous"), { examined: 1, flipped: 1 })
    })
  )

  it.effect("rejects an invalid policy or scope before the first line", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* fake.client.registerPolicy({ ...MAJORITY, policyId: "p.broken", rules: '{"voting":{"algorithm":7}}' })
      const rules = {}
      const cases: ReadonlyArray<readonly [unknown, number, string]> = [
        [{}, 400, "policy or policyVersion is required"],
        [{ policy: { rules }, policyVersion: "p" }, 400, "exclude each other"],
        [{ policyVersion: "p.nowhere" }, 404, "p.nowhere not found"],
        [{ policyVersion: "p.broken" }, 400, "the rules of p.broken cannot be read"],
        [{ policy: { rules: { voting: { algoritm: "majority" } } } }, 400, "algoritm"],
        [{ policy: { rules, schemaVersion: 9 } }, 400, "schemaVersion must be one of"],
        [{ policy: { rules }, scope: { limit: 0 } }, 400, "scope.limit"],
        [{ policy: { rules }, scope: { limit: 10_001 } }, 400, "scope.limit"],
        [{ policy: { rules }, scope: { createdAfter: "yesterday" } }, 400, "scope.createdAfter"],
        [{ policy: { rules }, scope: { tags: "nightly" } }, 400, "scope.tags"],
        [{ policy: { rules }, scope: { scenario: "x" } }, 400, "scope.property scenario should not exist"],
        [{ policy: { rules }, scopes: {} }, 400, "scopes"]
      ]
      for (const [body, status, text] of cases) {
        const answer = yield* backtest(body)
        assert.strictEqual(answer.status, status, answer.text)
        assert.include(answer.text, text)
      }
    })
  )

  it.effect("stops when the client leaves", () =>
    Effect.gen(function* () {
      yield* decided
      const reading = yield* readingEvents("ORDER BY run_id, seq")
      const release = yield* lockedEvents()
      const client = yield* Effect.forkChild(backtest({ policy: { rules: {} } }))
      yield* until(reading, (count) => count === 1)
      yield* Fiber.interrupt(client)
      yield* until(reading, (count) => count === 0)
      yield* release
    })
  )
})

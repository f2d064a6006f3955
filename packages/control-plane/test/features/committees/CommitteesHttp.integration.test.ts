import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import type { StoredFacts } from "../../../src/features/committees/FactsRow.ts"
import { COST, commits, LEAD, MAJORITY, MODE, opened, RISK, recordedAs, votes } from "../../support/Committee.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { insertMark } from "../../support/MarkSeeds.ts"
import { committeeRuns, insertVoters } from "./VoterSeeds.ts"

const SEATS = ["five", "four", "one", "three", "two"]

const get = (path: string) =>
  Effect.map(call("GET", path), (answer) => {
    assert.strictEqual(answer.status, 200, answer.text)
    return answer.body
  })

const decisionOf = Effect.fnUntraced(function* (runId: RunId) {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql<{ readonly index: number }>`
    SELECT index FROM canonical_events WHERE run_id = ${runId}::uuid AND type = 'decision.finalized'`
  return row?.index ?? 0
})

const mark = Effect.fnUntraced(function* (runId: RunId, value: boolean, source: "human" | "judge" = "human") {
  yield* insertMark({ runId, index: yield* decisionOf(runId), name: "correct", value, source })
})

const errorsOf = (answer: { readonly data: ReadonlyArray<{ readonly seats: ReadonlyArray<object> }> }) =>
  answer.data[0]?.seats

layer(layerTestService(), { excludeTestServices: true })("committees", (it) => {
  it.effect("count the errors of ended runs by the marks of people, and follow marks and deletions", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* get("/committees/independence"), { data: [], truncated: false, waiting: 0 })
      const one = yield* recordedAs(
        "completed",
        ...[...opened, votes(RISK, "APPROVE"), votes(COST, "APPROVE"), votes(LEAD, "REJECT"), commits]
      )
      const other = yield* recordedAs(
        "completed",
        ...[...opened, votes(RISK, "APPROVE"), votes(COST, "ABSTAIN"), votes(LEAD, "APPROVE"), commits]
      )
      const open = yield* recordedAs("running", ...opened, votes(RISK, "APPROVE"), votes(LEAD, "APPROVE"), commits)
      yield* mark(one, true)
      yield* mark(open, true)
      // The mark of a judge does not count as a truth.
      yield* mark(other, true, "judge")
      const judged = yield* until(get("/committees/independence"), ({ data }) => {
        const [found] = data
        return found?.runs === 2 && found.truth.withTruth === 1
      })
      assert.deepInclude(judged.data[0], { runs: 2, participants: [COST, LEAD, RISK] })
      assert.deepStrictEqual(
        errorsOf(judged)?.map((seat) => Object.assign({}, seat)),
        [
          {
            seat: COST,
            runs: 1,
            cases: 1,
            errors: 0,
            accuracy: judged.data[0].seats[0].accuracy,
            leftOut: "always right"
          },
          {
            seat: LEAD,
            runs: 1,
            cases: 1,
            errors: 1,
            accuracy: judged.data[0].seats[1].accuracy,
            leftOut: "always wrong"
          },
          {
            seat: RISK,
            runs: 1,
            cases: 1,
            errors: 0,
            accuracy: judged.data[0].seats[2].accuracy,
            leftOut: "always right"
          }
        ]
      )
      const [, costRisk] = judged.data[0].pairs
      assert.deepInclude(costRisk, { left: COST, right: RISK })
      assert.deepInclude(costRisk.agreement, { runs: 2, agreed: 1 })
      assert.deepInclude(judged.data[0].effectiveVotes, { kind: "unknown" })
      assert.match(
        judged.data[0].summary,
        /^3 seats, no number of independent votes yet, which needs 29 more cases with a mark correct/
      )

      yield* mark(other, false)
      const both = yield* until(get("/committees/independence"), ({ data }) => data[0]?.truth.withTruth === 2)
      assert.deepInclude(both.data[0].seats[2], { seat: RISK, runs: 2, errors: 1 })
      // An abstention does not count as an error.
      assert.deepInclude(both.data[0].seats[0], { seat: COST, runs: 1, errors: 0 })

      const worths = yield* get("/committees/seats")
      const of = (seat: string) => worths.data[0].seats.find((row: { readonly seat: string }) => row.seat === seat)
      assert.deepInclude(of(LEAD), { runs: 0, notCounted: { "opened the session": 2 } })
      assert.deepInclude(of(COST).changed, { count: 1, n: 2 })

      const gone = yield* call("DELETE", `/runs/${one}`)
      assert.include([200, 204], gone.status, gone.text)
      assert.deepInclude((yield* get("/committees/independence")).data[0], { runs: 1 })
    })
  )

  it.effect("have a number for enough marks, and the seats that share a model", () =>
    Effect.gen(function* () {
      yield* insertVoters(SEATS, committeeRuns(600, 3), {
        models: ["m1", "m2", "m1", "m1", ""],
        prompts: ["h1", "h1", "h2", "", ""]
      })
      const { data } = yield* get("/committees/independence?seats=five,four,one,three,two")
      const [found] = data
      assert.strictEqual(found.runs, 600)
      assert.strictEqual(found.effectiveVotes.kind, "known")
      // Three of five are one voter: the mean correlation of the ten pairs is 0.3.
      assert.closeTo(found.effectiveVotes.value, 5 / (1 + 4 * 0.3), 0.3)
      assert.match(found.summary, /^5 seats, 2\.\d \(\d\.\d to \d\.\d\) independent votes$/)
      assert.deepStrictEqual(found.sharedModels, [{ model: "m1", seats: ["five", "one", "three"] }])
      assert.deepStrictEqual(found.sharedPrompts, [{ promptHash: "h1", seats: ["five", "four"] }])
      const some = yield* get("/committees/independence?seats=four,two")
      assert.deepInclude(some.data[0], { participants: ["four", "two"], runs: 600 })
      assert.closeTo(some.data[0].effectiveVotes.value, 2, 0.3)
      assert.strictEqual((yield* call("GET", "/committees/independence?seats=one")).status, 400)
      assert.strictEqual((yield* call("GET", "/committees/seats?q=colour:red")).status, 400)
      assert.deepStrictEqual((yield* get("/committees/independence?since=2100-01-01")).data, [])
    })
  )

  it.effect("name a cheaper committee that the other half confirms, and count the searches", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const search = (payload: object) => call("POST", "/committees/search", { body: payload })
      const few = yield* search({ q: "status:completed environment:nowhere" })
      assert.strictEqual(few.status, 409, few.text)
      assert.deepInclude(few.body, { errorCode: "CONFLICT", metadata: { ...few.body.metadata, needed: 149 } })
      const [row] = yield* sql<{ readonly facts: StoredFacts; readonly participants: ReadonlyArray<string> }>`
        SELECT facts, participants FROM run_voters WHERE ${LEAD} = ANY(participants) LIMIT 1`
      const recount = row?.facts.recount
      if (row === undefined || recount === undefined) return assert.fail("the run has no recount")
      const voted = (voteOf: (by: string) => string): StoredFacts => ({
        ...row.facts,
        recount: {
          ...recount,
          acts: recount.acts.map((act) => (act.type === "Vote" ? { ...act, vote: voteOf(act.by) } : act))
        },
        costUsd: [0.5, 0.25, 0.25]
      })
      // Each run is carried by both, so one of the two can go.
      const facts = voted(() => "APPROVE")
      const seeds = Array.from({ length: 700 }, (_, at) => ({
        ...{ caseKey: `search-${at}`, outcome: "positive" as const, isRight: at % 3 > 0, votes: "fff" }
      }))
      yield* insertVoters(row.participants, seeds, { facts })
      const answer = yield* search({ q: "status:completed", maxSeats: 2 })
      assert.strictEqual(answer.status, 201, answer.text)
      assert.strictEqual(answer.body.found.kind, "named", answer.text)
      const { committee, search: effort } = answer.body.found
      assert.include(committee.removed, COST)
      assert.isAtLeast(committee.agreement.lowerBound, 0.98)
      assert.isAtLeast(committee.saved.costShare, 0.5)
      assert.deepInclude(effort, { method: "all" })
      assert.strictEqual(answer.body.searches, 1)
      assert.match(
        answer.body.summary,
        /^Without .* \d+ % cheaper, same outcome in (all \d+|\d+ of 100) cases \(at least 9\d\.\d %\)$/
      )
      assert.strictEqual((yield* search({ q: "status:completed" })).body.searches, 2)
      const entries = yield* get("/audit?action=committee.search")
      assert.deepStrictEqual(
        entries.data.map(({ details }: { readonly details: { readonly found: string } }) => details.found),
        ["named", "named", "refused"]
      )
      assert.strictEqual((yield* search({ q: "status:completed", alpha: 1 })).status, 400)

      const fake = yield* RuntimeFake
      yield* fake.client.registerPolicy({ ...MAJORITY, policyId: "p.tried" })
      yield* fake.client.registerPolicy({ ...MAJORITY, policyId: "p.task", mode: "macp.mode.task.v1" })
      const tries = (...policies: ReadonlyArray<object>) => search({ q: "status:completed", policies })
      const free = { policy: { mode: MODE, rules: { voting: { algorithm: "none" } } } }
      // Two of three carry each of these runs, so under their own policy no seat can go; without rules all but one can.
      const split = voted((by) => (by === LEAD ? "REJECT" : "APPROVE"))
      yield* sql`UPDATE run_voters SET facts = ${JSON.stringify(split)}::text::json`
      assert.deepInclude((yield* tries({ policyVersion: "p.tried" })).body.found, { kind: "none" })
      const tried = yield* tries({ policyVersion: "p.tried" }, free)
      assert.strictEqual(tried.status, 201, tried.text)
      assert.deepInclude(tried.body.found.committee, { seats: [LEAD], policy: { index: 1, name: "policies.1" } })
      const { agreement } = tried.body.found.committee
      assert.strictEqual(agreement.undecided, tried.body.found.search.confirming.cases)
      assert.strictEqual(tried.body.found.search.policies, 2)
      assert.match(tried.body.summary, /^Under policies\.1 without /)
      const [entry] = (yield* get("/audit?action=committee.search")).data
      assert.deepStrictEqual(entry.details.policies, ["p.tried", "policies.1"])
      const rules = { voting: { algorithm: "guess" } }
      const bad: ReadonlyArray<readonly [policies: ReadonlyArray<object>, status: number, text: RegExp]> = [
        [[{}], 400, /^policies\.0: policy or policyVersion is required$/],
        [[{ policyVersion: "p.tried" }, { policy: { rules: {} }, policyVersion: "p" }], 400, /^policies\.1: .*exclude/],
        [[{ policyVersion: "p.nowhere" }], 400, /^policies\.0\.policyVersion: .*p\.nowhere not found/],
        [[{ policyVersion: "p.tried" }, { policy: { mode: MODE, rules } }], 400, /^policies\.1\.policy\.rules/],
        [
          [{ policyVersion: "p.task" }],
          400,
          /^policies\.0: no run can be counted under it: it is for macp\.mode\.task/
        ],
        [Array.from({ length: 6 }, () => ({ policyVersion: "p.tried" })), 400, /policies/],
        [[{ policyVersion: "p.tried", colour: "red" }], 400, /policies\.0/]
      ]
      for (const [policies, status, text] of bad) {
        const refused = yield* tries(...policies)
        assert.strictEqual(refused.status, status, refused.text)
        assert.match([refused.body.message].flat().join("; "), text)
      }
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import {
  addWorth,
  type CommitteeFacts,
  committeeFacts,
  emptyWorth,
  type SeatInRun,
  type SeatRecount,
  seatsInRun,
  seatWorths,
  type WorthRun,
  wilson
} from "@runplane/domain"
import { commits, type Drafts, governed, opened, proposes, says, votes } from "../support/deliberations.ts"
import { draft } from "../support/events.ts"

const SEATS = ["a", "b", "c"]

const factsOf = (...drafts: Drafts): CommitteeFacts => {
  const { by, run } = governed(...drafts)
  return committeeFacts(run, by, SEATS)
}

const spent = (sender: string, estimatedCostUsd: number) =>
  draft("llm.call.completed", { sender, decodedPayload: { model: "m", totalTokens: 2, estimatedCostUsd } })

const decided = [
  opened({ rules: { voting: { algorithm: "majority", threshold: 0.6 } }, participants: SEATS }),
  proposes("lead"),
  proposes("a"),
  spent("a", 0.5),
  spent("c", 0.25),
  votes("b", "APPROVE"),
  votes("a", "REJECT"),
  votes("a", "APPROVE"),
  votes("c", "REJECT"),
  commits(true)
].flat()

describe("the facts of a run", () => {
  it("have the vote, the cost, the time and the recount of each seat", () => {
    const facts = factsOf(decided)
    assert.deepStrictEqual(facts.votes, ["for", "for", "against"])
    assert.strictEqual(facts.outcome, "positive")
    assert.deepStrictEqual(facts.costUsd, [0.5, 0, 0.25])
    assert.deepStrictEqual(facts.pivotal, [true, true, false])
    const [a, b, c] = seatsInRun(facts, SEATS)
    assert.deepStrictEqual(a?.recount, { kind: "not counted", reason: "made the decided proposal" })
    assert.deepStrictEqual(b?.recount, { kind: "counted", outcome: "opposite" })
    assert.deepStrictEqual(c?.recount, { kind: "counted", outcome: "same" })
    const times = facts.atMs.map((at) => at ?? Number.NaN)
    assert.isTrue((times[1] ?? 0) < (times[0] ?? 0) && (times[0] ?? 0) < (times[2] ?? 0), times.join())
    // Only the last one holds the decision up, by the time since the one before.
    assert.deepStrictEqual([a?.savedMs, b?.savedMs, c?.savedMs], [0, 0, (times[2] ?? 0) - (times[0] ?? 0)])
  })

  it("know abstentions, silent seats and runs without decision", () => {
    const open = [opened({ participants: SEATS }), proposes("a"), votes("a", "ABSTAIN"), votes("b", "REJECT")].flat()
    const facts = factsOf(open)
    assert.deepStrictEqual(facts.votes, ["abstain", "against", undefined])
    assert.strictEqual(facts.outcome, "none")
    assert.strictEqual(facts.notCounted, "no decision")
    assert.deepStrictEqual(facts.pivotal, [undefined, undefined, undefined])
    assert.isUndefined(facts.atMs[2])
    assert.isTrue(seatsInRun(facts, SEATS).every(({ recount }) => recount.kind === "not counted"))
  })

  it("are about the decided proposal where several are voted on", () => {
    const facts = factsOf(
      opened({ participants: SEATS }),
      proposes("a", "p1"),
      proposes("b", "p2"),
      votes("a", "APPROVE", "p1"),
      votes("b", "REJECT", "p2"),
      says("c", "Vote", { vote: "APPROVE" }, "p2"),
      votes("c", "REJECT", "p1"),
      commits(true)
    )
    // The commitment does not name its proposal, so the last vote of each counts.
    assert.deepStrictEqual(facts.votes, ["for", "against", "against"])
  })
})

const SAME: SeatRecount = { kind: "counted", outcome: "same" }
const seat = (recount: SeatRecount, more: Partial<SeatInRun> = {}): SeatInRun => ({
  ...{ recount, isPivotal: recount !== SAME, costUsd: 0.01, timeMs: 100, savedMs: 20 },
  ...more
})

const worthOf = (...runs: ReadonlyArray<readonly [times: number, run: Omit<WorthRun, "caseId">]>) => {
  const worth = emptyWorth(["a"])
  for (const [at, [times, run]] of runs.entries()) {
    for (let repeat = 0; repeat < times; repeat++) addWorth(worth, { caseId: `${at}-${repeat}`, ...run })
  }
  const [found] = seatWorths(worth)
  if (found === undefined) throw new Error("no seat")
  return found
}

describe("what a seat is worth", () => {
  it("counts changed decisions, right ones that are lost and wrong ones that are prevented, with intervals", () => {
    const none: SeatRecount = { kind: "counted", outcome: "none" }
    const opposite: SeatRecount = { kind: "counted", outcome: "opposite" }
    const found = worthOf(
      [70, { seats: [seat(SAME)], isRight: true }],
      [12, { seats: [seat(none)], isRight: true }],
      [5, { seats: [seat(opposite)], isRight: false }],
      [3, { seats: [seat(none)] }],
      [10, { seats: [seat({ kind: "not counted", reason: "the policy names it" }, { isPivotal: undefined })] }]
    )
    assert.deepInclude(found, { runs: 90, cases: 90, notCounted: { "the policy names it": 10 }, oppositeAllowed: 5 })
    assert.deepStrictEqual(found.changed, { count: 20, n: 90, ...wilson(20, 90) })
    assert.deepStrictEqual(found.rightLost, { count: 12, n: 87, ...wilson(12, 87) })
    assert.deepStrictEqual(found.wrongPrevented, { count: 5, n: 87, ...wilson(5, 87) })
    assert.deepStrictEqual(found.pivotal, { count: 20, n: 90, ...wilson(20, 90) })
    assert.approximately(found.costUsd, 1, 1e-9)
    assert.approximately(found.costPerRunUsd, 0.01, 1e-9)
    assert.approximately(found.costPerRightUsd ?? Number.NaN, 0.87 / 12, 1e-9)
    assert.approximately(found.meanTimeMs ?? Number.NaN, 100, 1e-9)
    assert.approximately(found.meanSavedMs ?? Number.NaN, 20, 1e-9)
    assert.isUndefined(found.idle)
  })

  it("names a seat that changes nothing in 300 cases, with at most 1 % at 95 %", () => {
    const idle = worthOf([300, { seats: [seat(SAME)] }])
    assert.strictEqual(((idle.idle?.atMost ?? 1) * 100).toFixed(2), "0.99")
    assert.isUndefined(idle.costPerRightUsd)
    assert.deepInclude(idle.rightLost, { count: 0, n: 0 })
    assert.isUndefined(worthOf([299, { seats: [seat(SAME)] }]).idle)
    assert.isUndefined(
      worthOf([400, { seats: [seat(SAME)] }], [1, { seats: [seat({ kind: "counted", outcome: "none" })] }]).idle
    )
  })

  it("does not take repeats of one case for 300 cases", () => {
    const worth = emptyWorth(["a"])
    for (let run = 0; run < 600; run++) addWorth(worth, { caseId: `case-${run % 20}`, seats: [seat(SAME)] })
    const [found] = seatWorths(worth)
    assert.isUndefined(found?.idle)
    assert.deepInclude(found, { runs: 600, cases: 20 })
    assert.approximately(found?.changed.high ?? 0, wilson(0, 20).high, 1e-12)
  })

  it("of no run has neither shares nor times", () => {
    const found = worthOf()
    assert.deepInclude(found, { runs: 0, cases: 0, costUsd: 0, costPerRunUsd: 0 })
    assert.deepInclude(found.changed, { count: 0, n: 0, low: 0, high: 1 })
    assert.isUndefined(found.meanTimeMs)
  })
})

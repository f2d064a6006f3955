import { assert, describe, it } from "@effect/vitest"
import {
  type CommitteeSearch,
  type EffectiveVotes,
  independenceText,
  type SeatErrors,
  type SeatWorth,
  searchResultText,
  worthText
} from "../../src/index.ts"

const seats = ["a", "b", "c", "d", "e"].map((seat): SeatErrors => ({ seat, runs: 60, cases: 60, errors: 20 }))
const textOf = (effectiveVotes: EffectiveVotes) => independenceText({ effectiveVotes, seats })

const known = (over: object = {}): EffectiveVotes => ({
  kind: "known",
  seats: seats.map(({ seat }) => seat),
  meanCorrelation: { value: 0.35, low: 0.2, high: 0.5 },
  value: 2.08,
  isOrMore: false,
  interval: { low: 1.7, high: 2.83, isHighOrMore: false },
  hasFewErrors: false,
  pairsLeftOut: 0,
  ...over
})

describe("a committee in one line", () => {
  it("has the independent votes with their interval", () => {
    assert.strictEqual(textOf(known()), "5 seats, 2.1 (1.7 to 2.8) independent votes")
    assert.strictEqual(
      textOf(
        known({ seats: ["a", "b"], value: 2, isOrMore: true, interval: { low: 1.9, high: 2, isHighOrMore: true } })
      ),
      "5 seats, 2.0 or more (1.9 to 2.0 or more) independent votes of the 2 that count"
    )
    assert.match(textOf(known({ hasFewErrors: true })), /votes; few errors, the interval may be too narrow$/)
  })

  it("has what is missing before there is a number", () => {
    const needs = (seat: string, errors: number) => ({ seat, cases: 10, errors, right: 0 })
    const missing = { cases: 10, seats: [needs("a", 4), needs("b", 1), needs("c", 0), needs("d", 2), needs("e", 2)] }
    assert.strictEqual(
      textOf({ kind: "unknown", reason: "too few runs", missing }),
      "5 seats, no number of independent votes yet, which needs 10 more cases with a mark correct, 4 more errors of a, 1 more error of b, 2 more errors of d, and some of one other seat"
    )
    assert.match(
      textOf({ kind: "unknown", reason: "no correlation" }),
      /no number of independent votes: fewer than two of them are sometimes right and sometimes wrong$/
    )
  })

  it("names the seat that decisions need least, the dearest of several", () => {
    const worth = (seat: string, count: number, costPerRunUsd: number): SeatWorth => {
      const share = (part: number, n: number) => ({ count: part, n, rate: n === 0 ? 0 : part / n, low: 0, high: 1 })
      return {
        ...{ seat, runs: 320, cases: 310, notCounted: {}, changed: share(count, 320), rightLost: share(0, 0) },
        ...{ wrongPrevented: share(0, 0), oppositeAllowed: 0, pivotal: share(0, 0), costUsd: 1, costPerRunUsd },
        ...(count === 0 && { idle: { atMost: 0.0096 } })
      }
    }
    assert.strictEqual(
      worthText([worth("a", 12, 0.1), worth("b", 0, 0.01), worth("c", 0, 0.02)]),
      "3 seats; without c 0 of 320 decisions would be refused, at most 1 % at 95 %"
    )
    assert.strictEqual(worthText([]), "0 seats, no run can be counted again without one of them")
  })

  it("has what a search found, and never more than it has confirmed", () => {
    const search = {
      ...({ method: "all", candidates: 5, policies: 0, excluded: 0, choosing: { runs: 200, cases: 190 } } as const),
      confirming: { runs: 190, cases: 180 }
    }
    const found = (rate: number, lowerBound: number): CommitteeSearch => ({
      kind: "named",
      committee: {
        ...{ seats: ["a"], removed: ["b"], agreement: { rate, low: 0.97, high: 1, lowerBound, undecided: 0 } },
        saved: { costUsd: 2, costShare: 0.4 }
      },
      search
    })
    assert.strictEqual(
      searchResultText(found(0.9965, 0.98049)),
      "Without b 40 % cheaper, same outcome in 99 of 100 cases (at least 98.0 %)"
    )
    assert.strictEqual(
      searchResultText(found(1, 0.9835)),
      "Without b 40 % cheaper, same outcome in all 180 cases (at least 98.3 %)"
    )
    assert.match(searchResultText({ kind: "none", reason: "not confirmed", search }), /no committee is named$/)
    const under = found(1, 0.9835)
    if (under.kind !== "named") return assert.fail(under.kind)
    const other: CommitteeSearch = { ...under, committee: { ...under.committee, policy: 1 } }
    assert.match(searchResultText(other, ["p.one", "p.two"]), /^Under p\.two without b 40 % cheaper, same outcome/)
    assert.match(
      searchResultText({ kind: "none", reason: "none chosen", search }, ["p.one"]),
      /first half of the cases, under no policy that was tried$/
    )
  })
})

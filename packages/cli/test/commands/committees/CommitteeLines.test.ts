import { assert, describe, it } from "@effect/vitest"
import { CommitteeIndependence, CommitteeSearchAnswer, CommitteeWorth } from "@runplane/api"
import * as Schema from "effect/Schema"
import { independenceLines, searchLines, worthLines } from "../../../src/commands/committees/CommitteeLines.ts"

const share = (rate: number) => ({ rate, low: rate - 0.1, high: Math.min(1, rate + 0.05) })
const counted = (count: number, n: number) => ({ count, n, rate: count / n, low: 0, high: 0.1 })
const set = { committee: "5d41", participants: ["a", "b", "lead"] }

const pair = (left: string, right: string, phi?: number) => ({
  left,
  right,
  errors: {
    ...{ sharedRuns: 60, both: 9, leftOnly: 3, rightOnly: 4, neither: 44, isTooFew: false },
    ...(phi !== undefined && { phi: { value: phi, low: phi - 0.2, high: phi + 0.1 }, largestPhi: 0.9 })
  },
  agreement: { runs: 60, agreed: 53, share: share(0.883), kappa: 0.6 }
})

const independence = Schema.decodeUnknownSync(CommitteeIndependence)({
  ...set,
  summary: "3 seats, 1.5 (1.2 to 2.0) independent votes",
  runs: 80,
  cases: 60,
  truth: {
    ...{ runs: 80, withTruth: 60, share: share(0.75) },
    outcomes: {
      withTruth: { positive: 30, negative: 30, none: 0 },
      withoutTruth: { positive: 18, negative: 1, none: 1 }
    },
    positiveDifference: { value: -0.45, low: -0.6, high: -0.2 }
  },
  effectiveVotes: {
    ...{ kind: "known", seats: ["a", "b"], value: 1.5, isOrMore: false, hasFewErrors: true, pairsLeftOut: 0 },
    meanCorrelation: { value: 0.6, low: 0.4, high: 0.7 },
    interval: { low: 1.2, high: 2, isHighOrMore: false }
  },
  seats: [
    { seat: "a", runs: 60, cases: 60, errors: 12, accuracy: share(0.8) },
    { seat: "b", runs: 60, cases: 60, errors: 13, accuracy: share(0.78) },
    { seat: "lead", runs: 0, cases: 0, errors: 0, leftOut: "no value" }
  ],
  pairs: [pair("a", "lead"), pair("a", "b", 0.66)],
  sharedModels: [{ model: "m-small", seats: ["a", "b"] }],
  sharedPrompts: [{ promptHash: "9f86d081", seats: ["a", "b"] }],
  shadows: [],
  shadowsLeftOut: 0
})

const shadow = { shadow: "b~new", as: "b", agent: "new", tried: 60 }

describe("a committee as text", () => {
  it("has its figure, its seats, and the pairs that err together first", () => {
    assert.deepStrictEqual(independenceLines(independence, 120), [
      "3 seats, 1.5 (1.2 to 2.0) independent votes",
      "60 of 80 ended runs have a decision with a mark correct; these differ from the others in their outcomes, so the figures may not hold for all.",
      "This measures dependence, not accuracy.",
      "The same prompt is behind a and b: 9f86d081.",
      "",
      "SEAT  RIGHT                ERRORS    COUNTS        SHARES ITS MODEL",
      "a     80 % (70 % to 85 %)  12 of 60  yes           m-small",
      "b     78 % (68 % to 83 %)  13 of 60  yes           m-small",
      "lead  no truth             0 of 0    no: no value  -",
      "",
      "TWO SEATS  BOTH ERRED  CORRELATION OF ERRORS  AT MOST  SAME VOTE",
      "a, b       9 of 60     0.66 (0.46 to 0.76)    0.90     88 %, 53 of 60",
      "a, lead    9 of 60     not defined            -        88 %, 53 of 60"
    ])
  })

  it("has shadows apart from the seats", () => {
    const shadowed = Schema.decodeUnknownSync(CommitteeIndependence)({
      ...independence,
      shadows: [
        {
          ...{ ...shadow, runs: 58, cases: 58, errors: 12, accuracy: share(0.79) },
          pairs: [pair("a", "b~new", 0.2), pair("b", "b~new", 0.7)]
        }
      ],
      shadowsLeftOut: 1
    })
    const plain = independenceLines(independence, 120)
    const lines = independenceLines(shadowed, 120)
    assert.deepStrictEqual(lines.slice(0, plain.length), plain)
    assert.deepStrictEqual(lines.slice(plain.length + 2), [
      "SHADOW  BESIDE  TRIED IN  RIGHT                ERRORS",
      "b~new   b       60 runs   79 % (69 % to 84 %)  12 of 58",
      "",
      "A SEAT AND A SHADOW  BOTH ERRED  CORRELATION OF ERRORS  AT MOST  SAME VOTE",
      "b, b~new             9 of 60     0.70 (0.50 to 0.80)    0.90     88 %, 53 of 60",
      "a, b~new             9 of 60     0.20 (0.00 to 0.30)    0.90     88 %, 53 of 60",
      "1 more shadow without figures: tried earlier"
    ])
  })

  it("has what each seat is worth", () => {
    const seat = (name: string, changed: number, more: object) => ({
      ...{ seat: name, runs: 400, cases: 380, notCounted: {}, changed: counted(changed, 400) },
      ...{ rightLost: counted(changed, 300), wrongPrevented: counted(0, 300), oppositeAllowed: 0 },
      ...{ pivotal: counted(changed, 390), costUsd: 4, costPerRunUsd: 0.01, guessedCostUsd: 0, ...more }
    })
    const found = Schema.decodeUnknownSync(CommitteeWorth)({
      ...{ ...set, summary: "2 seats", runs: 400, costUsd: 8 },
      seats: [
        seat("a", 40, { meanSavedMs: 1_234, guessedCostUsd: 1 }),
        seat("b", 0, { idle: { atMost: 0.0079 }, notCounted: { "opened the session": 2 } })
      ],
      shadows: [],
      shadowsLeftOut: 0
    })
    assert.deepStrictEqual(worthLines(found, 160).slice(3), [
      "WITHOUT  NO DECISION              RIGHT LOST  WRONG PREVENTED  PIVOTAL    COST A RUN  EARLIER BY  NOT COUNTED",
      "a        40 of 400                40 of 300   0 of 300         40 of 390  ≈ $0.0100   ≈ 1.2 s     -",
      "b        0 of 400, at most 0.8 %  0 of 300    0 of 300         0 of 390   $0.0100     -           2 opened the session"
    ])
  })

  it("has what a shadow would have changed, and its votes beside those of its participant", () => {
    const found = (more: object) =>
      Schema.decodeUnknownSync(CommitteeWorth)({
        ...{ ...set, summary: "2 seats", runs: 400, costUsd: 8, seats: [], shadowsLeftOut: 0 },
        shadows: [
          {
            ...{ ...shadow, summary: "s", runs: 58, cases: 58, notCounted: { "no vote of the shadow": 2 } },
            ...{ changed: counted(3, 58), rightLost: counted(1, 50), wrongPrevented: counted(2, 50) },
            ...{ oppositeAllowed: 1, paired: { ...paired, ...more } },
            cost: { runs: 58, costUsd: 0.58, costPerRunUsd: 0.01, guessedCostUsd: 0.1 }
          }
        ]
      })
    const paired = {
      ...{ runs: 50, cases: 50, participantRight: 38, shadowRight: 44, participantOnly: 2, shadowOnly: 8 },
      ...{ p: 0.109375, isTooFew: false }
    }
    assert.deepStrictEqual(worthLines(found({}), 160).slice(-2), [
      "SHADOW  NO DECISION  RIGHT LOST  WRONG PREVENTED  RIGHT VOTES  ITS PARTICIPANT'S  P      COST A RUN  NOT COUNTED",
      "b~new   3 of 58      1 of 50     2 of 50          44 of 50     38 of 50           0.109  ≈ $0.0100   2 no vote of the shadow"
    ])
    assert.include(worthLines(found({ isTooFew: true }), 160).at(-1), "too few cases")
  })

  it("says what a search found, how hard it searched, and how often", () => {
    const search = {
      ...{ method: "all", candidates: 3, policies: 0, excluded: 1 },
      choosing: { runs: 200, cases: 160 },
      confirming: { runs: 210, cases: 170 }
    }
    const answer = (found: object, tried: ReadonlyArray<string> = []) =>
      searchLines(
        Schema.decodeUnknownSync(CommitteeSearchAnswer)({
          ...{ ...set, summary: "Without b 40 % cheaper", found, searches: 2, otherCommittees: 5, truncated: false }
        }),
        tried
      )
    const committee = {
      ...{ seats: ["a", "lead"], removed: ["b"], agreement: { ...share(1), high: 1, lowerBound: 0.982, undecided: 0 } },
      accuracy: { all: counted(90, 120), named: counted(89, 120) },
      saved: { costUsd: 2, costShare: 0.4, meanMs: 800 }
    }
    assert.deepStrictEqual(answer({ kind: "named", committee, search }), [
      "Without b 40 % cheaper.",
      "Remaining seats: a, lead.",
      "Right decisions: 89 of 120, with all seats 90 of 120.",
      "A decision could come 0.8 s sooner, an estimate.",
      "3 subsets were tried on 160 cases, all that no policy excludes; the chosen one was confirmed or refused on 170 other cases.",
      "2 searches over runs of these participants so far; the best of many looks better than it is.",
      "5 runs of other participants are left out."
    ])
    assert.lengthOf(answer({ kind: "none", reason: "not confirmed", search }), 4)
    const other = {
      ...committee,
      policy: { index: 1, name: "policies.1" },
      agreement: { ...share(1), lowerBound: 0.98, undecided: 4 }
    }
    const under = answer({ kind: "named", committee: other, search: { ...search, policies: 2 } }, ["a.json", "b.json"])
    assert.deepStrictEqual(under.slice(2, 4), [
      "Policy: b.json.",
      "In 4 of these cases the votes would have allowed the opposite outcome, too: they do not decide it."
    ])
    assert.include(under.join("\n"), "3 subsets under their own policy and 2 more were tried on 160 cases")
  })
})

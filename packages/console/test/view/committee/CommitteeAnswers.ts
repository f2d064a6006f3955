import { CommitteeIndependences, CommitteeSearchAnswer, CommitteeWorths } from "@runplane/api"
import * as Schema from "effect/Schema"

const COMMITTEE = "4aa2ecdacf7b5b4db249a550bd6176bf"
const PARTICIPANTS = ["cost-analyst", "impact-analyst", "risk-analyst"]
const SHADOW = { shadow: "impact-analyst~impact-agent-2", as: "impact-analyst", agent: "impact-agent-2" }
const of = (count: number, n: number) => ({ count, n, rate: count / n, low: 0, high: (count + 3) / n })
const share = (rate: number) => ({ rate, low: rate - 0.05, high: rate + 0.05 })
const seatErrors = (seat: string, errors: number) => ({
  ...{ seat, runs: 300, cases: 210, errors },
  accuracy: share(1 - errors / 300)
})
const pair = (left: string, right: string, phi: number) => ({
  ...{ left, right },
  errors: {
    ...{ sharedRuns: 300, both: 20, leftOnly: 10, rightOnly: 12, neither: 258, isTooFew: false },
    ...{ phi: { value: phi, low: phi - 0.1, high: phi + 0.1 }, largestPhi: 0.93 }
  },
  agreement: { runs: 320, agreed: 280, share: share(0.875), kappa: 0.61 }
})

/** Three seats, two of one model; the runs with a mark are not like the others. */
export const independences: CommitteeIndependences = Schema.decodeUnknownSync(CommitteeIndependences)({
  data: [
    {
      ...{ committee: COMMITTEE, participants: PARTICIPANTS, runs: 320, cases: 220 },
      summary: "3 seats, 1.8 (1.5 to 2.2) independent votes",
      truth: {
        ...{ runs: 320, withTruth: 300, share: share(0.94) },
        outcomes: {
          withTruth: { positive: 240, negative: 60, none: 0 },
          withoutTruth: { positive: 10, negative: 9, none: 1 }
        },
        positiveDifference: { value: 0.27, low: 0.08, high: 0.46 }
      },
      effectiveVotes: {
        ...{ kind: "known", seats: PARTICIPANTS, meanCorrelation: { value: 0.33, low: 0.2, high: 0.45 } },
        ...{ value: 1.8, isOrMore: false, interval: { low: 1.5, high: 2.2, isHighOrMore: false } },
        ...{ hasFewErrors: false, pairsLeftOut: 0 }
      },
      seats: [seatErrors("cost-analyst", 60), seatErrors("impact-analyst", 62), seatErrors("risk-analyst", 71)],
      pairs: [
        pair("cost-analyst", "impact-analyst", 0.82),
        pair("cost-analyst", "risk-analyst", 0.21),
        pair("impact-analyst", "risk-analyst", -0.04)
      ],
      sharedModels: [{ model: "vendor1-4o-mini", seats: ["cost-analyst", "impact-analyst"] }],
      sharedPrompts: [{ promptHash: "9f86d081884c7d65", seats: ["cost-analyst", "impact-analyst"] }],
      shadows: [
        {
          ...{ ...SHADOW, tried: 60, runs: 58, cases: 51, errors: 9, accuracy: share(1 - 9 / 58) },
          pairs: PARTICIPANTS.map((seat) => pair(seat, SHADOW.shadow, seat === SHADOW.as ? 0.64 : 0.12))
        }
      ],
      shadowsLeftOut: 0
    }
  ],
  ...{ truncated: false, waiting: 0 }
})

const worth = (seat: string, changed: number, costPerRunUsd: number) => ({
  ...{ seat, runs: 320, cases: 220, notCounted: {}, oppositeAllowed: 0, guessedCostUsd: 0 },
  ...{ changed: of(changed, 320), rightLost: of(changed, 300), wrongPrevented: of(0, 300), pivotal: of(changed, 310) },
  ...{ costUsd: costPerRunUsd * 320, costPerRunUsd, meanTimeMs: 1_200, model: "vendor1-4o-mini" }
})

export const worths: CommitteeWorths = Schema.decodeUnknownSync(CommitteeWorths)({
  data: [
    {
      ...{ committee: COMMITTEE, participants: PARTICIPANTS, runs: 320, costUsd: 3.2 },
      summary: "3 seats; without impact-analyst 0 of 320 decisions would be refused, at most 1 % at 95 %",
      seats: [
        worth("risk-analyst", 31, 0.004),
        worth("cost-analyst", 0, 0.002),
        { ...worth("impact-analyst", 0, 0.004), idle: { atMost: 0.0093 } }
      ],
      shadows: [
        {
          ...{ ...SHADOW, tried: 60, runs: 58, cases: 51, notCounted: { "no vote of the shadow": 2 } },
          summary: `with ${SHADOW.shadow} in place of ${SHADOW.as} 2 of 58 decisions would be refused; it is right in 49 of 58 runs, ${SHADOW.as} in 41: p = 0.039`,
          ...{ changed: of(2, 58), rightLost: of(1, 58), wrongPrevented: of(1, 58), oppositeAllowed: 1 },
          cost: { runs: 58, costUsd: 0.29, costPerRunUsd: 0.005, guessedCostUsd: 0 },
          paired: {
            ...{ runs: 58, cases: 51, participantRight: 41, shadowRight: 49, participantOnly: 2, shadowOnly: 10 },
            ...{ p: 0.039, isTooFew: false }
          }
        }
      ],
      shadowsLeftOut: 0
    }
  ],
  ...{ truncated: false, waiting: 0 }
})

export const named: CommitteeSearchAnswer = Schema.decodeUnknownSync(CommitteeSearchAnswer)({
  ...{ committee: COMMITTEE, participants: PARTICIPANTS, searches: 2, otherCommittees: 3, truncated: false },
  summary: "Without impact-analyst 40 % cheaper, same outcome in all 160 cases (at least 98.1 %)",
  found: {
    kind: "named",
    committee: {
      ...{ seats: ["cost-analyst", "risk-analyst"], removed: ["impact-analyst"] },
      agreement: { rate: 1, low: 0.977, high: 1, lowerBound: 0.981, undecided: 0 },
      accuracy: { all: of(120, 150), named: of(120, 150) },
      saved: { costUsd: 0.64, costShare: 0.4, meanMs: 300 }
    },
    search: {
      ...{ method: "all", candidates: 6, policies: 0, excluded: 0 },
      ...{ choosing: { runs: 155, cases: 150 }, confirming: { runs: 165, cases: 160 } }
    }
  }
})

import { assert, describe, it } from "@effect/vitest"
import { effectiveOf, independence } from "@runplane/domain"
import {
  betaBinomial,
  committeeOf,
  gaussianCopula,
  runsFor,
  type Synthetic,
  uniform
} from "../support/SyntheticCommittees.ts"

/** Trials of all committees together; 2,000 take a minute of a core. */
const TRIALS = Number(process.env["COMMITTEE_TRIALS"] ?? 400)

const even = (seats: number) => Array.from({ length: seats }, (_, seat) => 0.55 + (0.4 * seat) / (seats - 1))

/** From 3 to 9 seats with accuracies of 0.55 to 0.95, whose correlation is known. */
const committees: ReadonlyArray<Synthetic> = [
  betaBinomial(3, 0.55, 0.4),
  betaBinomial(3, 0.95, 0.1),
  betaBinomial(5, 0.75, 0.1),
  betaBinomial(5, 0.75, 0.7),
  betaBinomial(5, 0.95, 0.4),
  betaBinomial(9, 0.75, 0.4),
  gaussianCopula(even(3), 0.5),
  gaussianCopula(even(4), 0.8),
  gaussianCopula(even(6), 0.2),
  gaussianCopula(even(9), 0.5)
]

describe("the effective votes of synthetic committees with 50 errors a seat", () => {
  it("are in the interval of 95 % in 92 to 97 % of the trials", () => {
    const next = uniform(2_026)
    let [covered, known] = [0, 0]
    for (let trial = 0; trial < TRIALS; trial++) {
      const synthetic = committees[trial % committees.length]
      if (synthetic === undefined) continue
      const truth = effectiveOf(synthetic.accuracies.length, synthetic.meanCorrelation)
      const { effectiveVotes } = independence(committeeOf(synthetic, runsFor(50, synthetic), next))
      if (effectiveVotes.kind === "unknown") continue
      const { high, low } = effectiveVotes.interval
      known += 1
      if (low <= truth && truth <= high) covered += 1
    }
    assert.strictEqual(known, TRIALS)
    assert.isTrue(covered >= 0.92 * known && covered <= 0.97 * known, `${covered} of ${known}`)
  })

  it("have a median that is off by at most 3 %", () => {
    const next = uniform(2_027)
    for (const synthetic of [betaBinomial(5, 0.95, 0.4), betaBinomial(9, 0.55, 0.2), gaussianCopula(even(7), 0.4)]) {
      const truth = effectiveOf(synthetic.accuracies.length, synthetic.meanCorrelation)
      const runs = Math.max(500, runsFor(60, synthetic))
      const errors = Array.from({ length: 200 }, () => {
        const { effectiveVotes } = independence(committeeOf(synthetic, runs, next), { resamples: 1 })
        return effectiveVotes.kind === "known" ? effectiveVotes.value / truth - 1 : Number.NaN
      }).toSorted((one, other) => one - other)
      assert.isAtMost(Math.abs(errors[100] ?? Number.NaN), 0.03)
      assert.isAtLeast(errors.filter((error) => Math.abs(error) <= 0.1).length, 160)
    }
  })
})

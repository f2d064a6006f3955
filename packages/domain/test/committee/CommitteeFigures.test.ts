import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import {
  addRun,
  emptyCommittee,
  highestRate,
  independence,
  largestPhi,
  lowestRate,
  mcNemar,
  pairedPower,
  phiOf,
  shareDifference,
  wilson
} from "@runplane/domain"
import * as Schema from "effect/Schema"
import { copulaPhi, normalQuantile } from "../support/SyntheticCommittees.ts"

const pair = Schema.Tuple([Schema.Finite, Schema.Finite])

/** Figures of numpy, scipy and statsmodels; `figures.py` beside them makes them. */
const Figures = Schema.Struct({
  phi: Schema.Array(
    Schema.Struct({
      table: Schema.Tuple([Schema.Finite, Schema.Finite, Schema.Finite, Schema.Finite]),
      phi: Schema.Finite,
      largest: Schema.Finite,
      low: Schema.Finite,
      high: Schema.Finite
    })
  ),
  committees: Schema.Array(
    Schema.Struct({
      seats: Schema.Finite,
      runs: Schema.Array(Schema.String),
      meanCorrelation: Schema.Finite,
      low: Schema.Finite,
      high: Schema.Finite,
      effective: Schema.Finite,
      accuracy: Schema.Finite,
      standardError: Schema.Finite
    })
  ),
  bounds: Schema.Array(
    Schema.Struct({
      count: Schema.Finite,
      n: Schema.Finite,
      alpha: Schema.Finite,
      low: Schema.Finite,
      high: Schema.Finite
    })
  ),
  mcnemar: Schema.Array(Schema.Struct({ firstOnly: Schema.Finite, secondOnly: Schema.Finite, p: Schema.Finite })),
  power: Schema.Array(
    Schema.Struct({
      n: Schema.Finite,
      discordance: Schema.Finite,
      difference: Schema.Finite,
      alpha: Schema.Finite,
      power: Schema.Finite
    })
  ),
  difference: Schema.Array(Schema.Struct({ after: pair, before: pair, low: Schema.Finite, high: Schema.Finite })),
  copula: Schema.Array(Schema.Struct({ accuracies: pair, latent: Schema.Finite, phi: Schema.Finite }))
})
const figures = Schema.decodeUnknownSync(Schema.fromJsonString(Figures))(
  readFileSync(join(import.meta.dirname, "figures/figures.json"), "utf8")
)

/** The ends of two bootstraps with other random numbers differ by less. */
const RESAMPLED = 0.02

/** A committee whose decisions are all right: `1` is an error, `.` no vote. */
const committeeOf = (seats: number, runs: ReadonlyArray<string>) => {
  const committee = emptyCommittee(Array.from({ length: seats }, (_, seat) => `seat-${seat}`))
  for (const run of runs) {
    const [caseId = "", errors = ""] = run.split(" ")
    const votes = Array.from(errors, (error) =>
      error === "." ? undefined : error === "1" ? ("against" as const) : ("for" as const)
    )
    addRun(committee, { caseId, votes, outcome: "positive", isRight: true })
  }
  return committee
}

describe("the correlation of two seats", () => {
  it.each(figures.phi)(
    "is phi of numpy, its largest value, and the interval of scipy's bootstrap: $table",
    (figure) => {
      const [both, leftOnly, rightOnly, neither] = figure.table
      const n = both + leftOnly + rightOnly + neither
      assert.approximately(phiOf({ both, leftOnly, rightOnly, neither }) ?? Number.NaN, figure.phi, 1e-12)
      assert.approximately(
        largestPhi((both + leftOnly) / n, (both + rightOnly) / n) ?? Number.NaN,
        figure.largest,
        1e-12
      )
      const runs = ["11", "10", "01", "00"].flatMap((errors, at) =>
        Array.from({ length: figure.table[at] ?? 0 }, (_, run) => `${errors}-${run} ${errors}`)
      )
      const [found] = independence(committeeOf(2, runs)).pairs
      assert.deepInclude(found?.errors, { both, leftOnly, rightOnly, neither, sharedRuns: n, isTooFew: false })
      assert.approximately(found?.errors.phi?.value ?? Number.NaN, figure.phi, 1e-12)
      assert.approximately(found?.errors.phi?.low ?? Number.NaN, figure.low, RESAMPLED)
      assert.approximately(found?.errors.phi?.high ?? Number.NaN, figure.high, RESAMPLED)
    }
  )
})

describe("the effective votes", () => {
  it.each(figures.committees)("of $seats seats are those of numpy, resampled by case", (figure) => {
    const { effectiveVotes, seats } = independence(committeeOf(figure.seats, figure.runs))
    if (effectiveVotes.kind !== "known") return assert.fail(`no number: ${JSON.stringify(effectiveVotes)}`)
    const { interval, meanCorrelation, value } = effectiveVotes
    assert.approximately(value, figure.effective, 1e-9)
    assert.approximately(meanCorrelation.value, figure.meanCorrelation, 1e-9)
    assert.approximately(meanCorrelation.low, figure.low, RESAMPLED)
    assert.approximately(meanCorrelation.high, figure.high, RESAMPLED)
    const effective = (mean: number) => figure.seats / (1 + (figure.seats - 1) * mean)
    assert.approximately(interval.low, effective(meanCorrelation.high), 1e-9)
    assert.approximately(interval.high, effective(meanCorrelation.low), 1e-9)
    // Wilson's half width is close to that of the clustered standard error of statsmodels.
    const accuracy = seats[0]?.accuracy
    assert.approximately(accuracy?.rate ?? Number.NaN, figure.accuracy, 1e-12)
    assert.approximately(((accuracy?.high ?? 0) - (accuracy?.low ?? 0)) / (2 * 1.96), figure.standardError, 0.002)
  })
})

describe("exact bounds and tests", () => {
  it.each(figures.bounds)("Clopper-Pearson of $count of $n at $alpha is that of scipy", (figure) => {
    assert.approximately(lowestRate(figure.count, figure.n, figure.alpha), figure.low, 1e-9)
    assert.approximately(highestRate(figure.count, figure.n, figure.alpha), figure.high, 1e-9)
  })

  it.each(figures.mcnemar)("McNemar of $firstOnly and $secondOnly is that of statsmodels", (figure) => {
    assert.approximately(mcNemar(figure), figure.p, 1e-9)
    assert.approximately(mcNemar({ firstOnly: figure.secondOnly, secondOnly: figure.firstOnly }), figure.p, 1e-9)
  })

  it.each(figures.power)("the power of $n pairs is the sum over scipy's distributions", (figure) => {
    assert.approximately(pairedPower(figure.n, figure), figure.power, 1e-9)
  })

  it.each(figures.difference)("Newcombe's interval of $after and $before is that of statsmodels", (figure) => {
    const { high, low, value } = shareDifference(wilson(...figure.after), wilson(...figure.before))
    assert.approximately(value, figure.after[0] / figure.after[1] - figure.before[0] / figure.before[1], 1e-12)
    assert.approximately(low, figure.low, 1e-6)
    assert.approximately(high, figure.high, 1e-6)
  })
})

describe("the synthetic committees", () => {
  it.each(figures.copula)(
    "have the correlation of scipy's bivariate normal: $accuracies",
    ({ accuracies, latent, phi }) => {
      const thresholds = accuracies.map((accuracy) => normalQuantile(1 - accuracy))
      assert.approximately(copulaPhi(accuracies, thresholds, latent, 0, 1), phi, 1e-5)
    }
  )
})

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { kappaOf, type RatedPair, type RatedTarget, reliabilityOf } from "@runplane/domain"
import * as Schema from "effect/Schema"

/** Figures of scikit-learn, statsmodels and krippendorff; `figures.py` beside them makes them. */
const Figures = Schema.Struct({
  kappa: Schema.Array(
    Schema.Struct({
      weights: Schema.Literals(["none", "linear", "quadratic"]),
      pairs: Schema.String,
      kappa: Schema.Finite,
      standardError: Schema.Finite
    })
  ),
  alpha: Schema.Array(
    Schema.Struct({
      metric: Schema.Literals(["nominal", "ordinal", "interval"]),
      ratings: Schema.Array(Schema.String),
      alpha: Schema.Finite
    })
  )
})
const figures = Schema.decodeUnknownSync(Schema.fromJsonString(Figures))(
  readFileSync(join(import.meta.dirname, "agreement/figures.json"), "utf8")
)

const pairsOf = (text: string): ReadonlyArray<RatedPair> =>
  text.split(" ").map((pair) => {
    const [left = "", right = ""] = pair.split("-")
    return { left, right, count: 1 }
  })

/** The rows of the table are raters, and its columns targets. */
const targetsOf = (ratings: ReadonlyArray<string>): ReadonlyArray<RatedTarget> => {
  const rows = ratings.map((row) => row.split(" "))
  return (rows[0] ?? []).map((_, at) => {
    const counts = new Map<number, number>()
    for (const row of rows) {
      const value = row[at]
      if (value !== undefined && value !== ".") counts.set(Number(value), (counts.get(Number(value)) ?? 0) + 1)
    }
    return counts
  })
}

describe("kappa", () => {
  it.each(figures.kappa)("with $weights weights is that of scikit-learn, its error that of statsmodels", (figure) => {
    const { kappa } = kappaOf(pairsOf(figure.pairs), figure.weights, Number)
    assert.approximately(kappa?.value ?? Number.NaN, figure.kappa, 1e-9)
    assert.approximately(kappa?.standardError ?? Number.NaN, figure.standardError, 1e-9)
  })

  it("with weights does not depend on where the scale begins and how long it is", () => {
    for (const { pairs, weights } of figures.kappa) {
      const plain = kappaOf(pairsOf(pairs), weights, Number).kappa
      const moved = kappaOf(pairsOf(pairs), weights, (value) => 1e6 + Number(value) / 100).kappa
      assert.approximately(moved?.value ?? Number.NaN, plain?.value ?? 0, 1e-6)
      assert.approximately(moved?.standardError ?? Number.NaN, plain?.standardError ?? 0, 1e-6)
    }
  })
})

describe("alpha", () => {
  it.each(figures.alpha)("of $metric values is that of krippendorff, inside its interval", (figure) => {
    const { alpha } = reliabilityOf(targetsOf(figure.ratings), figure.metric)
    assert.approximately(alpha?.value ?? Number.NaN, figure.alpha, 1e-9)
    assert.isBelow(alpha?.low ?? 2, figure.alpha)
    assert.isAbove(alpha?.high ?? -2, figure.alpha)
  })

  it("has no value with one target, and where all values are the same", () => {
    const both = (value: number): RatedTarget => new Map([[value, 2]])
    assert.deepStrictEqual(reliabilityOf([], "nominal"), { targets: 0, values: 0, alpha: undefined })
    assert.isUndefined(
      reliabilityOf(
        [
          new Map([
            [1, 1],
            [2, 1]
          ])
        ],
        "nominal"
      ).alpha
    )
    assert.deepStrictEqual(reliabilityOf([both(1), both(1), new Map([[2, 1]])], "interval"), {
      targets: 2,
      values: 4,
      alpha: undefined
    })
  })

  it("of raters who always agree is 1, from the Wilson interval of their targets", () => {
    const targets = Array.from({ length: 20 }, (_, at): RatedTarget => new Map([[at % 2, 3]]))
    const { alpha } = reliabilityOf(targets, "interval")
    assert.strictEqual(alpha?.value, 1)
    assert.approximately(alpha?.low ?? 0, 0.8389, 5e-5)
    // Names of which one is rare: a single target that differs would be a large part of what can differ.
    assert.isBelow(
      reliabilityOf([...targets.slice(0, 1), ...targets.slice(1).map((): RatedTarget => new Map([[1, 3]]))], "nominal")
        .alpha?.low ?? 1,
      0
    )
  })

  it("has an interval that contains the value of all in most samples", () => {
    const draw = sequence(7)
    const target = (): RatedTarget => {
      const truth = draw() < 0.5 ? 0 : 1
      const counts = new Map<number, number>()
      for (let rater = 0; rater < 3; rater++) {
        const value = draw() < 0.8 ? truth : 1 - truth
        counts.set(value, (counts.get(value) ?? 0) + 1)
      }
      return counts
    }
    const all = reliabilityOf(Array.from({ length: 20_000 }, target), "nominal").alpha?.value ?? Number.NaN
    const found = Array.from({ length: 200 }, () => reliabilityOf(Array.from({ length: 60 }, target), "nominal").alpha)
    const covering = found.filter((one) => one !== undefined && one.low <= all && all <= one.high).length
    assert.isAtLeast(covering, 180)
    assert.isAtMost(covering, 199)
  })
})

/** Numbers from 0 to 1, always the same ones. */
const sequence = (seed: number) => {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

import { assert, describe, it } from "@effect/vitest"
import { addToCalibration, brierScore, emptyCalibration, type Forecasted, reliabilityCurve } from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

const calibrationOf = (forecasts: ReadonlyArray<Forecasted>) => forecasts.reduce(addToCalibration, emptyCalibration)

const forecasts = Arbitrary.array(
  Arbitrary.all({
    // Hundredths, so that ends of bins occur.
    confidence: Arbitrary.map(
      Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 }))),
      (hundredths) => hundredths / 100
    ),
    isRight: Arbitrary.schema(Schema.Boolean)
  }),
  { maxLength: 60 }
)

describe("the Brier score", () => {
  // Wikipedia, "Brier score": forecasts of rain.
  it.each([
    [1, true, 0],
    [1, false, 1],
    [0.7, true, 0.09],
    [0.3, true, 0.49],
    [0.5, true, 0.25],
    [0.5, false, 0.25]
  ])("of a confidence of %d that was right: %s is %d", (confidence, isRight, score) => {
    const found = brierScore(calibrationOf([{ confidence, isRight }]))
    assert.approximately(found?.score ?? Number.NaN, score, 1e-12)
    assert.strictEqual(found?.n, 1)
  })

  it("has no value without confidences", () => {
    assert.isUndefined(brierScore(emptyCalibration))
    assert.deepStrictEqual(reliabilityCurve(emptyCalibration), [])
  })

  it.prop("is the mean squared error", [forecasts], ([given]) => {
    const expected = given.reduce((sum, { confidence, isRight }) => sum + (confidence - (isRight ? 1 : 0)) ** 2, 0)
    const found = brierScore(calibrationOf(given))
    if (given.length === 0) assert.isUndefined(found)
    else assert.approximately(found?.score ?? Number.NaN, expected / given.length, 1e-9)
  })
})

describe("the reliability curve", () => {
  it("has ten bins, the last with 1", () => {
    const curve = reliabilityCurve(
      calibrationOf([
        { confidence: 0.85, isRight: true },
        { confidence: 0.89, isRight: false },
        { confidence: 0.9, isRight: true },
        { confidence: 1, isRight: true },
        { confidence: 0, isRight: false }
      ])
    )
    assert.deepStrictEqual(
      curve.map(({ high, low, n, right }) => ({ high, low, n, right })),
      [
        { low: 0, high: 0.1, n: 1, right: 0 },
        { low: 0.8, high: 0.9, n: 2, right: 0.5 },
        { low: 0.9, high: 1, n: 2, right: 1 }
      ]
    )
    assert.approximately(curve[1]?.confidence ?? Number.NaN, 0.87, 1e-12)
  })

  it.prop("counts each confidence once, in a bin that contains it", [forecasts], ([given]) => {
    const curve = reliabilityCurve(calibrationOf(given))
    assert.strictEqual(
      curve.reduce((sum, { n }) => sum + n, 0),
      given.length
    )
    for (const { confidence, high, low, right } of curve) {
      assert.isAtLeast(confidence, low - 1e-9)
      assert.isAtMost(confidence, high + 1e-9)
      assert.isAtLeast(right, 0)
      assert.isAtMost(right, 1)
    }
  })

  // Murphy 1973: the score is the reliability less the resolution plus the uncertainty, for forecasts equal in a bin.
  it.prop("divides the Brier score as Murphy does", [forecasts], ([given]) => {
    const equal = given.map(({ confidence, isRight }) => ({
      confidence: Math.min(9, Math.floor(confidence * 10)) / 10 + 0.05,
      isRight
    }))
    const n = equal.length
    if (n === 0) return
    const base = equal.filter(({ isRight }) => isRight).length / n
    const curve = reliabilityCurve(calibrationOf(equal))
    const reliability = curve.reduce((sum, bin) => sum + bin.n * (bin.confidence - bin.right) ** 2, 0) / n
    const resolution = curve.reduce((sum, bin) => sum + bin.n * (bin.right - base) ** 2, 0) / n
    const score = brierScore(calibrationOf(equal))?.score ?? Number.NaN
    assert.approximately(score, reliability - resolution + base * (1 - base), 1e-9)
  })
})

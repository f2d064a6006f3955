import { assert, describe, it } from "@effect/vitest"
import {
  agreementText,
  groupAgreement,
  groupText,
  MAX_CONFUSED,
  type MarkValue,
  RATING_INTERVALS,
  raterAgreement,
  ratingOf,
  runSliced,
  verdictText
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { pick } from "../support/arbitraries.ts"

const unit = { min: 0, max: 1 }

describe("a rating", () => {
  it.each<readonly [MarkValue, { readonly min?: number; readonly max?: number }, MarkValue]>([
    [0, unit, "0 to 0.2"],
    [0.2, unit, "0.2 to 0.4"],
    [0.59, unit, "0.4 to 0.6"],
    [0.8, unit, "0.8 to 1"],
    [1, unit, "0.8 to 1"],
    [-3, unit, "0 to 0.2"],
    [3, { min: 1, max: 5 }, "2.6 to 3.4"],
    [0.37, {}, 0.37],
    [0.37, { min: 0 }, 0.37],
    [0.37, { min: 1, max: 1 }, 0.37],
    [true, unit, true],
    ["rude", unit, "rude"]
  ])("of %s in %j is %s", (value, definition, rating) => {
    assert.strictEqual(ratingOf(value, definition), rating)
  })

  it("keeps the numbers of a small scale apart", () => {
    for (const max of [1, 2, 3, 4, 5]) {
      const scale = Array.from({ length: max }, (_, at) => ratingOf(at + 1, { min: 1, max }))
      assert.strictEqual(new Set(scale).size, max)
    }
  })

  const number = Arbitrary.schema(Schema.Finite.check(Schema.isBetween({ minimum: -1e6, maximum: 1e6 })))

  it.prop("is one of five, and grows with the number", [number, number], ([one, other]) => {
    const range = { min: -1e6, max: 1e6 }
    const all = Array.from({ length: 201 }, (_, at) => ratingOf(-1e6 + at * 1e4, range))
    const positions = [...new Set(all)]
    assert.strictEqual(positions.length, RATING_INTERVALS)
    const [low, high] = [one, other]
      .toSorted((left, right) => left - right)
      .map((value) => positions.indexOf(ratingOf(value, range)))
    assert.isAtLeast(low ?? -1, 0)
    assert.isAtLeast(high ?? -1, low ?? 0)
  })
})

describe("the agreement of two raters", () => {
  it("has the values of a definition in its order, true first, numbers ascending", () => {
    const order = (values: ReadonlyArray<MarkValue>, definition = {}) =>
      raterAgreement(
        values.map((value) => ({ left: value, right: value, count: 1 })),
        definition
      ).categories
    assert.deepStrictEqual(order(["bad", "fair", "good"], { categories: ["good", "fair", "bad"] }), [
      "good",
      "fair",
      "bad"
    ])
    assert.deepStrictEqual(order([false, true]), [true, false])
    assert.deepStrictEqual(order([10, 2, -1]), [-1, 2, 10])
    assert.deepStrictEqual(order(["b", "a"]), ["a", "b"])
    assert.deepStrictEqual(order([0.9, 0.1], unit), ["0 to 0.2", "0.8 to 1"])
  })

  /** Two raters of flags: targets on which they agree, and on which they do not. */
  const flags = (agreeing: number, other: number) =>
    raterAgreement([
      { left: true, right: true, count: Math.ceil(agreeing / 2) },
      { left: false, right: false, count: Math.floor(agreeing / 2) },
      { left: true, right: false, count: Math.ceil(other / 2) },
      { left: false, right: true, count: Math.floor(other / 2) }
    ])

  it.each([
    [1, 0, "unknown", "no verdict with 1 of at least 20 common targets"],
    [0, 1, "unknown", "no verdict with 1 of at least 20 common targets"],
    [19, 0, "unknown", "no verdict with 19 of at least 20 common targets"],
    [20, 0, "reliable", "reliable"],
    [12, 8, "unknown", "no verdict, because the interval contains 0.4"],
    [14, 6, "unknown", "no verdict, because the interval contains 0.4"],
    [10, 10, "unknown", "no verdict, because the interval contains 0.4"],
    [8, 12, "unreliable", "unreliable"],
    [1_200, 800, "unreliable", "unreliable"],
    [1_500, 500, "reliable", "reliable"]
  ] as const)("on %i same and %i other flags is %s: %s", (agreeing, other, verdict, text) => {
    const found = flags(agreeing, other)
    assert.deepInclude(found, { verdict, unreliable: verdict === "unreliable", weights: "none" })
    assert.strictEqual(verdictText(found), text)
    assert.include(agreementText(found), `${text}: `)
    assert.include(agreementText(found), `same value in ${agreeing} of ${agreeing + other}`)
  })

  it("has no verdict where both always give the same value, however many targets", () => {
    const found = raterAgreement([{ left: true, right: true, count: 300 }])
    assert.deepStrictEqual(found, {
      n: 300,
      agreed: 300,
      categories: [true],
      confusion: [[300]],
      weights: "none",
      verdict: "unknown",
      unreliable: false
    })
    assert.strictEqual(
      agreementText(found),
      "no verdict, because both always give the same value: same value in 300 of 300"
    )
  })

  it("of judges whose numbers differ by 0.01 is reliable, whether the name has a range or not", () => {
    const rated = Array.from({ length: 40 }, (_, at) => ({ left: at / 100, right: at / 100 + 0.01, count: 1 }))
    for (const definition of [{}, unit]) {
      const found = raterAgreement(rated, definition)
      assert.deepInclude(found, { weights: "quadratic", verdict: "reliable", unreliable: false })
      assert.isAbove(found.kappa?.value ?? 0, 0.99)
      assert.approximately(found.meanDifference ?? 0, 0.01, 1e-12)
      assert.match(
        agreementText(found),
        /^reliable: quadratic kappa 1\.00 from \d\.\d\d to 1\.00, 0\.01 apart on average, same/
      )
    }
    // Numbers that have nothing to do with each other.
    const random = rated.map(({ left }, at) => ({ left, right: (((at * 17) % 40) + 0.5) / 100, count: 1 }))
    assert.isTrue(raterAgreement(random).unreliable)
  })

  it("weights categories in an order by their distance, and others not", () => {
    const categories = ["good", "fair", "poor", "bad"]
    const near = categories.flatMap((left, at) =>
      [at, Math.min(3, at + 1)].map((other) => ({ left, right: categories[other] ?? "", count: 10 }))
    )
    const ordered = raterAgreement(near, { kind: "category", better: "first", categories })
    const plain = raterAgreement(near, { kind: "category", categories })
    assert.strictEqual(ordered.weights, "linear")
    assert.strictEqual(plain.weights, "none")
    assert.isAbove(ordered.kappa?.value ?? 0, plain.kappa?.value ?? 1)
    assert.strictEqual(ordered.agreed, plain.agreed)
    // A category that the definition no longer has is not on the scale.
    const gone = raterAgreement([...near, { left: "odd", right: "good", count: 1 }], {
      kind: "category",
      better: "first",
      categories
    })
    assert.strictEqual(gone.weights, "none")
  })

  it("reads texts of correct as flags", () => {
    const { agreed, categories } = raterAgreement([{ left: true, right: "True", count: 2 }], { name: "correct" })
    assert.deepStrictEqual([agreed, categories], [2, [true]])
  })

  it("keeps a text apart from a number and a flag that look the same", () => {
    const { agreed, categories } = raterAgreement([
      { left: 1, right: "1", count: 1 },
      { left: true, right: "true", count: 1 }
    ])
    assert.strictEqual(agreed, 0)
    assert.strictEqual(categories.length, 4)
  })

  const rated = Arbitrary.array(
    Arbitrary.all({
      left: pick<MarkValue>([true, false, "a", "b", 1, 2.5]),
      right: pick<MarkValue>([true, false, "a", "b", 1, 2.5]),
      count: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 })))
    }),
    { maxLength: 30 }
  )

  it.prop("counts each target once in the confusion, on its diagonal where both agree", [rated], ([given]) => {
    const { agreed, confusion, n } = raterAgreement(given)
    const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((so, number) => so + number, 0)
    assert.strictEqual(sum(confusion.flat()), n)
    assert.strictEqual(sum(confusion.map((row, at) => row[at] ?? 0)), agreed)
    assert.strictEqual(n, sum(given.map(({ count }) => count)))
  })

  it("shows the most frequent values of many, and counts all", () => {
    const many = Array.from({ length: 50 }, (_, at) => ({ left: at, right: at, count: 50 - at }))
    const { categories, confusion, n } = raterAgreement(many)
    assert.strictEqual(n, 1_275)
    assert.deepStrictEqual(
      categories,
      Array.from({ length: MAX_CONFUSED }, (_, at) => at)
    )
    assert.strictEqual(confusion.length, MAX_CONFUSED)
  })
})

describe("the agreement of all raters", () => {
  const target = (...values: ReadonlyArray<MarkValue>) => values.map((value) => ({ value, count: 1 }))
  const ofAll = (targets: Parameters<typeof groupAgreement>[1], definition = {}) =>
    runSliced(groupAgreement(3, targets, definition))

  it("compares numbers by their distance, ordered categories by rank, others as names", () => {
    const numbers = Array.from({ length: 30 }, (_, at) => target(at, at + 0.1, at - 0.1))
    const found = ofAll(numbers)
    assert.deepInclude(found, { raters: 3, targets: 30, metric: "interval" })
    assert.isAbove(found?.low ?? 0, 0.9)
    const categories = ["good", "fair", "bad"]
    const texts = [target("good", "good", "fair"), target("bad", "bad", "bad"), target("fair", "good", "fair")]
    assert.strictEqual(ofAll(texts, { kind: "category", better: "first", categories })?.metric, "ordinal")
    assert.strictEqual(ofAll(texts)?.metric, "nominal")
  })

  it("has no value where all raters always give the same value", () => {
    assert.isUndefined(ofAll([target(true, true, true), target(true, true, true)]))
    assert.isUndefined(ofAll([]))
  })

  it("says its raters and targets", () => {
    const found = ofAll(Array.from({ length: 40 }, (_, at) => target(at % 2 === 0, at % 2 === 0, at % 5 === 0)))
    if (found === undefined) return assert.fail("no alpha")
    assert.match(groupText(found), /^Krippendorff's alpha 0\.\d\d from \S+ to \S+, 3 raters on 40 targets$/)
  })
})

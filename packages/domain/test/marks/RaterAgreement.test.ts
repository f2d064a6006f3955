import { assert, describe, it } from "@effect/vitest"
import { MAX_CONFUSED, type MarkValue, RATING_INTERVALS, raterAgreement, ratingOf } from "@runplane/domain"
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
    const places = [...new Set(all)]
    assert.strictEqual(places.length, RATING_INTERVALS)
    const [low, high] = [one, other]
      .toSorted((left, right) => left - right)
      .map((value) => places.indexOf(ratingOf(value, range)))
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

  it("is reliable from 0.4 on, and where kappa has no value", () => {
    const table = (agreeing: number, other: number) =>
      raterAgreement([
        { left: true, right: true, count: agreeing },
        { left: false, right: false, count: agreeing },
        { left: true, right: false, count: other },
        { left: false, right: true, count: other }
      ])
    assert.deepInclude(table(7, 3), { unreliable: false })
    assert.approximately(table(7, 3).kappa?.value ?? 0, 0.4, 1e-12)
    assert.deepInclude(table(6, 4), { unreliable: true })
    assert.deepStrictEqual(raterAgreement([{ left: true, right: true, count: 3 }]), {
      n: 3,
      agreed: 3,
      categories: [true],
      confusion: [[3]],
      unreliable: false
    })
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

import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { isAffordable, isGoodEnough, offerOf, type Side } from "../../../src/examples/procurement/Bargaining.ts"
import { decodeTerms, encodeTerms } from "../../../src/examples/procurement/Terms.ts"

const terms = { unitPrice: 6_000, quantity: 3, paymentDays: 60, liabilityCap: 1 }
const buyer: Side = { opening: terms, limitPrice: 7_000, wants: "lower", settleDays: 40 }
const seller: Side = { opening: { ...terms, unitPrice: 8_000 }, limitPrice: 6_500, wants: "higher", settleDays: 40 }

describe("a side of the table", () => {
  it.prop("gives in step by step, from its opening to its limit and no further", [Schema.String], ([seed]) => {
    for (const side of [buyer, seller]) {
      const prices = [0, 1, 2, 3].map((n) => offerOf(side, n, 4, seed).unitPrice)
      const towards = side.wants === "lower" ? 1 : -1
      assert.deepStrictEqual(
        prices,
        prices.toSorted((one, other) => towards * (one - other))
      )
      assert.deepStrictEqual([prices[0], prices[3]], [side.opening.unitPrice, side.limitPrice])
      assert.strictEqual(offerOf(side, 9, 4, seed).unitPrice, side.limitPrice)
      assert.strictEqual(offerOf(side, 3, 4, seed).paymentDays, side.settleDays)
    }
  })

  it("has a temperament of its own", () => {
    const seconds = ["a", "b", "c", "d"].map((seed) => offerOf(buyer, 1, 4, seed).unitPrice)
    assert.isAbove(new Set(seconds).size, 1)
  })

  it("makes one offer when it may make no other", () => {
    assert.deepStrictEqual(offerOf(buyer, 0, 1, "a"), buyer.opening)
  })

  it("accepts an offer as good as its own next one, and nothing beyond its limit", () => {
    const next = { ...terms, unitPrice: 6_400 }
    assert.deepStrictEqual(
      [6_300, 6_400, 6_500].map((price) => isGoodEnough(buyer, price, next)),
      [true, true, false]
    )
    assert.deepStrictEqual(
      [7_100, 7_000, 6_999].map((price) => isAffordable(buyer, price)),
      [false, true, true]
    )
    assert.isFalse(isGoodEnough(seller, 6_400, { ...terms, unitPrice: 6_400 }))
    assert.isTrue(isGoodEnough(seller, 7_000, { ...terms, unitPrice: 6_900 }))
  })
})

describe("terms", () => {
  it("survive the way through a message", () => {
    assert.deepStrictEqual(decodeTerms(encodeTerms(terms)), terms)
  })

  it("are not read into anything else", () => {
    for (const text of ["", "null", '{"unitPrice":"7"}', "\u0000"]) {
      assert.isUndefined(decodeTerms(new TextEncoder().encode(text)))
    }
  })
})

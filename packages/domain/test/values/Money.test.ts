import { assert, describe, it } from "@effect/vitest"
import { costText, nanoUsd, sumUsd, usdOfNano, usdText } from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

const nano = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2e15 })))

describe("money", () => {
  it("sums without the digits of binary fractions", () => {
    assert.strictEqual(sumUsd([0.1, 0.2]), 0.3)
    assert.strictEqual(sumUsd(Array(10_000).fill(0.0001)), 1)
    assert.strictEqual(sumUsd([1_000_000, 0.000_000_001]), 1_000_000.000_000_001)
    assert.strictEqual(sumUsd([]), 0)
  })

  it.prop("keeps billionths up to two million dollars", [nano], ([whole]) => {
    assert.strictEqual(nanoUsd(usdOfNano(whole)), whole)
    assert.match(String(usdOfNano(whole)), /^(\d+(\.\d{1,9})?|\de-\d)$|e-/)
  })

  it.prop("sums in any order", [Arbitrary.array(nano, { maxLength: 20 })], ([parts]) => {
    const amounts = parts.map((part) => usdOfNano(Math.floor(part / 20)))
    const [first = 0, ...rest] = amounts
    assert.strictEqual(sumUsd(amounts), sumUsd([...rest.toReversed(), first]))
    assert.strictEqual(sumUsd(amounts), sumUsd([first, sumUsd(rest)]))
  })

  it.each([
    [0, 4, "$0.0000"],
    [0.0123, 4, "$0.0123"],
    [0.000_012_3, 4, "$0.0000123"],
    [0.008_356_4, 4, "$0.00836"],
    [0.000_000_001, 2, "$0.000000001"],
    [12.345, 2, "$12.35"],
    [0.05, 2, "$0.05"],
    [0.5, 2, "$0.50"],
    [0.012_34, 2, "$0.0123"],
    [1_234.5, 2, "$1,234.50"],
    [0.999_6, 2, "$1.00"],
    [-0.000_1, 2, "-$0.0001"]
  ])("writes %d with %d decimals as %s", (usd, decimals, text) => {
    assert.strictEqual(usdText(usd, decimals), text)
  })

  it("writes the amounts of one line with the same decimals", () => {
    const line = (amounts: ReadonlyArray<number>) => amounts.map((usd) => usdText(usd, 2, amounts))
    assert.deepStrictEqual(line([1, 0.5]), ["$1.00", "$0.50"])
    assert.deepStrictEqual(line([12, 0.000_123, 0.5, 0]), ["$12.000000", "$0.000123", "$0.500000", "$0.000000"])
    assert.strictEqual(costText(0.5, 0.000_12), "$0.50000, ≈ $0.00012 of it guessed")
    assert.strictEqual(costText(0.5), "$0.5000")
  })
})

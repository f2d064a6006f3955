import { assert, describe, it } from "@effect/vitest"
import {
  makeModelPrices,
  makeRepricing,
  type PriceList,
  type RecordedCallGroup,
  readPriceFile,
  specifiedPrices,
  sumUsd
} from "@runplane/domain"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const MILLION = 1_000_000
const AT = "2026-03-01T10:00:00.000Z"

const listOf = (file: object): PriceList => Result.getOrThrow(readPriceFile(JSON.stringify(file)))
const reprice = (file: object, groups: ReadonlyArray<RecordedCallGroup>) => {
  const repricing = makeRepricing(makeModelPrices(listOf(file)))
  for (const group of groups) repricing.add(group)
  return repricing.result()
}

const group = (changes: Partial<RecordedCallGroup>): RecordedCallGroup => ({
  at: AT,
  model: "m",
  promptTokens: MILLION,
  totalTokens: MILLION,
  estimatedCostUsd: 1,
  costBasis: "fallback",
  calls: 1,
  ...changes
})

const models = { m: { prompt: 2, completion: 4 } }

describe("recorded calls under other prices", () => {
  it("cost what their counts cost there, and the difference is exact", () => {
    const groups = [group({}), group({ promptTokens: 0, estimatedCostUsd: 3, calls: 2 }), group({ model: "other" })]
    const { models: found, ...sums } = reprice({ models }, groups)
    assert.deepStrictEqual(sums, {
      calls: 4,
      recordedUsd: 8,
      recordedGuessUsd: 8,
      costUsd: 11,
      guessedCostUsd: 1,
      differenceUsd: 3,
      callsWithoutUsage: 0
    })
    assert.deepStrictEqual(
      found.map(({ costUsd, model, priceKey }) => [model, costUsd, priceKey]),
      [
        ["m", 10, "file/m"],
        ["other", 1, undefined]
      ]
    )
  })

  it("keep a cost that the agent stated, and leave out calls without counts", () => {
    const { estimatedCostUsd: _, costBasis: __, ...silent } = group({ calls: 5 })
    const result = reprice({ models }, [group({ estimatedCostUsd: 7, costBasis: "supplied" }), silent])
    assert.deepInclude(result, { calls: 1, recordedUsd: 7, costUsd: 7, differenceUsd: 0, callsWithoutUsage: 5 })
  })

  it("have the price of their day, the tier of their own input, and the factor of a batch", () => {
    const prices = [
      { match: { equals: "m" }, input: 1, output: 1 },
      { match: { equals: "m" }, from: "2026-02-01", input: 2, output: 2, batchFactor: 0.5 },
      { match: { equals: "t" }, input: 1, output: 1, tiers: [{ above: 600_000, input: 10 }] }
    ]
    const cost = (changes: Partial<RecordedCallGroup>) => reprice({ prices }, [group(changes)]).costUsd
    assert.strictEqual(cost({ at: "2026-01-31T23:59:00.000Z" }), 1)
    assert.strictEqual(cost({ at: "2026-02-01T00:00:00.000Z" }), 2)
    assert.strictEqual(cost({ batch: true }), 1)
    const half = { model: "t", promptTokens: MILLION / 2, totalTokens: MILLION / 2 }
    assert.strictEqual(cost({ ...half, calls: 2 }), 1, "two calls below the tier")
    assert.strictEqual(cost({ model: "t" }), 10, "one call above it")
  })

  it("are added in whole billionths of a dollar", () => {
    const groups = [0.1, 0.2].map((estimatedCostUsd) => group({ estimatedCostUsd, costBasis: "supplied" }))
    assert.strictEqual(reprice({}, groups).recordedUsd, 0.3)
  })

  const Tokens = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 * MILLION }))
  const Groups = Schema.Array(
    Schema.Struct({
      at: Schema.Literals([AT, "2025-03-01T10:00:00.000Z"]),
      model: Schema.Literals(["vendor1-4o", "vendor2-3-haiku", "unknown"]),
      input: Tokens,
      output: Tokens,
      cachedTokens: Tokens,
      isSupplied: Schema.Boolean,
      calls: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 50 }))
    })
  ).check(Schema.isMaxLength(30))

  /** The groups as the prices of the specification recorded them. */
  const recordedOf = (groups: typeof Groups.Type): ReadonlyArray<RecordedCallGroup> =>
    groups.map(({ at, cachedTokens, calls, input, isSupplied, model, output }) => {
      const usage = { input, output, cacheRead: cachedTokens }
      const { basis, costUsd } = specifiedPrices.price({ model, at: Date.parse(at), usage })
      const counts = { promptTokens: input, totalTokens: input + output, cachedTokens }
      return { at, model, ...counts, calls, estimatedCostUsd: costUsd, costBasis: isSupplied ? "supplied" : basis }
    })

  it.prop(
    "cost what was recorded under the prices of the record, in any order and in any groups",
    { groups: Groups },
    ({ groups }) => {
      const recorded = recordedOf(groups)
      const apart = recorded.flatMap((one) => Array.from({ length: one.calls }, () => ({ ...one, calls: 1 })))
      const { models: _, ...sums } = reprice({}, recorded)
      const { models: __, ...others } = reprice({}, apart.toReversed())
      assert.strictEqual(sums.differenceUsd, 0)
      assert.strictEqual(sums.costUsd, sums.recordedUsd)
      assert.deepStrictEqual(others, sums)
    }
  )

  it.prop("add up to the sums of their models", { groups: Groups }, ({ groups }) => {
    const { costUsd, models: found } = reprice(
      { models: { unknown: { prompt: 7, completion: 9 } } },
      recordedOf(groups)
    )
    assert.strictEqual(costUsd, sumUsd(found.map((each) => each.costUsd)))
  })
})

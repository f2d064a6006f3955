import { assert, describe, it } from "@effect/vitest"
import { makeModelPrices, readPriceFile, sumUsd } from "@runplane/domain"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { byModel, byParticipant, callsOf, spendingBy } from "../../../src/view/format/Cost.ts"
import {
  alignedDollars,
  axisDollars,
  costNote,
  costOf,
  dollars,
  listedDollars
} from "../../../src/view/format/Format.ts"
import { guessedModels, guessedShare, isMuchGuessed, priceFileFor } from "../../../src/view/format/Guesses.ts"
import { eventsOf, said } from "../../support.ts"

const call = (sender: string, data: Readonly<Record<string, unknown>>) =>
  said("llm.call.completed", "Signal", sender, data)

const guess = { costBasis: "fallback" }
const exact = { costBasis: "catalogue", priceKey: "openai/gpt-4o@0.1.8", model: "gpt-4o", provider: "openai" }

const CALLS = callsOf(
  eventsOf([
    call("ana", {
      ...exact,
      promptTokens: 1_000,
      cachedTokens: 600,
      completionTokens: 100,
      reasoningTokens: 40,
      estimatedCostUsd: 0.1
    }),
    call("bob", { ...exact, promptTokens: 10, completionTokens: 1, estimatedCostUsd: 0.2 }),
    call("bob", {
      ...guess,
      model: "our-model",
      promptTokens: 5,
      cacheWriteTokens: 3,
      completionTokens: 1,
      estimatedCostUsd: 0.05
    }),
    call("bob", { model: "our-model", usage: "missing", calls: 3 }),
    call("cleo", { model: "agreed", costBasis: "supplied", promptTokens: 1, estimatedCostUsd: 0.000001 })
  ])
)

describe("a cost as text", () => {
  it.each([
    [0, "$0"],
    [0.000123, "$0.000123"],
    [0.00000012, "$0.00000012"],
    [0.0068167, "$0.00682"],
    [0.5, "$0.50"],
    [1234.5, "$1,234.50"],
    [987_654_321.987, "$987,654,321.99"]
  ])("%d dollars are %s", (value, expected) => {
    assert.strictEqual(dollars(value), expected)
  })

  it("has the same decimals in a whole column", () => {
    const say = alignedDollars([12, 0.000123, 0.5, 0])
    assert.deepStrictEqual([12, 0.000123, 0.5, 0].map(say), ["$12.000000", "$0.000123", "$0.500000", "$0.000000"])
    assert.strictEqual(alignedDollars([])(3), "$3.00")
  })

  it("is short in lists and on axes", () => {
    assert.deepStrictEqual([0.00000555, 9_999, 12_345, 1_013_991.8].map(listedDollars), [
      "$0.00000555",
      "$9,999.00",
      "$12.3K",
      "$1.01M"
    ])
    assert.deepStrictEqual([0.0002, 20, 250, 2_000_000].map(axisDollars), ["$0.0002", "$20.00", "$250", "$2M"])
  })

  it("says what is guessed and what is missing, in the text and in its note", () => {
    const cost = { costUsd: 0.5, guessedCostUsd: 0.1, callsWithoutUsage: 1 }
    assert.strictEqual(costOf(cost), "over ≈ $0.50")
    assert.strictEqual(
      costNote(cost),
      "$0.10 of it is a guess: no known price of the model; 1 call without usage not included"
    )
    assert.deepStrictEqual([costOf({ costUsd: 0.5 }), costNote({ costUsd: 0.5 })], ["$0.50", ""])
    assert.match(costNote({ costUsd: 0.5, guessedCostUsd: 0.5 }), /^all of it is a guess/)
    assert.strictEqual(costOf({ costUsd: 0, callsWithoutUsage: 2 }), "unknown")
  })
})

describe("the spending of a run", () => {
  it("has a row for each model with all parts of its tokens and its price", () => {
    const [first, second, third] = spendingBy(CALLS, byModel)
    assert.deepInclude(first, {
      calls: 2,
      promptTokens: 1_010,
      cachedTokens: 600,
      completionTokens: 101,
      reasoningTokens: 40,
      estimatedCostUsd: 0.3,
      prices: [{ costBasis: "catalogue", priceKey: "openai/gpt-4o@0.1.8" }]
    })
    assert.deepInclude(second, { calls: 4, callsWithoutUsage: 3, cacheWriteTokens: 3, estimatedCostUsd: 0.05 })
    assert.strictEqual(second?.guessedCostUsd, 0.05)
    assert.isUndefined(first?.guessedCostUsd)
    assert.deepStrictEqual(third?.prices, [{ costBasis: "supplied", priceKey: undefined }])
  })

  it("costs the same by model and by participant", () => {
    const total = (rows: ReturnType<typeof spendingBy>) => sumUsd(rows.map(({ estimatedCostUsd }) => estimatedCostUsd))
    assert.strictEqual(total(spendingBy(CALLS, byModel)), 0.350001)
    assert.strictEqual(total(spendingBy(CALLS, byParticipant)), 0.350001)
    assert.deepStrictEqual(
      spendingBy(CALLS, byParticipant).map(({ key }) => key),
      ["bob", "ana", "cleo"]
    )
  })
})

describe("guesses", () => {
  it("warn from more than 5 % of the cost on", () => {
    assert.isFalse(isMuchGuessed(1, 0.05))
    assert.isTrue(isMuchGuessed(1, 0.050_000_001))
    assert.isFalse(isMuchGuessed(1))
    assert.isFalse(isMuchGuessed(0, 0))
  })

  it("are a share that is 0 or 100 % only when it is exactly that", () => {
    const shares = [0, 0.0001, 0.0519, 0.289, 0.999, 1].map((guessed) => guessedShare(1, guessed))
    assert.deepStrictEqual(shares, ["0 %", "less than 0.1 %", "5.1 %", "29 %", "more than 99 %", "100 %"])
  })

  it("lead to a price file that gives exactly these models a price", () => {
    const models = [
      ...guessedModels(spendingBy(CALLS, byModel)),
      { model: 'a "quoted": name, with\nlines', provider: "our gateway", guessedCostUsd: 1 },
      { model: "m".repeat(300), provider: " ", guessedCostUsd: 1 },
      { guessedCostUsd: 1 }
    ]
    const file = priceFileFor(models) ?? ""
    const prices = makeModelPrices(Result.getOrThrow(readPriceFile(file)))
    for (const { model, provider } of models.slice(0, 3)) {
      assert.strictEqual(prices.find({ model, provider, at: 0 }).basis, "override", model)
    }
    assert.strictEqual(prices.find({ model: "another", at: 0 }).basis, "fallback")
    const [first] = Schema.decodeUnknownSync(
      Schema.fromJsonString(Schema.Struct({ prices: Schema.Array(Schema.Unknown) }))
    )(file).prices
    assert.deepStrictEqual(first, { match: { equals: "our-model" }, input: 1, output: 3, cacheWrite: 1 })
  })

  it("need a name for an entry", () => {
    assert.isUndefined(priceFileFor([{ guessedCostUsd: 1 }, { model: "", guessedCostUsd: 1 }]))
  })
})

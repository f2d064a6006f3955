import { assert, describe, it } from "@effect/vitest"
import { makeModelPrices, readPriceFile } from "@runplane/domain"
import * as Result from "effect/Result"

const AT = Date.parse("2026-06-01T00:00:00Z")
const WRONG = '{"match": {"equals": "x"}, "input": -1, "output": 1},'
const faultsOf = (text: string) => {
  const file = readPriceFile(text)
  return Result.isFailure(file) ? file.failure.faults : []
}
const pricesOf = (file: unknown) => makeModelPrices(Result.getOrThrow(readPriceFile(JSON.stringify(file))))
const inputRate = (file: unknown, model: string, provider?: string, at = AT) =>
  pricesOf(file).find({ model, provider, at }).rates.input

describe("a price file", () => {
  it("has the first form: models, aliases, and a fallback", () => {
    const file = {
      models: { mine: { prompt: 5, completion: 6 }, "vendor1-4o": { prompt: 7, completion: 8 } },
      aliases: { other: "mine", opus: "vendor2-3-opus" },
      fallback: { prompt: 9, completion: 10 }
    }
    assert.deepStrictEqual(
      ["mine", "other", "vendor1-4o", "vendor2-3-haiku", "opus", "unknown"].map((model) => {
        const { basis, rates } = pricesOf(file).find({ model, at: AT })
        return [model, basis, rates.input]
      }),
      [
        ["mine", "override", 5],
        ["other", "override", 5],
        ["vendor1-4o", "override", 7],
        ["vendor2-3-haiku", "builtin", 0.25],
        ["opus", "override", 15],
        ["unknown", "fallback", 9]
      ]
    )
  })

  it.each([
    [{ equals: "Mine-1" }, "mine-1", "mine-10"],
    [{ startsWith: "mine" }, "Mine-1", "not-mine"],
    [{ endsWith: "-1" }, "mine-1", "mine-2"],
    [{ contains: "ne-" }, "mine-1", "mine"],
    [{ regex: "^mine-\\d+$" }, "MINE-12", "mine-x"]
  ])("matches %j with %s, not with %s", (match, yes, no) => {
    const file = { prices: [{ match, input: 42, output: 1 }] }
    assert.deepStrictEqual([inputRate(file, yes), inputRate(file, no)], [42, 1])
  })

  it("counts the first entry that matches", () => {
    const file = {
      prices: [
        { match: { startsWith: "mine" }, input: 1, output: 1 },
        { match: { equals: "mine-1" }, input: 2, output: 2 }
      ]
    }
    assert.strictEqual(inputRate(file, "mine-1"), 1)
  })

  it("counts the latest date of entries with one condition, and none before its date", () => {
    const entry = (input: number, from?: string) => ({
      match: { equals: "mine" },
      input,
      output: 1,
      ...(from && { from })
    })
    const file = { prices: [entry(2, "2026-01-01"), entry(4, "2026-12-01"), entry(3, "2026-05-01")] }
    const at = (date: string) => inputRate(file, "mine", undefined, Date.parse(date))
    assert.deepStrictEqual([at("2025-12-31"), at("2026-01-01"), at("2026-05-01"), at("2027-01-01")], [1, 2, 3, 4])
    assert.strictEqual(inputRate({ prices: [entry(2), entry(3, "2026-01-01")] }, "mine"), 3)
  })

  it("keeps an entry with a provider for its calls", () => {
    const file = { prices: [{ match: { equals: "mine" }, provider: "bedrock", input: 2, output: 2 }] }
    assert.deepStrictEqual([inputRate(file, "mine", "aws.bedrock"), inputRate(file, "mine", "openai")], [2, 1])
  })

  it("names each fault with its line and field", () => {
    const text = `{
  "models": { "a": { "prompt": -1, "completion": 1 } },
  "prices": [
    { "match": { "equals": "x" }, "input": 1, "output": 1 },
    {
      "match": { "equals": "x", "regex": "y" },
      "input": "1",
      "from": "tomorrow",
      "tiers": [{ "above": 1.5 }],
      "surprise": true
    },
    { "match": { "regex": "(a+)+" }, "input": 1, "output": 1 }
  ]
}`
    assert.deepStrictEqual(
      faultsOf(text).toSorted(),
      [
        "line 12: prices[2].match.regex must not repeat a group that has a quantifier or an alternative in it",
        "line 10: prices[1].surprise is not a field of a price file",
        "line 2: models.a.prompt must be a value between 0 and 1000000",
        "line 5: prices[1].output must be given",
        "line 6: prices[1].match must have one of equals, startsWith, endsWith, contains, regex",
        "line 7: prices[1].input must be a number",
        "line 8: prices[1].from must be a date such as 2026-01-31",
        "line 9: prices[1].tiers[0].above must be an integer"
      ].toSorted()
    )
  })

  it.each([
    ["a text that is not JSON", "{", /^is not JSON/, 1],
    ["a list", "[]", /^line 1: the file must be/, 1],
    ["an alias of nothing", '{"aliases": {"a": "b"}}', /^line 1: aliases\.a names the unknown model "b"$/, 1],
    ["80 faults", `{"prices": [${WRONG.repeat(79)}${WRONG.slice(0, -1)}]}`, /^line 1: prices\[0\]/, 51]
  ])("refuses %s", (_, text, first, count) => {
    const faults = faultsOf(text)
    assert.match(faults[0] ?? "", first)
    assert.lengthOf(faults, count)
  })

  it.each(["(a+)+", "(a|aa)+", "((a*)b)*", "(?:x{1,9}){5}", "(a)\\1", "a".repeat(513), "(", ".*.*.*.*"])(
    "refuses the pattern %s",
    (regex) => {
      assert.match(
        faultsOf(JSON.stringify({ prices: [{ match: { regex }, input: 1, output: 1 }] }))[0] ?? "",
        /regex must/
      )
    }
  )

  it.each(["^gpt-4(o|\\.1)?-[0-9]{4}$", "^(mine|yours)-", "[+*]+x", "\\(a+\\)+", "a{2,3}"])(
    "takes the pattern %s",
    (regex) => {
      assert.deepStrictEqual(faultsOf(JSON.stringify({ prices: [{ match: { regex }, input: 1, output: 1 }] })), [])
    }
  )
})

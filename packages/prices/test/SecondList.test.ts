import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { makeModelPrices, type Rates } from "@runplane/domain"
import { bundledCatalogue } from "@runplane/prices"

const AT = Date.parse("2026-11-25T12:00:00Z")

interface SecondList {
  readonly list: string
  readonly version: string
  readonly prices: Readonly<Record<string, Rates>>
}

/** Made by scripts/second-prices.mjs. */
const second: SecondList = JSON.parse(readFileSync(new URL("second-list.json", import.meta.url), "utf8"))
const prices = makeModelPrices(undefined, bundledCatalogue)

const differs = (one: number, other: number) => Math.abs(one - other) > 0.001 * Math.max(one, other)

/** The rates of a model in which both lists have a value, and not the same one. */
const differencesOf = (id: string, rates: Rates): ReadonlyArray<string> => {
  const [provider = "", model = ""] = [id.slice(0, id.indexOf("/")), id.slice(id.indexOf("/") + 1)]
  const found = prices.find({ model, provider, at: AT })
  if (found.basis !== "catalogue") return []
  const names = ["input", "output", "cacheRead", "cacheWrite", "cacheWriteHour"] as const
  return names.flatMap((name) => {
    const [ours, theirs] = [found.rates[name], rates[name]]
    return ours !== undefined && theirs !== undefined && differs(ours, theirs) ? [`${name} ${ours} / ${theirs}`] : []
  })
}

const compared = Object.entries(second.prices).filter(([id]) => {
  const [provider, model] = [id.slice(0, id.indexOf("/")), id.slice(id.indexOf("/") + 1)]
  return prices.find({ model, provider, at: AT }).basis === "catalogue"
})

const OTHER_DAY = "DeepSeek has changed its prices: the lists are of different days"
const OPEN = "the lists name different prices, and no page of the provider was compared"

/** The differences that are known, with their reasons: ours / theirs, US dollars per 1,000,000 tokens. */
const KNOWN: Readonly<Record<string, readonly [reason: string, ...rates: ReadonlyArray<string>]>> = {
  "anthropic/claude-sonnet-5-5": ["cheaper from a cache since 2026-10-07, after the catalogue", "cacheRead 0.2 / 0.1"],
  "deepseek/deepseek-chat": [OTHER_DAY, "input 0.27 / 0.28", "output 1.1 / 0.42", "cacheRead 0.07 / 0.028"],
  "deepseek/deepseek-reasoner": [OTHER_DAY, "input 0.55 / 0.28", "output 2.19 / 0.42", "cacheRead 0.14 / 0.028"],
  "deepseek/deepseek-v3.2": [OPEN, "input 0.2288 / 0.28", "output 0.3432 / 0.4"],
  "deepseek/deepseek-v4-flash": [OTHER_DAY, "input 0.22 / 0.3", "output 0.66 / 1.2", "cacheRead 0.007 / 0.006"],
  "deepseek/deepseek-v4-flash-vision-exp": [
    OTHER_DAY,
    "input 0.22 / 0.3",
    "output 0.66 / 1.2",
    "cacheRead 0.007 / 0.006"
  ],
  "deepseek/deepseek-v4-pro": [OTHER_DAY, "input 0.66 / 1.32", "output 1.98 / 3.96", "cacheRead 0.022 / 0.044"],
  "mistral/mistral-medium": [OPEN, "input 0.4 / 1.5", "output 2 / 7.5", "cacheRead 0.04 / 0.15"],
  "mistral/mistral-medium-2604": [OPEN, "input 0.4 / 1.5", "output 2 / 7.5", "cacheRead 0.04 / 0.15"],
  "mistral/open-mistral-nemo": [OPEN, "input 0.15 / 0.3", "output 0.15 / 0.3"],
  "x-ai/grok-code-fast": [OPEN, "input 0.2 / 1", "output 1.5 / 2", "cacheRead 0.02 / 0.2"],
  "x-ai/grok-code-fast-1": [OPEN, "input 0.2 / 1", "output 1.5 / 2", "cacheRead 0.02 / 0.2"],
  "x-ai/grok-code-fast-1-0825": [OPEN, "input 0.2 / 1", "output 1.5 / 2", "cacheRead 0.02 / 0.2"]
}

describe(`the catalogue beside the list ${second.list} ${second.version}`, () => {
  it("shares models with it", () => {
    assert.isAtLeast(compared.length, 100)
  })

  it("differs in known rates alone", () => {
    const found = Object.fromEntries(
      compared
        .map(([id, rates]) => [id, differencesOf(id, rates)])
        .filter(([, differences]) => differences?.length !== 0)
    )
    const known = Object.fromEntries(Object.entries(KNOWN).map(([id, [, ...rates]]) => [id, rates]))
    assert.deepStrictEqual(found, known)
  })
})

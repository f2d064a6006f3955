import {
  calcPrice,
  findProvider,
  type MatchLogic,
  type Provider,
  updatePrices,
  waitForUpdate
} from "@pydantic/genai-prices"
import { type ModelCatalogue, patternFault, type Rates, type RateTier } from "@runplane/domain"
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import { SERVICE_TIERS } from "./ServiceTiers.ts"

/** The version of the bundled data. A test holds it against the package. */
export const CATALOGUE_VERSION = "0.1.8"

/** Providers that run a model on a machine of the caller: a price of another provider is not theirs. */
const LOCAL = new Set([
  "ollama",
  "vllm",
  "llamacpp",
  "llama.cpp",
  "llama_cpp",
  "lmstudio",
  "lm_studio",
  "local",
  "localai"
])

/** Models that OpenRouter serves without charge. */
const FREE: Rates = { input: 0, output: 0 }

/** The list that the installed version of the package brings. */
export const bundledProviders: ReadonlyArray<Provider> = (await waitForUpdate()) ?? []

/** The list that the package uses: it has one for the process, so each look-up selects that of its catalogue first. */
let selected = bundledProviders

/** Throws where a constraint of a price is of an unknown kind. */
const select = (providers: ReadonlyArray<Provider>): void => {
  if (selected === providers) return
  updatePrices(({ setProviderData }) => setProviderData([...providers]))
  selected = providers
}

/**
 * The prices of a list of providers. Only the rates of the package are used, looked up without counts: with counts it
 * throws where cached tokens exceed the input, and prints names of counts that it does not know.
 */
const catalogueWith = (providers: ReadonlyArray<Provider>, version: string): ModelCatalogue => ({
  version,
  find: ({ model, provider }, at) => {
    select(providers)
    if (provider === "openrouter" && model.endsWith(":free")) return { id: `openrouter/${model}`, rates: FREE }
    const found = lookUp(model, provider, at)
    const rates = found && ratesOf(found.model_price)
    if (found === undefined || rates === undefined) return undefined
    const id = `${found.provider.id}/${found.model.id}`
    const tierFactors = SERVICE_TIERS[id]
    return { id, rates: tierFactors === undefined ? rates : { ...rates, tierFactors } }
  }
})

/** The prices of `@pydantic/genai-prices` (docs/reference/prices.md#catalogue). */
export const bundledCatalogue: ModelCatalogue = catalogueWith(bundledProviders, CATALOGUE_VERSION)

/** A file of prices does not have the form of the package's data. */
export class CatalogueInvalid extends Data.TaggedError("CatalogueInvalid")<{ readonly detail: string }> {
  override get message(): string {
    return `is not a list of model prices: ${this.detail}`
  }
}

/** The prices of a file in the data form of the package, in place of the bundled ones; `version` is its date. */
export const catalogueOf = (text: string, version: string): Result.Result<ModelCatalogue, CatalogueInvalid> =>
  Result.map(providersOf(text), (providers) => catalogueWith(providers, version))

/** The providers of a file, with their models. */
export const providersOf = (text: string): Result.Result<ReadonlyArray<Provider>, CatalogueInvalid> => {
  const refuse = (detail: string) => Result.fail(new CatalogueInvalid({ detail }))
  try {
    const data: unknown = JSON.parse(text)
    if (!isProviders(data)) return refuse("it must be a list of providers with models")
    const fault = nameFault(data) ?? rateFault(data) ?? regexFault(data)
    if (fault !== undefined) return refuse(fault)
    select(data)
    return Result.succeed(data)
  } catch (error) {
    return refuse(error instanceof Error ? error.message : "it cannot be read")
  }
}

/** A name that is printed must not move the cursor of a terminal, nor hide its own letters. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

/** The first provider or model whose name has control or format characters. */
const nameFault = (providers: ReadonlyArray<Provider>): string | undefined => {
  for (const { id, models } of providers) {
    const bad = [id, ...models.map((model) => model.id)].find((name) => UNPRINTABLE.test(name))
    if (bad !== undefined)
      return `the name ${JSON.stringify(bad).replace(UNPRINTABLES, escaped)} has control characters`
  }
  return undefined
}

const UNPRINTABLES = new RegExp(UNPRINTABLE.source, "gu")

const escaped = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`

/**
 * The most US dollars that a rate may be, in its unit: a million tokens, a thousand of something, an hour. The highest
 * listed rate is 600; one above the bound is a slip of the unit or of a digit.
 */
const MOST_RATE = 10_000

/** The first price of a list that is negative, absurd or not a number (docs/reference/prices.md#catalogue). */
const rateFault = (providers: ReadonlyArray<Provider>): string | undefined => {
  for (const { id, models } of providers) {
    for (const model of models) {
      for (const [name, rate] of ratesIn(model.prices)) {
        if (typeof rate === "number" && rate >= 0 && rate <= MOST_RATE) continue
        const shown = typeof rate === "number" ? String(rate) : "not a number"
        return `${name} of ${id}/${model.id} is ${shown}; a price is a number from 0 to ${MOST_RATE}`
      }
    }
  }
  return undefined
}

/** The rates of a model by name: those of each condition and of each tier. */
const ratesIn = (prices: unknown): ReadonlyArray<readonly [name: string, rate: unknown]> =>
  (Array.isArray(prices) ? prices.map((each) => (isObject(each) ? each["prices"] : undefined)) : [prices]).flatMap(
    (each) =>
      isObject(each)
        ? Object.entries(each).flatMap(([name, price]) => ratesOfPrice(price).map((rate) => [name, rate] as const))
        : [["prices", each] as const]
  )

const ratesOfPrice = (price: unknown): ReadonlyArray<unknown> => {
  if (!isObject(price)) return [price]
  const tiers = price["tiers"]
  if (!Array.isArray(tiers)) return [price["base"], tiers]
  return [price["base"], ...tiers.map((tier) => (isObject(tier) ? tier["price"] : tier))]
}

/** The first regular expression of a list that could take long on some name (docs/reference/prices.md#price-file). */
const regexFault = (providers: ReadonlyArray<Provider>): string | undefined => {
  for (const { id, model_match, models, provider_match } of providers) {
    for (const match of [model_match, provider_match, ...models.map((model) => model.match)]) {
      for (const regex of regexesOf(match)) {
        const fault = patternFault(regex)
        if (fault !== undefined) return `a regular expression of ${id} ${fault}`
      }
    }
  }
  return undefined
}

const regexesOf = (match: MatchLogic | undefined): ReadonlyArray<string> => {
  if (match === undefined) return []
  if ("regex" in match) return [match.regex]
  return ("or" in match ? match.or : "and" in match ? match.and : []).flatMap(regexesOf)
}

/** The members that a look-up reads; the package checks the prices themselves. */
const isProviders = (data: unknown): data is ReadonlyArray<Provider> =>
  Array.isArray(data) &&
  data.length > 0 &&
  data.every((each) => isObject(each) && typeof each["id"] === "string" && hasModels(each["models"]))

const hasModels = (models: unknown): boolean =>
  Array.isArray(models) &&
  models.every(
    (each) => isObject(each) && typeof each["id"] === "string" && isObject(each["match"]) && isObject(each["prices"])
  )

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** A provider that the package does not have is a gateway, whose model has the name of another provider. */
const lookUp = (model: string, provider: string | undefined, at: number) => {
  if (provider !== undefined && LOCAL.has(provider)) return undefined
  try {
    const isKnown = provider !== undefined && findProvider({ providerId: provider }) !== undefined
    return calcPrice({}, model, { timestamp: new Date(at), ...(isKnown && { providerId: provider }) }) ?? undefined
  } catch {
    // Data that the package cannot evaluate is not a price.
    return undefined
  }
}

type Prices = NonNullable<ReturnType<typeof calcPrice>>["model_price"]

const ratesOf = (prices: Prices): Rates | undefined => {
  const input = prices["input_mtok"]
  const output = prices["output_mtok"]
  if (input === undefined && output === undefined) return undefined
  const parts = {
    input: input ?? 0,
    output: output ?? 0,
    cacheRead: prices["cache_read_mtok"],
    cacheWrite: prices["cache_write_mtok"],
    cacheWriteHour: prices["cache_write_1h_mtok"],
    audioInput: prices["input_audio_mtok"],
    audioOutput: prices["output_audio_mtok"],
    imageInput: prices["input_image_mtok"],
    imageOutput: prices["output_image_mtok"]
  }
  const tiers = new Map<number, Record<string, number>>()
  const base: Record<string, number> = {}
  for (const [name, price] of Object.entries(parts)) {
    if (price === undefined) continue
    if (typeof price === "number") base[name] = price
    else {
      base[name] = price.base
      for (const { price: rate, start } of price.tiers) tiers.set(start, { ...tiers.get(start), [name]: rate })
    }
  }
  const { input: inputRate = 0, output: outputRate = 0, ...cache } = base
  const list: ReadonlyArray<RateTier> = [...tiers].map(([above, rates]) => ({ above, ...rates }))
  return { input: inputRate, output: outputRate, ...cache, ...(list.length > 0 && { tiers: list }) }
}

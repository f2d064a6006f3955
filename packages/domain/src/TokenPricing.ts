import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { sumUsd } from "./Money.ts"

/** Price of one model, in US dollars per 1,000,000 tokens. */
export interface ModelPrice {
  readonly prompt: number
  readonly completion: number
}

/** Prices by model identifier; `fallback` is the price of any other model. */
export interface TokenPricing {
  readonly models: ReadonlyMap<string, ModelPrice>
  /** Other name of a model -> model identifier. */
  readonly aliases: ReadonlyMap<string, string>
  readonly fallback: ModelPrice
}

const TOKENS_PER_PRICE = 1_000_000

/** The built-in rates. */
export const builtinTokenPricing: TokenPricing = {
  models: new Map([
    ["vendor1-4o", { prompt: 2.5, completion: 10 }],
    ["vendor1-4o-mini", { prompt: 0.15, completion: 0.6 }],
    ["vendor1-4-turbo", { prompt: 10, completion: 30 }],
    ["vendor2-3-opus", { prompt: 15, completion: 75 }],
    ["vendor2-3-sonnet", { prompt: 3, completion: 15 }],
    ["vendor2-3-haiku", { prompt: 0.25, completion: 1.25 }]
  ]),
  aliases: new Map(),
  fallback: { prompt: 1, completion: 3 }
}

const Price = Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))
const PriceEntry = Schema.Struct({ prompt: Price, completion: Price })

/** The pricing file named by `PROTO_TOKEN_PRICING_FILE`. */
export const TokenPricingFile = Schema.Struct({
  models: Schema.optionalKey(Schema.Record(Schema.String, PriceEntry)),
  aliases: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  fallback: Schema.optionalKey(PriceEntry)
}).annotate({ identifier: "TokenPricingFile" })

/** The pricing file does not have the expected form, or an alias names a model without a price. */
export class TokenPricingInvalid extends Data.TaggedError("TokenPricingInvalid")<{ readonly detail: string }> {
  override get message(): string {
    return `invalid token pricing: ${this.detail}`
  }
}

const decodeFile = Schema.decodeUnknownResult(TokenPricingFile, { onExcessProperty: "error" })

/**
 * Reads the parsed JSON of a pricing file, `{models?: {id: {prompt, completion}}, aliases?: {name: id}, fallback?}`
 * with prices in US dollars per 1,000,000 tokens. Its entries come on top of the built-in table and win over it.
 */
export const parseTokenPricing = (json: unknown): Result.Result<TokenPricing, TokenPricingInvalid> => {
  const file = decodeFile(json)
  if (Result.isFailure(file)) return Result.fail(new TokenPricingInvalid({ detail: file.failure.message }))
  const { models = {}, aliases = {}, fallback = builtinTokenPricing.fallback } = file.success
  const prices = new Map([...builtinTokenPricing.models, ...Object.entries(models)])
  for (const [alias, model] of Object.entries(aliases)) {
    if (!prices.has(model)) {
      return Result.fail(new TokenPricingInvalid({ detail: `alias "${alias}" names the unknown model "${model}"` }))
    }
  }
  return Result.succeed({ models: prices, aliases: new Map(Object.entries(aliases)), fallback })
}

/** Estimated cost of one call, US dollars with nine decimals; a missing or unknown model costs the fallback price. */
export const estimateCostUsd = (
  pricing: TokenPricing,
  model: string | undefined,
  promptTokens: number,
  completionTokens: number
): number => {
  const price = model === undefined ? pricing.fallback : priceOf(pricing, model)
  return sumUsd([(promptTokens * price.prompt + completionTokens * price.completion) / TOKENS_PER_PRICE])
}

const priceOf = (pricing: TokenPricing, model: string): ModelPrice =>
  pricing.models.get(model) ?? pricing.models.get(pricing.aliases.get(model) ?? "") ?? pricing.fallback

import { about, costBases, Field, priceDoubts } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { integer, isoDate, withDefault } from "../../validation/Fields.ts"
import { querySchema } from "../../validation/RequestSchema.ts"
import { searchText } from "../query/DescribedField.ts"
import { runQueryFields } from "../query/QueryFields.ts"

const optional = Schema.optionalKey

const rate = (text: string, example: number) => Field.number(`US dollars for 1,000,000 ${text}`, example)

/** The price of one model (docs/reference/prices.md). */
export const ModelPriceAnswer = Schema.Struct({
  model: optional(Field.text("The model of the request", "gpt-4o-2024-08-06")),
  provider: optional(Field.text("The provider of the request", "openai")),
  costBasis: Schema.Literals(costBases.filter((basis) => basis !== "supplied")).annotate(
    about("The list that has the price. `fallback` is a guess", "catalogue")
  ),
  priceKey: optional(Field.text("The entry of the list; absent where no list has a price", "openai/gpt-4o@0.1.8")),
  costDoubt: optional(Schema.Literals(priceDoubts).annotate(about("Why the price of the entry is a guess", "latest"))),
  input: rate("input tokens", 2.5),
  output: rate("output tokens", 10),
  cacheRead: optional(rate("input tokens that were read from a cache", 1.25)),
  cacheWrite: optional(rate("input tokens that were written to a cache", 3.75)),
  reasoning: optional(rate("output tokens of reasoning", 10)),
  cacheWriteHour: optional(rate("input tokens that were written to a cache for an hour", 6)),
  audioInput: optional(rate("input tokens of audio", 40)),
  audioOutput: optional(rate("output tokens of audio", 80)),
  imageInput: optional(rate("input tokens of images", 5)),
  imageOutput: optional(rate("output tokens of images", 40)),
  tiers: optional(
    Schema.Array(
      Schema.Struct({
        above: Field.integer("Input tokens above which all tokens of a call have these prices", 200000),
        input: optional(rate("input tokens", 5)),
        output: optional(rate("output tokens", 15)),
        cacheRead: optional(rate("input tokens that were read from a cache", 2.5)),
        cacheWrite: optional(rate("input tokens that were written to a cache", 5))
      })
    ).annotate({ description: "Prices of long calls" })
  ),
  batchFactor: optional(Field.number("The cost of a call in a batch is multiplied by it", 0.5)),
  tierFactors: optional(
    Schema.Record(Schema.String, Schema.Number).annotate(
      about("The cost of a call in a service tier is multiplied by its factor", { flex: 0.5, priority: 2 })
    )
  )
}).annotate({ identifier: "ModelPrice", description: "The price of a model, and the list that has it" })
export type ModelPriceAnswer = typeof ModelPriceAnswer.Type

/** Models that no list prices, of at most this many. */
export const MAX_UNKNOWN_MODELS = 500

export const UnknownModels = Schema.Struct({
  since: Field.time("The calls since this time are counted"),
  calls: Field.integer("Calls that were counted, of all models"),
  estimatedCostUsd: Field.number("US dollars of all these calls"),
  guessedCostUsd: Field.number("US dollars of the calls whose model has no known price"),
  isPartial: Field.flag("Whether there are more calls than were counted; the newest 200,000 are"),
  models: Schema.Array(
    Schema.Struct({
      model: optional(Field.text("The model as the agents stated it; absent when they stated none", "our-model")),
      provider: optional(Field.text("The provider as the agents stated it", "our-gateway")),
      calls: Field.integer("Calls", 12),
      totalTokens: Field.number("Tokens", 34000),
      guessedCostUsd: Field.number("US dollars, by the fallback price", 0.05),
      share: Field.number("Share of the cost of all calls, from 0 to 1", 0.4)
    })
  ).annotate({ description: `The models without a known price, at most ${MAX_UNKNOWN_MODELS}, the dearest first` })
}).annotate({ identifier: "UnknownModels", description: "Models whose cost is a guess" })
export type UnknownModels = typeof UnknownModels.Type

export const CostsByModel = Schema.Struct({
  since: Field.time("The calls since this time are counted"),
  isPartial: Field.flag("Whether there are more calls than were counted; the newest 200,000 are"),
  models: Schema.Array(
    Schema.Struct({
      model: optional(Field.text("The model as the agents stated it; absent when they stated none", "gpt-4o")),
      provider: optional(Field.text("The provider as the agents stated it", "openai")),
      calls: Field.integer("Calls", 12),
      totalTokens: Field.number("Tokens", 34000),
      estimatedCostUsd: Field.number("US dollars, as recorded with the calls", 0.05),
      guessedCostUsd: Field.number("Part of it that is a guess, by the fallback price", 0)
    })
  ).annotate({ description: `The models, at most ${MAX_UNKNOWN_MODELS}, the dearest first` })
}).annotate({ identifier: "CostsByModel", description: "What the calls of each model cost" })
export type CostsByModel = typeof CostsByModel.Type

/** Calls that one page of `GET /pricing/calls` reads. */
export const MAX_CALLS_PER_PAGE = 5000

export const RecordedCalls = Schema.Struct({
  since: Field.time("The calls since this time are listed"),
  calls: Field.integer("Events of calls in this page", 3),
  groups: Schema.Array(
    Schema.Struct({
      at: Field.time("When the calls were made: the start of the minute"),
      model: optional(Field.text("The model as the agents stated it; absent when they stated none", "gpt-4o")),
      provider: optional(Field.text("The provider as the agents stated it", "openai")),
      promptTokens: Field.number("Input tokens of each call", 1200),
      totalTokens: Field.number("All tokens of each call", 1500),
      cachedTokens: optional(Field.number("Part of the input of each call that was read from a cache", 1000)),
      cacheWriteTokens: optional(Field.number("Part of the input of each call that was written to a cache", 100)),
      reasoningTokens: optional(Field.number("Part of the output of each call", 200)),
      batch: optional(Field.flag("Whether the provider ran the calls as part of a batch")),
      estimatedCostUsd: optional(
        Field.number("US dollars of each call as recorded; absent for calls without token counts", 0.0123)
      ),
      costBasis: optional(Field.text("Where that cost comes from", "catalogue")),
      calls: Field.integer("Calls in the group", 3)
    })
  ).annotate({ description: "Calls of this page; those of one minute with equal values are one group" }),
  next: optional(Field.integer("Given as before, reads the page of the calls before these; absent at the end", 120))
}).annotate({ identifier: "RecordedCalls", description: "Recorded calls of language models, the newest first" })
export type RecordedCalls = typeof RecordedCalls.Type

const Name = Schema.String.check(Schema.isMaxLength(256))

/** The query of `GET /pricing`. */
export const priceQuery = querySchema({
  model: optional(Name.annotate(about("The name of the model, as an agent states it", "gpt-4o-2024-08-06"))),
  provider: optional(Name.annotate(about("The provider, as an agent states it", "openai")))
})

/** The query of `GET /pricing/unknown`. */
export const unknownModelsQuery = querySchema({
  since: optional(isoDate("Calls since this time; the last 30 days unless given", "2026-07-01"))
})

/** The query of `GET /pricing/models`. */
export const modelCostsQuery = querySchema({
  since: optional(isoDate("Calls since this time; the last 30 days unless given", "2026-07-01")),
  until: optional(isoDate("Calls before this time", "2026-07-02")),
  q: optional(searchText(runQueryFields, "Calls of the runs that this search finds", "environment:staging"))
})

/** The query of `GET /pricing/calls`. */
export const recordedCallsQuery = querySchema({
  since: optional(isoDate("Calls since this time; the last 30 days unless given", "2026-07-01")),
  before: optional(integer({ min: 1 }).annotate(about("Only calls with a smaller seq: next of the page before", 120))),
  limit: withDefault(
    integer({ min: 1, max: MAX_CALLS_PER_PAGE }).annotate(about("Most calls of the page", 1000)),
    MAX_CALLS_PER_PAGE
  )
})

/** Prices of models. */
export class PricesGroup extends HttpApiGroup.make("prices")
  .add(
    HttpApiEndpoint.get("price", "/pricing", { query: priceQuery, success: ModelPriceAnswer }).annotateMerge(
      operation({
        id: "getModelPrice",
        access: "viewer",
        summary: "Read the price of a model",
        description:
          "The price that a call of this model has now, and the list that has it: the price file of the deployment, the " +
          "built-in table, the catalogue of real models, or the fallback, which is a guess."
      })
    ),
    HttpApiEndpoint.get("unknown", "/pricing/unknown", {
      query: unknownModelsQuery,
      success: UnknownModels,
      error: Failure.SearchTooSlow
    }).annotateMerge(
      operation({
        id: "listUnknownModels",
        access: "viewer",
        summary: "List the models whose cost is a guess",
        description: "Counted from the recorded calls whose `costBasis` is `fallback`, with their share of the cost."
      })
    ),
    HttpApiEndpoint.get("models", "/pricing/models", {
      query: modelCostsQuery,
      success: CostsByModel,
      error: Failure.SearchTooSlow
    }).annotateMerge(
      operation({
        id: "listModelCosts",
        access: "viewer",
        summary: "Sum the cost of runs by model",
        description: "Counted from the recorded calls, with the cost that was recorded with each."
      })
    ),
    HttpApiEndpoint.get("calls", "/pricing/calls", {
      query: recordedCallsQuery,
      success: RecordedCalls,
      error: Failure.SearchTooSlow
    }).annotateMerge(
      operation({
        id: "listRecordedCalls",
        access: "viewer",
        summary: "List the recorded calls of language models",
        description:
          "Model, token counts, time and cost of the calls of all runs, without their texts, for a calculation with other " +
          "prices. A page may have fewer calls than its limit; the last one has no `next`."
      })
    )
  )
  .annotateMerge(tag("Pricing", "Prices of models")) {}

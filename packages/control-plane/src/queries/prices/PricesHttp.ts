import { ControlPlaneApi, runQueryFields } from "@runplane/api"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { Prices } from "../../platform/deployment/Prices.ts"
import { jsonText } from "../../platform/http/JsonAnswer.ts"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { orSearchRefused } from "../../platform/http/SearchAnswers.ts"
import { ModelCosts } from "./ModelCosts.ts"
import { RecordedCalls } from "./RecordedCalls.ts"

/** The `prices` group (docs/reference/prices.md). */
export const PricesHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "prices",
  Effect.fnUntraced(function* (handlers) {
    const prices = yield* Prices
    const recorded = yield* RecordedCalls
    const costs = yield* ModelCosts
    return handlers.handleAll({
      price: ({ query }) =>
        Effect.map(Clock.currentTimeMillis, (at) => {
          const { basis, doubt, key, rates } = prices.find({ ...query, at })
          return {
            ...query,
            costBasis: basis,
            ...(key !== undefined && { priceKey: key }),
            ...(doubt !== undefined && { costDoubt: doubt }),
            ...rates
          }
        }),
      unknown: ({ query }) => orUnavailable(orSearchRefused([])(costs.unpriced(query.since))),
      models: ({ query }) => orUnavailable(orSearchRefused(runQueryFields)(costs.find(query))),
      calls: ({ query }) => orUnavailable(orSearchRefused([])(Effect.map(recorded.page(query), jsonText)))
    })
  })
)

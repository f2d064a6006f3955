import { accessOf, CurrentActor, RateLimit, rateLimitExceeded } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { ClientBudgets, type CountedEndpoint } from "./ClientBudgets.ts"
import { RequestFacts } from "./RequestFacts.ts"

/**
 * Counts the requests that the guard let in; the guard counts those that it refuses
 * (docs/reference/http.md#rate-limit). The client is the actor of the API key or token, else the network of the
 * address. Public endpoints are not counted.
 */
export const layerRateLimit = Layer.effect(
  RateLimit,
  Effect.map(ClientBudgets, (budgets) => {
    const isWithin = spendOf(budgets)
    return RateLimit.of((httpEffect, { endpoint }) =>
      Effect.gen(function* () {
        if (accessOf(endpoint) === "public") return yield* httpEffect
        return yield* (yield* isWithin(endpoint)) ? httpEffect : Effect.fail(rateLimitExceeded())
      })
    )
  })
)

/** Takes the request from the budget of its client, and answers whether the budget had it. */
export const spendOf = (budgets: ClientBudgets["Service"]) =>
  Effect.fnUntraced(function* (endpoint: CountedEndpoint) {
    const actor = Option.getOrUndefined(yield* Effect.serviceOption(CurrentActor))
    const client =
      actor === undefined || actor.actorType === "anonymous"
        ? budgets.networkOf(yield* HttpServerRequest.HttpServerRequest)
        : actor.actorId
    const facts = yield* RequestFacts
    facts.client = client
    return yield* budgets.spend(client, endpoint)
  })

import { accessOf, CurrentActor, RateLimit, rateLimitExceeded } from "@runplane/api"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { readSettings } from "../settings/ReadSettings.ts"
import { ServiceSettings } from "../settings/ServiceSettings.ts"
import { BudgetExchange, keepInStep } from "./BudgetExchange.ts"
import { addressOf } from "./ClientAddress.ts"
import { makeRequestBudget } from "./RequestBudget.ts"

const settings = {
  limit: ServiceSettings.THROTTLE_LIMIT,
  readLimit: ServiceSettings.THROTTLE_READ_LIMIT,
  windowMs: ServiceSettings.THROTTLE_TTL_MS,
  scope: ServiceSettings.THROTTLE_SCOPE,
  proxies: ServiceSettings.TRUST_PROXY
}

/**
 * The budget of each client over all routes together, or with `THROTTLE_SCOPE=route` for each route. The client is the
 * actor of the API key or token, else the address. With `THROTTLE_READ_LIMIT` requests that only read have a budget of
 * their own. With a `BudgetExchange` all processes share the budgets. Every counted answer says what is counted.
 */
export const layerRateLimit = Layer.effect(
  RateLimit,
  Effect.gen(function* () {
    const { limit, readLimit, windowMs, scope, proxies } = yield* readSettings(settings)
    const all = {
      budget: makeRequestBudget({ limit, windowMs }),
      limit,
      counts: readLimit === 0 ? "requests" : "writes"
    }
    const reads =
      readLimit === 0
        ? all
        : { budget: makeRequestBudget({ limit: readLimit, windowMs }), limit: readLimit, counts: "reads" }
    yield* keepInStep(reads === all ? { all: all.budget } : { all: all.budget, reads: reads.budget })
    const processes = (yield* BudgetExchange) === undefined ? "this process" : "all processes"

    const clientOf = Effect.gen(function* () {
      const actor = yield* Effect.serviceOption(CurrentActor)
      if (Option.isSome(actor) && actor.value.actorType !== "anonymous") return actor.value.actorId
      const request = yield* HttpServerRequest.HttpServerRequest
      return addressOf(request, proxies)
    })

    return RateLimit.of((httpEffect, { endpoint }) =>
      Effect.gen(function* () {
        if (accessOf(endpoint) === "public") return yield* httpEffect
        const client = yield* clientOf
        const route = `${endpoint.method} ${endpoint.path}`
        const { budget, counts, limit } = isRead(endpoint.method) ? reads : all
        const spending = budget.spend(
          scope === "client" ? client : `${client} ${route}`,
          yield* Clock.currentTimeMillis
        )
        const where = scope === "client" ? "" : ` to ${route}`
        const told = {
          "x-ratelimit-counts": visible(`${counts} of ${client}${where}, ${seconds(windowMs)} s, ${processes}`)
        }
        if (!spending.allowed) {
          yield* addHeaders({ ...told, "retry-after": seconds(spending.retryAfterMs) })
          return yield* Effect.fail(rateLimitExceeded())
        }
        yield* addHeaders({
          ...told,
          "x-ratelimit-limit": String(limit),
          "x-ratelimit-remaining": String(spending.remaining),
          "x-ratelimit-reset": seconds(spending.resetMs)
        })
        return yield* httpEffect
      })
    )
  })
)

const isRead = (method: string) => method === "GET" || method === "HEAD"

const seconds = (milliseconds: number) => String(Math.ceil(milliseconds / 1000))

/** Names of people may hold what a header cannot. */
const visible = (text: string) => text.replace(/[^\x20-\x7e]/gu, encodeURIComponent)

// Errors become responses outside of this middleware, so the headers are added when the response is sent.
const addHeaders = (headers: Readonly<Record<string, string>>) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeaders(response, headers))
  )

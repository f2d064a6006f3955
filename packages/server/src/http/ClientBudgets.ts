import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpEffect from "effect/http/HttpEffect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import { readSettings } from "../settings/ReadSettings.ts"
import { ServiceSettings } from "../settings/ServiceSettings.ts"
import { BudgetExchange, keepInStep } from "./BudgetExchange.ts"
import { addressOf, networkOf } from "./ClientAddress.ts"
import { makeRequestBudget } from "./RequestBudget.ts"

const settings = {
  limit: ServiceSettings.THROTTLE_LIMIT,
  readLimit: ServiceSettings.THROTTLE_READ_LIMIT,
  windowMs: ServiceSettings.THROTTLE_TTL_MS,
  scope: ServiceSettings.THROTTLE_SCOPE,
  proxies: ServiceSettings.TRUST_PROXY
}

/** The endpoint that a request matched. */
export interface CountedEndpoint {
  readonly method: string
  readonly path: string
}

const make = Effect.gen(function* () {
  const { limit, proxies, readLimit, scope, windowMs } = yield* readSettings(settings)
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

  return {
    /** The client of a request without a right key: its IPv4 address, or the /64 of its IPv6 address. */
    networkOf: (request: HttpServerRequest.HttpServerRequest) => networkOf(addressOf(request, proxies)),
    /**
     * Takes one request from the client's budget and answers whether the budget had it. The answer to the request gets
     * the headers of the budget. `client` is the actor of a right key or token, else the network.
     */
    spend: Effect.fnUntraced(function* (client: string, { method, path }: CountedEndpoint) {
      const { budget, counts, limit } = isRead(method) ? reads : all
      const route = `${method} ${path}`
      const spending = budget.spend(scope === "client" ? client : `${client} ${route}`, yield* Clock.currentTimeMillis)
      const where = scope === "client" ? "" : ` to ${route}`
      yield* addHeaders({
        "x-ratelimit-counts": visible(`${counts} of ${client}${where}, ${seconds(windowMs)} s, ${processes}`),
        ...(spending.allowed
          ? {
              "x-ratelimit-limit": String(limit),
              "x-ratelimit-remaining": String(spending.remaining),
              "x-ratelimit-reset": seconds(spending.resetMs)
            }
          : { "retry-after": seconds(spending.retryAfterMs) })
      })
      return spending.allowed
    })
  }
})

/**
 * The budget of each client over all routes together, or with `THROTTLE_SCOPE=route` for each route
 * (docs/reference/http.md#rate-limit). With `THROTTLE_READ_LIMIT` requests that only read have a budget of their own.
 * With a
 * `BudgetExchange` all processes share the budgets.
 */
export class ClientBudgets extends Context.Service<ClientBudgets, Effect.Success<typeof make>>()(
  "runplane/server/ClientBudgets"
) {
  static readonly layer = Layer.effect(ClientBudgets, make)
}

const isRead = (method: string) => method === "GET" || method === "HEAD"

const seconds = (milliseconds: number) => String(Math.ceil(milliseconds / 1000))

/** Names of people may hold what a header cannot. */
const visible = (text: string) => text.replace(/[^\x20-\x7e]/gu, encodeURIComponent)

// Errors become responses outside of the middleware, so the headers are added when the response is sent.
const addHeaders = (headers: Readonly<Record<string, string>>) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeaders(response, headers))
  )

const wrongSettings = {
  failures: ServiceSettings.AUTH_FAILURE_LIMIT,
  windowMs: ServiceSettings.THROTTLE_TTL_MS,
  proxies: ServiceSettings.TRUST_PROXY
}

/**
 * The budget of wrong credentials that a network may send in a window (docs/reference/http.md#rate-limit). Spending
 * answers the seconds until the next try where the budget is exhausted, and undefined where it is not. Other callers
 * share a network, so a right credential spends nothing.
 */
export const makeWrongCredentials = Effect.map(readSettings(wrongSettings), ({ failures, proxies, windowMs }) => {
  const budget = makeRequestBudget({ limit: failures, windowMs })
  return Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const spending = budget.spend(networkOf(addressOf(request, proxies)), yield* Clock.currentTimeMillis)
    return spending.allowed ? undefined : Math.ceil(spending.retryAfterMs / 1000)
  })
})

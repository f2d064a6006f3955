import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { rateLimitExceeded } from "../errors/Failures.ts"
import { CurrentActor } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { makeRequestBudget } from "./RequestBudget.ts"
import * as Settings from "./Settings.ts"

const DEFAULT_LIMIT = 100
const DEFAULT_WINDOW_MS = 60_000

/**
 * The settings of the rate limit. `TRUST_PROXY` is the number of proxies in front (`true` for one): the client's
 * address is then the entry of `X-Forwarded-For` that the outermost of them wrote.
 */
const settings = Config.all({
  limit: Settings.integer("THROTTLE_LIMIT", DEFAULT_LIMIT, 1),
  windowMs: Settings.integer("THROTTLE_TTL_MS", DEFAULT_WINDOW_MS, 1),
  scope: Settings.oneOf("THROTTLE_SCOPE", ["client", "route"], "client"),
  proxies: Settings.text("TRUST_PROXY", "false").pipe(
    Config.flatMap((value) => {
      const proxies = proxyCount(value)
      return proxies === undefined
        ? Settings.refused("TRUST_PROXY", "must be true, false or a number of proxies")
        : Config.succeed(proxies)
    })
  )
})

const proxyCount = (value: string): number | undefined => {
  if (/^(1|true|yes|on)$/i.test(value)) return 1
  if (/^(0|false|no|off)$/i.test(value)) return 0
  return /^\d{1,3}$/.test(value) ? Number(value) : undefined
}

/**
 * The budget of each client over all routes together, or with `THROTTLE_SCOPE=route` for each route (http-details
 * section 15). The client is the actor of the API key, else the address.
 */
export const layerRateLimit = Layer.effect(
  RateLimit,
  Effect.gen(function* () {
    const { limit, windowMs, scope, proxies } = yield* settings
    const budget = makeRequestBudget({ limit, windowMs })

    const clientOf = Effect.gen(function* () {
      const actor = yield* Effect.serviceOption(CurrentActor)
      if (Option.isSome(actor) && actor.value.actorType === "api-key") return actor.value.actorId
      const request = yield* HttpServerRequest.HttpServerRequest
      return addressOf(request, proxies)
    })

    return RateLimit.of((httpEffect, { endpoint }) =>
      Effect.gen(function* () {
        const client = yield* clientOf
        const key = scope === "client" ? client : `${client} ${endpoint.method} ${endpoint.path}`
        const spending = budget.spend(key, yield* Clock.currentTimeMillis)
        if (!spending.allowed) {
          yield* addHeaders({ "retry-after": seconds(spending.retryAfterMs) })
          return yield* Effect.fail(rateLimitExceeded())
        }
        yield* addHeaders({
          "x-ratelimit-limit": String(limit),
          "x-ratelimit-remaining": String(spending.remaining),
          "x-ratelimit-reset": seconds(spending.resetMs)
        })
        return yield* httpEffect
      })
    )
  })
)

/** The client's address as text; `anonymous` when it is not known. */
const addressOf = (request: HttpServerRequest.HttpServerRequest, proxies: number): string => {
  if (proxies > 0) {
    const hops = (request.headers["x-forwarded-for"] ?? "").split(",").map((hop) => hop.trim())
    const hop = hops.at(-proxies)
    if (hop !== undefined && hop !== "") return hop
  }
  return Option.getOrElse(request.remoteAddress, () => "anonymous")
}

const seconds = (milliseconds: number) => String(Math.ceil(milliseconds / 1000))

// Errors become responses outside of this middleware, so the headers are added when the response is sent.
const addHeaders = (headers: Readonly<Record<string, string>>) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeaders(response, headers))
  )

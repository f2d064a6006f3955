import {
  type Actor,
  Authorization,
  accessOf,
  anonymousActor,
  CurrentActor,
  LauncherApiKey,
  mayUse,
  roleText,
  takesTicket
} from "@runplane/api"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { keysFault } from "../settings/DeploymentRules.ts"
import { readSettings, SettingsRefused } from "../settings/ReadSettings.ts"
import { ServiceSettings } from "../settings/ServiceSettings.ts"
import { actorsOf, indexOfKey } from "./ApiKeys.ts"
import { addressOf } from "./ClientAddress.ts"
import { controlPlaneForm, type EdgeForm, launcherForm } from "./EdgeForm.ts"
import { makeRequestBudget } from "./RequestBudget.ts"
import { RequestFacts } from "./RequestFacts.ts"
import { Tickets } from "./Tickets.ts"

const settings = {
  keys: ServiceSettings.AUTH_API_KEYS,
  names: ServiceSettings.AUTH_API_KEY_NAMES,
  roles: ServiceSettings.AUTH_API_KEY_ROLES,
  environment: ServiceSettings.NODE_ENV,
  failures: ServiceSettings.AUTH_FAILURE_LIMIT,
  windowMs: ServiceSettings.THROTTLE_TTL_MS,
  proxies: ServiceSettings.TRUST_PROXY
}

const BEARER_PREFIX = /^Bearer(?: +|$)/

/** The keys that a request presents: as a bearer token, bare in the same header, or in `x-api-key`. */
const presentedKeys = (headers: Headers.Headers): ReadonlyArray<string> =>
  [headers["authorization"]?.replace(BEARER_PREFIX, ""), headers["x-api-key"]].flatMap((key) =>
    key === undefined ? [] : [key.trim()]
  )

interface Guarded {
  readonly annotations: Context.Context<never>
}

/**
 * Lets in whoever presents a key whose role is enough for the endpoint, and says who that is. Without configured keys
 * every request passes as `anonymous`, in development; elsewhere the service does not start. Wrong keys are counted by
 * address in a budget of their own: it can be spent by somebody else at that address, so it never refuses a right key.
 */
const makeGuard = (form: EdgeForm) =>
  Effect.gen(function* () {
    const { environment, failures, keys, names, proxies, roles, windowMs } = yield* readSettings(settings)
    const fault = keysFault(keys, environment)
    if (fault !== undefined) return yield* new SettingsRefused({ faults: [fault] })
    const actors = yield* Effect.orDie(actorsOf(keys, names, roles))
    const budget = makeRequestBudget({ limit: failures, windowMs })
    const tickets = yield* Tickets

    const ofTicket = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      const ticket = queryOf(request.url).get("ticket")
      const route = yield* Effect.serviceOption(HttpRouter.RouteContext)
      const run = Option.flatMapNullishOr(route, ({ params }) => params["id"])
      if (ticket === null || Option.isNone(run)) return undefined
      return { actor: yield* tickets.redeem(ticket, run.value.toLowerCase()) }
    })

    const refuse = Effect.fnUntraced(function* (
      request: HttpServerRequest.HttpServerRequest,
      wrong: boolean,
      text: string
    ) {
      if (!wrong) return form.unauthenticated(text)
      const spending = budget.spend(addressOf(request, proxies), yield* Clock.currentTimeMillis)
      if (spending.allowed) return form.unauthenticated(text)
      const retryAfter = String(Math.ceil(spending.retryAfterMs / 1000))
      return HttpServerResponse.setHeader(form.tooManyRequests, "retry-after", retryAfter)
    })

    return <E, R>(httpEffect: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>, endpoint: Guarded) =>
      Effect.gen(function* () {
        const access = accessOf(endpoint)
        const pass = (actor: Actor) => Effect.provideService(httpEffect, CurrentActor, actor)
        if (keys.length === 0) return yield* pass(anonymousActor)
        if (access === "public") return yield* pass({ ...anonymousActor, role: "viewer" })
        const request = yield* HttpServerRequest.HttpServerRequest
        const presented = presentedKeys(request.headers)
        const known = presented.map((key) => actors[indexOfKey(keys, key)]).find((actor) => actor !== undefined)
        const ticket =
          known === undefined && takesTicket(endpoint)
            ? yield* Effect.catch(ofTicket(request), (answer) => Effect.succeed(answer))
            : undefined
        if (HttpServerResponse.isHttpServerResponse(ticket)) return ticket
        const actor = known ?? ticket?.actor
        if (actor === undefined) {
          const wrong = ticket !== undefined || presented.some((key) => key !== "")
          const missing = presented.length === 0 ? "Missing Authorization header" : "Empty authorization token"
          return yield* refuse(request, wrong, wrong ? "Invalid authorization token" : missing)
        }
        if (actor.actorType === "api-key") (yield* RequestFacts).keyName = actor.actorId
        return mayUse(actor.role, access) ? yield* pass(actor) : form.forbidden(roleText(access, actor.role))
      })
  })

const queryOf = (url: string) => new URLSearchParams(url.slice(url.includes("?") ? url.indexOf("?") + 1 : url.length))

/** The control plane's guard (docs/http.md#api-keys). */
export const layerAuthorization = Layer.effect(
  Authorization,
  Effect.map(makeGuard(controlPlaneForm), (guard) => {
    // Both headers are read by the first of the schemes, whose refusal is an answer, so the second is never asked.
    const scheme: Authorization["Service"]["bearer"] = (httpEffect, { endpoint }) => guard(httpEffect, endpoint)
    return Authorization.of({ bearer: scheme, apiKey: scheme })
  })
).pipe(Layer.provide(Digest.layerWebCrypto))

/** The launch service's guard, by the same rules. */
export const layerLauncherApiKey = Layer.effect(
  LauncherApiKey,
  Effect.map(makeGuard(launcherForm), (guard) => {
    const scheme: LauncherApiKey["Service"]["bearer"] = (httpEffect, { endpoint }) => guard(httpEffect, endpoint)
    return LauncherApiKey.of({ bearer: scheme, apiKey: scheme })
  })
).pipe(Layer.provide(Digest.layerWebCrypto))

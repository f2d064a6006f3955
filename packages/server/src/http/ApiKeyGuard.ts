import {
  type Actor,
  Authorization,
  accessOf,
  roles as allRoles,
  anonymousActor,
  CurrentActor,
  ISSUER_AWAY_TEXT,
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
import * as Result from "effect/Result"
import { RETRY_MS } from "../oidc/IssuerKeys.ts"
import { looksLikeToken, TokenVerifier } from "../oidc/TokenVerifier.ts"
import { doorFaults, isOpen } from "../settings/DeploymentRules.ts"
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
  issuer: ServiceSettings.OIDC_ISSUER,
  audience: ServiceSettings.OIDC_AUDIENCE,
  environment: ServiceSettings.NODE_ENV,
  failures: ServiceSettings.AUTH_FAILURE_LIMIT,
  windowMs: ServiceSettings.THROTTLE_TTL_MS,
  proxies: ServiceSettings.TRUST_PROXY
}

const INVALID_TOKEN = "Invalid authorization token"
const RETRY_SECONDS = String(RETRY_MS / 1000)

const everyRole = allRoles.join(", ")

const BEARER_PREFIX = /^Bearer(?: +|$)/

/** The keys or tokens that a request presents: as a bearer token, bare in the same header, or in `x-api-key`. */
const presentedKeys = (headers: Headers.Headers): ReadonlyArray<string> =>
  [headers["authorization"]?.replace(BEARER_PREFIX, ""), headers["x-api-key"]].flatMap((key) =>
    key === undefined ? [] : [key.trim()]
  )

interface Guarded {
  readonly annotations: Context.Context<never>
}

/**
 * Lets in whoever presents a key, or a token of the issuer, whose role is enough for the endpoint, and says who that
 * is. With neither configured every request passes as `anonymous`, in development; elsewhere the service does not
 * start. Wrong keys and tokens are counted by address in a budget of their own: it can be spent by somebody else at
 * that address, so it never refuses a right one.
 */
const makeGuard = (form: EdgeForm) =>
  Effect.gen(function* () {
    const { audience, environment, failures, issuer, keys, names, proxies, roles, windowMs } =
      yield* readSettings(settings)
    const faults = doorFaults({ keys, issuer, audience }, environment)
    if (faults.length > 0) return yield* new SettingsRefused({ faults })
    const open = isOpen({ keys, issuer })
    const actors = yield* Effect.orDie(actorsOf(keys, names, roles))
    const budget = makeRequestBudget({ limit: failures, windowMs })
    const tickets = yield* Tickets
    const tokens = yield* TokenVerifier

    /** Who the token is of, or the answer to it; undefined where there is none. */
    const ofToken = Effect.fnUntraced(function* (presented: ReadonlyArray<string>) {
      const token = tokens === undefined ? undefined : presented.find(looksLikeToken)
      if (tokens === undefined || token === undefined) return undefined
      const { name, role } = yield* tokens.verify(token)
      const actorId = `user:${name}`
      if (role !== undefined) return { actorId, actorType: "user", role } satisfies Actor
      return form.forbidden(`the token gives no role: its claim ${tokens.roleClaim} holds none of ${everyRole}`)
    })

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
      text: string,
      reason?: string
    ) {
      if (!wrong) return form.unauthenticated(text)
      const spending = budget.spend(addressOf(request, proxies), yield* Clock.currentTimeMillis)
      if (spending.allowed) return form.unauthenticated(text, reason)
      const retryAfter = String(Math.ceil(spending.retryAfterMs / 1000))
      return HttpServerResponse.setHeader(form.tooManyRequests, "retry-after", retryAfter)
    })

    return <E, R>(httpEffect: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>, endpoint: Guarded) =>
      Effect.gen(function* () {
        const access = accessOf(endpoint)
        const pass = (actor: Actor) => Effect.provideService(httpEffect, CurrentActor, actor)
        if (open) return yield* pass(anonymousActor)
        if (access === "public") return yield* pass({ ...anonymousActor, role: "viewer" })
        const request = yield* HttpServerRequest.HttpServerRequest
        const presented = presentedKeys(request.headers)
        const known = presented.map((key) => actors[indexOfKey(keys, key)]).find((actor) => actor !== undefined)
        const told = known === undefined ? yield* Effect.result(ofToken(presented)) : Result.succeed(undefined)
        const held = Result.getOrUndefined(told)
        if (HttpServerResponse.isHttpServerResponse(held)) return held
        const ticket =
          known === undefined && held === undefined && takesTicket(endpoint)
            ? yield* Effect.catch(ofTicket(request), (answer) => Effect.succeed(answer))
            : undefined
        if (HttpServerResponse.isHttpServerResponse(ticket)) return ticket
        const actor = known ?? held ?? ticket?.actor
        if (actor === undefined) {
          if (Result.isFailure(told)) {
            return told.failure._tag === "TokenRefused"
              ? yield* refuse(request, true, INVALID_TOKEN, told.failure.reason)
              : HttpServerResponse.setHeader(form.unavailable(ISSUER_AWAY_TEXT), "retry-after", RETRY_SECONDS)
          }
          const wrong = ticket !== undefined || presented.some((key) => key !== "")
          const missing = presented.length === 0 ? "Missing Authorization header" : "Empty authorization token"
          return yield* refuse(request, wrong, wrong ? INVALID_TOKEN : missing)
        }
        if (actor.actorType !== "anonymous") (yield* RequestFacts).keyName = actor.actorId
        if (mayUse(actor.role, access)) return yield* pass(actor)
        return form.forbidden(roleText(access, actor.role, actor.actorType === "user" ? "token" : "key"))
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
).pipe(Layer.provide([Digest.layerWebCrypto, Layer.fresh(TokenVerifier.layer)]))

/** The launch service's guard, by the same rules. */
export const layerLauncherApiKey = Layer.effect(
  LauncherApiKey,
  Effect.map(makeGuard(launcherForm), (guard) => {
    const scheme: LauncherApiKey["Service"]["bearer"] = (httpEffect, { endpoint }) => guard(httpEffect, endpoint)
    return LauncherApiKey.of({ bearer: scheme, apiKey: scheme })
  })
).pipe(Layer.provide([Digest.layerWebCrypto, Layer.fresh(TokenVerifier.layer)]))

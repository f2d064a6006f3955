import {
  type Access,
  type Actor,
  Authorization,
  accessOf,
  roles as allRoles,
  anonymousActor,
  CurrentActor,
  ISSUER_AWAY_TEXT,
  LauncherApiKey,
  mayCall,
  RequiredAccess,
  type Role,
  roleText,
  takesTicket,
  takesVoters
} from "@runplane/api"
import * as Context from "effect/Context"
import * as Digest from "effect/crypto/Digest"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { RETRY_MS } from "../oidc/IssuerKeys.ts"
import { type Holder, isCompactToken, TokenVerifier } from "../oidc/TokenVerifier.ts"
import { authenticationFaults, isOpen } from "../settings/DeploymentRules.ts"
import { readSettings, SettingsRefused } from "../settings/ReadSettings.ts"
import { ServiceSettings } from "../settings/ServiceSettings.ts"
import { actorsOf, indexOfKey } from "./ApiKeys.ts"
import { ClientBudgets, type CountedEndpoint, makeWrongCredentials } from "./ClientBudgets.ts"
import { controlPlaneForm, type EdgeForm, launcherForm } from "./EdgeForm.ts"
import { spendOf } from "./RateLimiting.ts"
import { RequestFacts } from "./RequestFacts.ts"
import { SignIns, Tickets } from "./Tickets.ts"

const settings = {
  keys: ServiceSettings.AUTH_API_KEYS,
  names: ServiceSettings.AUTH_API_KEY_NAMES,
  roles: ServiceSettings.AUTH_API_KEY_ROLES,
  issuer: ServiceSettings.OIDC_ISSUER,
  audience: ServiceSettings.OIDC_AUDIENCE,
  environment: ServiceSettings.NODE_ENV
}

const INVALID_TOKEN = "Invalid authorization token"
const RETRY_SECONDS = String(RETRY_MS / 1000)

const everyRole = allRoles.join(", ")

const BEARER_PREFIX = /^Bearer(?: +|$)/

/** The texts that a request presents: as a bearer token, bare in the same header, or in `x-api-key`. */
const presentedIn = (headers: Headers.Headers) => {
  const trimmed = (text: string | undefined) => (text === undefined ? [] : [text.trim()])
  const inAuthorization = trimmed(headers["authorization"]?.replace(BEARER_PREFIX, ""))
  const inApiKey = trimmed(headers["x-api-key"])
  return { inApiKey, all: [...inAuthorization, ...inApiKey] }
}

/** The caller that a token names, without a role. */
const callerOf = (holder: Holder) => {
  const { expiresAtUnixMs, groups, isAgent, isVoter, name, role, signedInAtUnixMs, subject } = holder
  const known: Omit<Actor, "role"> = {
    actorId: `user:${subject}`,
    actorType: "user",
    ...(name !== undefined && { name: `user:${name}` }),
    ...(groups.length > 0 && { groups }),
    ...(isVoter && { isVoter }),
    ...(isAgent && { isAgent }),
    ...(signedInAtUnixMs !== undefined && { signedInAtUnixMs }),
    expiresAtUnixMs
  }
  return { known, role }
}

/** A request that the guard answers itself. `actorId` is the caller where a key or a token proves it. */
class Refused extends Data.TaggedError("Refused")<{
  readonly answer: HttpServerResponse.HttpServerResponse
  readonly actorId?: string | undefined
}> {}

interface Guarded extends CountedEndpoint {
  readonly annotations: Context.Context<never>
}

/**
 * Accepts a request with a key, or a token of the issuer, whose role is enough for the endpoint, and identifies its
 * caller. With neither configured every request passes as `anonymous`, in development; elsewhere the service does not
 * start. A refused request spends from the budget of its client (docs/reference/http.md#rate-limit), without a right
 * key that of its network; wrong keys and tokens also spend from a smaller budget of their own. Other callers share a
 * network, so neither budget refuses a right key.
 */
const makeGuard = (form: EdgeForm) =>
  Effect.gen(function* () {
    const { audience, environment, issuer, keys, names, roles } = yield* readSettings(settings)
    const faults = authenticationFaults({ keys, issuer, audience }, environment)
    if (faults.length > 0) return yield* new SettingsRefused({ faults })
    const open = isOpen({ keys, issuer })
    const actors = yield* Effect.orDie(actorsOf(keys, names, roles))
    const budgets = yield* ClientBudgets
    const spendWrong = yield* makeWrongCredentials
    const tickets = yield* Tickets
    const tokens = yield* TokenVerifier
    const signIns = yield* SignIns

    const ofTicket = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      const ticket = queryOf(request.url).get("ticket")
      const route = yield* Effect.serviceOption(HttpRouter.RouteContext)
      const run = Option.flatMapNullishOr(route, ({ params }) => params["id"])
      if (ticket === null || Option.isNone(run)) return undefined
      const runId = run.value.toLowerCase()
      return { actor: yield* tickets.find(ticket, runId), redeem: tickets.redeem(ticket, runId) }
    })

    /** Refuses a wrong key, token or ticket. */
    const refuseWrong = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, reason?: string) {
      const retryAfter = yield* spendWrong(request)
      if (retryAfter === undefined) return yield* new Refused({ answer: form.unauthenticated(INVALID_TOKEN, reason) })
      return yield* new Refused({
        answer: HttpServerResponse.setHeader(form.tooManyRequests, "retry-after", String(retryAfter))
      })
    })

    /** The actor of a token; undefined where the request presents none. */
    const ofToken = Effect.fnUntraced(function* (
      request: HttpServerRequest.HttpServerRequest,
      presented: ReadonlyArray<string>
    ) {
      const token = tokens === undefined ? undefined : presented.find(isCompactToken)
      if (tokens === undefined || token === undefined) return undefined
      const holder = yield* Effect.catchTags(tokens.verify(token), {
        TokenRefused: ({ reason }) => refuseWrong(request, reason),
        KeysUnavailable: () => {
          const answer = HttpServerResponse.setHeader(form.unavailable(ISSUER_AWAY_TEXT), "retry-after", RETRY_SECONDS)
          return Effect.fail(new Refused({ answer }))
        }
      })
      const { known, role } = callerOf(holder)
      if (role !== undefined) return { ...known, role }
      ;(yield* RequestFacts).actor = known
      const text = `the token gives no role: its claim ${tokens.roleClaim} holds none of ${everyRole}`
      return yield* new Refused({ answer: form.forbidden(text), actorId: known.actorId })
    })

    /**
     * The actor that a request proves to be by a key, a token or a ticket. `redeem` uses the ticket up; undefined where
     * there is none.
     */
    const identify = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, endpoint: Guarded) {
      const { all, inApiKey } = presentedIn(request.headers)
      const presented = form.bearerKeys ? all : inApiKey
      const known = presented.map((key) => actors[indexOfKey(keys, key)]).find((actor) => actor !== undefined)
      const actor = known ?? (yield* ofToken(request, all))
      if (actor !== undefined) return { actor, redeem: undefined }
      const hasCredentials = presented.some((key) => key !== "")
      if (!hasCredentials && takesSignIn(endpoint)) {
        const signedIn = yield* Effect.mapError(signIns.find(request), (answer) => new Refused({ answer }))
        if (signedIn !== undefined) return { actor: signedIn, redeem: undefined }
      }
      const ticket = takesTicket(endpoint)
        ? yield* Effect.mapError(ofTicket(request), (answer) => new Refused({ answer }))
        : undefined
      if (ticket?.actor !== undefined) return { actor: ticket.actor, redeem: ticket.redeem }
      if (ticket !== undefined || hasCredentials) return yield* refuseWrong(request)
      const missing = presented.length === 0 ? "Missing Authorization header" : "Empty authorization token"
      return yield* new Refused({ answer: form.unauthenticated(missing) })
    })

    const authorize = Effect.fnUntraced(function* (
      request: HttpServerRequest.HttpServerRequest,
      endpoint: Guarded,
      access: Exclude<Access, "public">
    ) {
      const { actor, redeem } = yield* identify(request, endpoint)
      if (actor.actorType !== "anonymous") (yield* RequestFacts).actor = actor
      if (access === "any" || mayCall(actor, endpoint)) return { actor, redeem }
      const needed: ReadonlyArray<Role> = takesVoters(endpoint) ? ["voter", access] : [access]
      const text = roleText(needed, actor.role, actor.actorType === "user" ? "token" : "key")
      return yield* new Refused({ answer: form.forbidden(text), actorId: actor.actorId })
    })

    /**
     * Uses a ticket up once its request is answered with what it opens: a refused request and a HEAD leave it valid.
     * The answer of a request whose ticket another one used up meanwhile is dropped, unread.
     */
    const redeemed = Effect.fnUntraced(function* (
      request: HttpServerRequest.HttpServerRequest,
      redeem: ReturnType<typeof tickets.redeem> | undefined,
      answer: HttpServerResponse.HttpServerResponse
    ) {
      if (redeem === undefined || request.method === "HEAD" || answer.status >= 400) return answer
      const used = yield* Effect.mapError(redeem, (answer) => new Refused({ answer }))
      return used === undefined ? yield* refuseWrong(request) : answer
    })

    return <E, R>(httpEffect: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>, endpoint: Guarded) =>
      Effect.gen(function* () {
        const pass = (actor: Actor) => Effect.provideService(httpEffect, CurrentActor, actor)
        if (open) return yield* pass(anonymousActor)
        const access = accessOf(endpoint)
        if (access === "public") return yield* pass({ ...anonymousActor, role: "viewer" })
        const request = yield* HttpServerRequest.HttpServerRequest
        const authorized = yield* Effect.result(authorize(request, endpoint, access))
        const answered = Result.isFailure(authorized)
          ? Result.fail(authorized.failure)
          : yield* Effect.result(redeemed(request, authorized.success.redeem, yield* pass(authorized.success.actor)))
        if (Result.isSuccess(answered)) return answered.success
        const { actorId, answer } = answered.failure
        const withinBudget = yield* budgets.spend(actorId ?? budgets.networkOf(request), endpoint)
        return withinBudget ? answer : form.tooManyRequests
      })
  })

/** The sign-in of a page opens the inbox, and the caller's own identity. */
const takesSignIn = (endpoint: Guarded) => takesVoters(endpoint) || accessOf(endpoint) === "any"

const queryOf = (url: string) => new URLSearchParams(url.slice(url.includes("?") ? url.indexOf("?") + 1 : url.length))

/** The control plane's guard (docs/reference/http.md#api-keys). */
export const layerAuthorization = Layer.effect(
  Authorization,
  Effect.map(makeGuard(controlPlaneForm), (guard) => {
    // The first scheme reads both headers, and its refusal is an answer, so the second is never called.
    const scheme: Authorization["Service"]["bearer"] = (httpEffect, { endpoint }) => guard(httpEffect, endpoint)
    return Authorization.of({ bearer: scheme, apiKey: scheme })
  })
).pipe(Layer.provide([Digest.layerWebCrypto, Layer.fresh(TokenVerifier.layer)]))

/**
 * The guard of the launch service around a route of another protocol, which is not in its API: keys, roles and budgets
 * as of an endpoint of the given access.
 */
export class RouteGuard extends Context.Service<
  RouteGuard,
  <E, R>(
    answer: (actor: Actor) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
    route: CountedEndpoint & { readonly access: Access }
  ) => Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    E,
    Exclude<R, CurrentActor> | HttpServerRequest.HttpServerRequest
  >
>()("runplane/server/RouteGuard") {}

/** The launch service's guard, by the same rules, but that it reads keys in `x-api-key` alone. */
export const layerLauncherApiKey = Layer.effectContext(
  Effect.gen(function* () {
    const guard = yield* makeGuard(launcherForm)
    const isWithin = spendOf(yield* ClientBudgets)
    const scheme: LauncherApiKey["Service"]["bearer"] = (httpEffect, { endpoint }) => guard(httpEffect, endpoint)
    const ofRoute: RouteGuard["Service"] = (answer, { access, ...route }) =>
      guard(
        Effect.gen(function* () {
          if (!(yield* isWithin(route))) return launcherForm.tooManyRequests
          return yield* answer(yield* CurrentActor)
        }),
        { ...route, annotations: Context.make(RequiredAccess, access) }
      )
    return LauncherApiKey.context(LauncherApiKey.of({ bearer: scheme, apiKey: scheme })).pipe(
      Context.add(RouteGuard, ofRoute)
    )
  })
).pipe(Layer.provide([Digest.layerWebCrypto, Layer.fresh(TokenVerifier.layer)]))

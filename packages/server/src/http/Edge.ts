import { randomUUID } from "node:crypto"
import * as ByteSize from "effect/ByteSize"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { isOpen } from "../settings/DeploymentRules.ts"
import { readSettings } from "../settings/ReadSettings.ts"
import { ServiceSettings } from "../settings/ServiceSettings.ts"
import { RequestSpanName } from "../traces/RequestSpanName.ts"
import { InexactBody, withJsonBody } from "./BodyRules.ts"
import { addressOf } from "./ClientAddress.ts"
import { compressed } from "./Compression.ts"
import { makeCors } from "./Cors.ts"
import { crossSiteRefusal, provenanceOf } from "./CrossSite.ts"
import type { EdgeForm } from "./EdgeForm.ts"
import { HttpObserver, type ObservedRequest, RequestId } from "./HttpObserver.ts"
import type { MethodsOf } from "./Methods.ts"
import { RawRoutes } from "./RawRoutes.ts"
import { type Facts, RequestFacts, viaOf } from "./RequestFacts.ts"
import { withSecurityHeaders } from "./SecurityHeaders.ts"

/**
 * The request as routes know it: without the path below which a proxy serves the service
 * (docs/reference/http.md#base-path). A request that is not below that path stays as it is: probes and neighbours call
 * the service directly.
 */
const withoutBasePath = (
  request: HttpServerRequest.HttpServerRequest,
  basePath: string
): HttpServerRequest.HttpServerRequest =>
  basePath !== "" && request.url.startsWith(`${basePath}/`)
    ? request.modify({ url: request.url.slice(basePath.length) })
    : request

/** Relative addresses need the slash behind the base path: the answer to a request without it, undefined to others. */
const basePathRedirect = (url: string, basePath: string): HttpServerResponse.HttpServerResponse | undefined => {
  const [path, ...query] = url.split("?")
  if (basePath === "" || path !== basePath) return undefined
  return HttpServerResponse.empty({ status: 308, headers: { location: [`${basePath}/`, ...query].join("?") } })
}

/** Largest request body, mebibytes. */
export const MAX_BODY_MIB = 1

/** A request that declares a longer body is refused before any of it is read. */
const MAX_BODY_BYTES = MAX_BODY_MIB * 1024 * 1024

/** Characters of a path parameter; a longer one matches no route. */
export const MAX_PARAM_LENGTH = 512

/** What must sit outside of `HttpRouter.serve`: the limits on bodies and path parameters. */
export const edgeServices = Layer.mergeAll(
  Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.mebibytes(MAX_BODY_MIB)),
  Layer.succeed(HttpRouter.RouterConfig, { maxParamLength: MAX_PARAM_LENGTH })
)

/** A request id of a caller is used when it is plain visible ASCII of a sane length. */
const ACCEPTED_REQUEST_ID = /^[\x21-\x7e]{1,128}$/

const settings = {
  origins: ServiceSettings.CORS_ORIGIN,
  hosts: ServiceSettings.ALLOWED_HOSTS,
  basePath: ServiceSettings.PUBLIC_BASE_PATH,
  proxies: ServiceSettings.TRUST_PROXY,
  keys: ServiceSettings.AUTH_API_KEYS,
  issuer: ServiceSettings.OIDC_ISSUER
}

/**
 * What surrounds every route of a service: request id, cross-origin and security headers, the refusal of other sites'
 * pages where there are no keys, the answers to unknown routes, oversized and unreadable bodies and defects, the
 * compression of answers, and the observation of every request. No input leads past it.
 */
export const layerEdge = (form: EdgeForm, methods: MethodsOf) =>
  HttpRouter.middleware(
    Effect.gen(function* () {
      const { basePath, hosts, origins, proxies, ...authentication } = yield* readSettings(settings)
      const cors = makeCors(origins)
      const trust = { allowsOrigin: cors.allows, hosts: new Set(hosts.map((name) => name.toLowerCase())) }
      const refusalOf = (request: HttpServerRequest.HttpServerRequest) =>
        isOpen(authentication) ? crossSiteRefusal(provenanceOf(request), trust) : undefined
      const observer = yield* HttpObserver
      const raw = yield* RawRoutes

      return (httpEffect) =>
        Effect.gen(function* () {
          const received = yield* HttpServerRequest.HttpServerRequest
          const redirect = basePathRedirect(received.url, basePath)
          const request = raw.known(withoutBasePath(received, basePath))
          const given = request.headers["x-request-id"]
          const requestId = given !== undefined && ACCEPTED_REQUEST_ID.test(given) ? given : randomUUID()
          const origin = request.headers["origin"]
          if (request.method === "OPTIONS") {
            const headers = cors.preflight(origin, request.headers["access-control-request-headers"])
            const preflight = HttpServerResponse.empty({
              status: 204,
              headers: { ...headers, "x-request-id": requestId }
            })
            return withSecurityHeaders(preflight)
          }
          const refusal = refusalOf(request)
          const isRaw = raw.has(pathOf(request.url))
          const route =
            refusal !== undefined
              ? Effect.succeed(form.forbidden(refusal))
              : !isRaw && Number(request.headers["content-length"]) > MAX_BODY_BYTES
                ? Effect.succeed(form.payloadTooLarge)
                : redirect === undefined
                  ? httpEffect
                  : Effect.succeed(redirect)
          const via = viaOf(request.headers["x-runplane-via"])
          const facts: Facts = { client: "", actor: undefined, address: addressOf(request, proxies), via }
          const surrounded = answered(route, request, { form, methods, observer, facts, requestId, isRaw }).pipe(
            Effect.provideService(RequestFacts, facts),
            Effect.provideService(RequestId, requestId),
            Effect.annotateLogs("requestId", requestId)
          )
          const seen = isRaw ? request : withJsonBody(request, form.otherBodies)
          // Effect copies a context after eight additions, so an existing entry is not added again.
          const result = yield* seen === received
            ? surrounded
            : Effect.provideService(surrounded, HttpServerRequest.HttpServerRequest, seen)
          const response = isRaw && result.status >= 400 ? raw.refusal(request, result) : result
          const { answer, varies } = compressed(request, response)
          const fields = cors.headers(origin)
          const vary = [response.headers["vary"], varies ? "Accept-Encoding" : undefined, fields["vary"]]
            .filter((names) => names !== undefined)
            .join(", ")
          return withSecurityHeaders(yield* answer, { ...fields, vary, "x-request-id": requestId })
        })
    }),
    { global: true }
  )

interface Surroundings {
  readonly form: EdgeForm
  readonly methods: MethodsOf
  readonly observer: typeof HttpObserver.Service
  readonly facts: Facts
  readonly requestId: string
  /** Whether the handler reads the body itself, and says which form of it is not accepted. */
  readonly isRaw: boolean
}

const answered = <E, R>(
  httpEffect: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  request: HttpServerRequest.HttpServerRequest,
  { facts, form, isRaw, methods, observer, requestId }: Surroundings
) =>
  Effect.gen(function* () {
    const start = yield* Clock.currentTimeNanos
    const response = yield* Effect.catchCause(httpEffect, (cause) => fallback(cause, request, form, methods)).pipe(
      Effect.map((answer) =>
        answer.status === 415 && !isRaw ? form.unsupportedMediaType(request.headers["content-type"] ?? "") : answer
      )
    )
    // The router leaves the matched route in the context of the request's fiber.
    const route = yield* Effect.serviceOption(HttpRouter.RouteContext)
    const seconds = Number((yield* Clock.currentTimeNanos) - start) / 1e9
    const observed: ObservedRequest = {
      method: request.method,
      route: Option.match(route, { onNone: () => "unmatched", onSome: (matched) => matched.route.path }),
      status: response.status,
      seconds,
      requestId,
      caller: facts.actor,
      address: facts.address,
      id: Option.getOrUndefined(Option.flatMapNullishOr(route, ({ params }) => params["id"]))
    }
    if (Option.isSome(route)) yield* (yield* RequestSpanName)(`${observed.method} ${observed.route}`)
    yield* observer.observe(observed)
    if (!PROBES.has(observed.route)) yield* logAccess(observed)
    return response
  })

/** The probes of platforms: their number would hide the other lines of the access log. */
const PROBES: ReadonlySet<string> = new Set(["/livez", "/healthz", "/readyz", "/metrics"])

/** An entry of the access log (docs/reference/admin.md#log). Never a path or a query: both may hold secrets. */
const logAccess = ({ caller, method, route, seconds, status }: ObservedRequest) => {
  const ms = Math.round(seconds * 1_000)
  return Effect.annotateLogs(Effect.logInfo(`${method} ${route} ${status} ${ms} ms`), {
    method,
    route,
    status,
    ms,
    ...(caller !== undefined && { keyName: caller.actorId })
  })
}

const fallback = (
  cause: Cause.Cause<unknown>,
  request: HttpServerRequest.HttpServerRequest,
  form: EdgeForm,
  methods: MethodsOf
) => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
  const error = Cause.squash(cause)
  if (HttpServerError.isHttpServerError(error)) {
    if (error.reason._tag === "RouteNotFound") {
      return Effect.succeed(unmatched(request.method, pathOf(request.url), form, methods))
    }
    if (error.reason._tag === "RequestParseError") {
      const { cause, reason } = error.reason
      if (reason === "BodyTooLarge") return Effect.succeed(form.payloadTooLarge)
      const text = cause instanceof InexactBody ? cause.message : "request body is unreadable"
      return Effect.succeed(form.unreadableBody(text))
    }
  }
  return Effect.as(Effect.logError("request failed", cause), form.internal)
}

const unmatched = (method: string, path: string, form: EdgeForm, methods: MethodsOf) => {
  const allowed = form.methodNotAllowed === undefined ? [] : methods(path)
  return form.methodNotAllowed === undefined || allowed.length === 0
    ? form.notFound(method, path)
    : HttpServerResponse.setHeader(form.methodNotAllowed(method, path), "allow", allowed.join(", "))
}

const pathOf = (url: string) => url.split("?")[0] ?? url

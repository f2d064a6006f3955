import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpEffect from "effect/http/HttpEffect"
import type * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"

/** The headers of an MCP request by which a service knows the caller and its address. */
const OF_CALLER = ["authorization", "x-api-key", "x-forwarded-for", "traceparent"]

/** The address of the connection that an MCP request came over. */
const RemoteAddress = Context.Reference<Option.Option<string>>("runplane/control-plane/mcp/RemoteAddress", {
  defaultValue: () => Option.none()
})

/** The address of this service in requests that never leave the process. A service without keys trusts its name. */
export const IN_PROCESS = "http://control-plane.internal"

/** The MCP request that the current fiber works for; undefined outside of one. */
const currentRequest = Effect.map(Effect.serviceOption(HttpServerRequest.HttpServerRequest), Option.getOrUndefined)

/** The credentials of the MCP request go with every request of the client. */
export const withCredentials = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.mapRequestEffect(client, (request) =>
    Effect.map(currentRequest, (outer) => {
      const known = OF_CALLER.flatMap((name) => {
        const value = outer?.headers[name]
        return value === undefined ? [] : [[name, value] as const]
      })
      return HttpClientRequest.setHeaders(request, Object.fromEntries(known))
    })
  )

/**
 * A client of this service without a socket: its requests pass through the same router, edge, authentication, limits
 * and audit as those of the network, for the caller of the MCP request that causes them.
 */
export const makeInProcessClient = Effect.fnUntraced(function* (router: HttpRouter.HttpRouter) {
  const client = yield* HttpClient.HttpClient
  const services = yield* Effect.context<never>()
  const received = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const remoteAddress = yield* RemoteAddress
    // Read here, because the router is complete only when all layers are built.
    const route = router.asHttpEffect()
    return yield* Effect.provideService(route, HttpServerRequest.HttpServerRequest, request.modify({ remoteAddress }))
  })
  const serve = HttpEffect.toWebHandler(received)
  const inProcess = HttpClient.transformResponse(client, (answer) =>
    Effect.flatMap(currentRequest, (outer) => {
      const remoteAddress = outer?.remoteAddress ?? Option.none()
      const fetch: typeof globalThis.fetch = async (input, init) => {
        const answer = await serve(new Request(input, init), Context.add(services, RemoteAddress, remoteAddress))
        // The client decodes in another turn of the event loop than the one in which the service has encoded.
        return new Promise((resolve) => setImmediate(resolve, answer))
      }
      return Effect.provideService(answer, FetchHttpClient.Fetch, fetch)
    })
  )
  return withCredentials(inProcess)
})

import * as Context from "effect/Context"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"

/** Routes of another protocol, whose handlers read the body themselves. */
export interface RawRoutes {
  /** The request as the routes know it, where clients use another path or header of the protocol. */
  readonly known: (request: HttpServerRequest.HttpServerRequest) => HttpServerRequest.HttpServerRequest
  /** Whether the edge leaves the body of this path to its handler: neither its type nor its size is checked. */
  readonly has: (path: string) => boolean
  /** The error of the service in the form of the protocol. */
  readonly refusal: (
    request: HttpServerRequest.HttpServerRequest,
    answer: HttpServerResponse.HttpServerResponse
  ) => HttpServerResponse.HttpServerResponse
}

/** The default is a service without such routes. */
export const RawRoutes = Context.Reference<RawRoutes>("runplane/server/RawRoutes", {
  defaultValue: () => ({ known: (request) => request, has: () => false, refusal: (_, answer) => answer })
})

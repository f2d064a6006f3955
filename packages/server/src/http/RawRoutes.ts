import * as Context from "effect/Context"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"

/** Routes of another protocol, whose handlers read the body themselves. */
export interface RawRoutes {
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
  defaultValue: () => ({ has: () => false, refusal: (_, answer) => answer })
})

import type * as HttpServerRequest from "effect/http/HttpServerRequest"

/** Whether the client shows pages, as browsers do when a person opens an address. */
export const acceptsHtml = (request: HttpServerRequest.HttpServerRequest): boolean =>
  request.headers["accept"]?.toLowerCase().includes("text/html") === true

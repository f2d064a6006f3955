import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpMethod from "effect/http/HttpMethod"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type { EdgeForm } from "./EdgeForm.ts"

const JSON_TYPE = "application/json"
const NO_TYPE = "application/octet-stream"

/**
 * The request as the endpoints see it. An empty body passes for JSON whatever its content type says, because clients
 * send POST requests without one. A body of another type, or of none, is left to be refused, or hidden where the
 * service ignores such bodies: a page of somebody else can send those without asking first (docs/http.md#bodies).
 */
export const withJsonBody = (
  request: HttpServerRequest.HttpServerRequest,
  otherBodies: EdgeForm["otherBodies"]
): HttpServerRequest.HttpServerRequest => {
  if (!HttpMethod.hasBody(request.method) || isJson(request.headers["content-type"])) return request
  if (hasContent(request) && otherBodies === "refuse") {
    // Without a type the body would pass for JSON.
    const named = request.headers["content-type"] ?? NO_TYPE
    return request.modify({ headers: Headers.set(request.headers, "content-type", named) })
  }
  const asJson = request.modify({ headers: Headers.set(request.headers, "content-type", JSON_TYPE) })
  return hasContent(request) ? withoutContent(asJson) : asJson
}

const isJson = (contentType: string | undefined) => contentType?.split(";")[0]?.trim().toLowerCase() === JSON_TYPE

const hasContent = (request: HttpServerRequest.HttpServerRequest) =>
  request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"] ?? 0) > 0

/** The same request with nothing to read; the unread bytes are dropped with the connection's buffers. */
const withoutContent = (request: HttpServerRequest.HttpServerRequest): HttpServerRequest.HttpServerRequest =>
  Object.create(request, { text: { value: Effect.succeed("") } })

import { jsonFault, jsonFaultText } from "@runplane/domain"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpMethod from "effect/http/HttpMethod"
import * as HttpServerError from "effect/http/HttpServerError"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type { EdgeForm } from "./EdgeForm.ts"

const JSON_TYPE = "application/json"
const NO_TYPE = "application/octet-stream"

/**
 * The request as the endpoints see it. An empty body passes for JSON whatever its content type says, because clients
 * send POST requests without one. A body of another type, or of none, is left to be refused, or hidden where the
 * service ignores such bodies: a page of another site can send those without a preflight
 * (docs/reference/http.md#bodies).
 */
export const withJsonBody = (
  request: HttpServerRequest.HttpServerRequest,
  otherBodies: EdgeForm["otherBodies"]
): HttpServerRequest.HttpServerRequest => {
  if (!HttpMethod.hasBody(request.method)) return request
  if (isJson(request.headers["content-type"])) return withExactJson(request)
  if (hasContent(request) && otherBodies === "refuse") {
    // Without a type the body would pass for JSON.
    const named = request.headers["content-type"] ?? NO_TYPE
    return request.modify({ headers: Headers.set(request.headers, "content-type", named) })
  }
  const asJson = request.modify({ headers: Headers.set(request.headers, "content-type", JSON_TYPE) })
  return hasContent(request) ? withoutContent(asJson) : asJson
}

/** The cause of the parse error of a body that is JSON, and that no endpoint could read as it was sent. */
export class InexactBody extends Data.TaggedError("InexactBody")<{ readonly message: string }> {}

/**
 * The same request, whose text fails with InexactBody where parsing it would change it
 * (docs/reference/http.md#bodies).
 */
const withExactJson = (request: HttpServerRequest.HttpServerRequest): HttpServerRequest.HttpServerRequest => {
  const text = Effect.suspend(() => request.text).pipe(
    Effect.tap((json) => {
      const fault = jsonFault(json)
      if (fault === undefined) return Effect.void
      const cause = new InexactBody({ message: jsonFaultText(fault) })
      return Effect.fail(
        new HttpServerError.HttpServerError({ reason: new HttpServerError.RequestParseError({ request, cause }) })
      )
    })
  )
  return Object.create(request, { text: { value: text } })
}

const isJson = (contentType: string | undefined) => contentType?.split(";")[0]?.trim().toLowerCase() === JSON_TYPE

const hasContent = (request: HttpServerRequest.HttpServerRequest) =>
  request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"] ?? 0) > 0

/** The same request with nothing to read; the unread bytes are dropped with the connection's buffers. */
const withoutContent = (request: HttpServerRequest.HttpServerRequest): HttpServerRequest.HttpServerRequest =>
  Object.create(request, { text: { value: Effect.succeed("") } })

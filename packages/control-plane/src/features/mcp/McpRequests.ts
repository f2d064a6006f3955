import { acceptsType, withoutNulls } from "@runplane/mcp"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

/** The form of requests that the MCP module takes, and bodies for its refusals (docs/reference/mcp.md#transport). */

const ANSWERS = ["application/json", "text/event-stream"]

/** Whether the client takes both forms of an answer. */
export const acceptsAnswers = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  ANSWERS.every((type) => acceptsType(headers["accept"], type))

/**
 * The same request as the module reads it: without its origin, which the guard has accepted and the module compares
 * with a list of exact ones; with both media types by name, because the module knows no ranges; without members that
 * are null. A modified request would read its body a second time.
 */
export const readable = (request: HttpServerRequest.HttpServerRequest): HttpServerRequest.HttpServerRequest =>
  Object.create(request, {
    headers: { value: Headers.set(Headers.remove(request.headers, "origin"), "accept", ANSWERS.join(", ")) },
    text: { value: Effect.map(request.text, withoutNulls) }
  })

const REFUSALS: Readonly<Record<number, readonly [errorCode: string, message: string]>> = {
  400: ["VALIDATION_ERROR", "the message is not one of this endpoint: a batch, or a session without Mcp-Session-Id"],
  403: ["FORBIDDEN", "this origin is not allowed"],
  404: ["NOT_FOUND", "the session of Mcp-Session-Id is not one of this process, or has ended: initialize a new one"],
  405: ["METHOD_NOT_ALLOWED", "MCP takes POST; DELETE ends a session of the 2025 revisions"],
  406: ["VALIDATION_ERROR", `Accept must take ${ANSWERS.join(" and ")}`],
  415: ["UNSUPPORTED_MEDIA_TYPE", "Content-Type must be application/json"]
}

/** A refusal in the form of the other endpoints. */
export const refusal = (statusCode: number): HttpServerResponse.HttpServerResponse => {
  const [errorCode, message] = REFUSALS[statusCode] ?? ["VALIDATION_ERROR", "the request was refused"]
  return HttpServerResponse.jsonUnsafe({ statusCode, errorCode, message }, { status: statusCode })
}

const isEmpty = ({ body }: HttpServerResponse.HttpServerResponse): boolean =>
  body._tag === "Empty" || (body._tag === "Uint8Array" && body.body.length === 0)

/** The response of the module; a refusal without a body gets one. */
export const withBody = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse => {
  if (response.status < 400 || !isEmpty(response)) return response
  const { "content-length": _, "content-type": __, ...headers } = response.headers
  return HttpServerResponse.setHeaders(refusal(response.status), headers)
}

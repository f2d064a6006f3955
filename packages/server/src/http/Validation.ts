import {
  badRequest,
  LaunchValidation,
  MalformedBody,
  RequestValidation,
  ValidationFailed,
  type ViolationText,
  violationText
} from "@runplane/api"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpApiError from "effect/http-api/HttpApiError"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"

/** The control plane's 400 answers: a list of broken rules, or one sentence with a code. */
export const layerRequestValidation = HttpApiMiddleware.layerSchemaErrorTransform(RequestValidation, (error) =>
  Effect.flatMap(explain(error), (text) =>
    Effect.fail(typeof text === "string" ? badRequest(text) : new ValidationFailed({ message: text }))
  )
)

/** The launch service's 400 answers, in the framework's form. */
export const layerLaunchValidation = HttpApiMiddleware.layerSchemaErrorTransform(LaunchValidation, (error) =>
  Effect.flatMap(explain(error), (text) => Effect.fail(new MalformedBody({ message: text })))
)

/**
 * The text for a refused request. An answer of ours that does not fit its declared schema is a defect,
 * not a bad request: it fails with the error itself, which ends as a logged 500.
 */
const explain = (error: HttpApiError.HttpApiSchemaError) => {
  if (error.kind === "Body" || error.kind === "ResponseHeaders") return Effect.fail(error)
  const text = violationText(error.cause.issue)
  if (text !== undefined) return Effect.succeed(text)
  return error.kind === "Payload" ? parserText : Effect.succeed<ViolationText>(error.cause.message)
}

/** Why the body is not JSON, as the text of the JSON parser. The text was read before, so this reads nothing anew. */
const parserText: Effect.Effect<ViolationText, never, HttpServerRequest.HttpServerRequest> = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const text = yield* Effect.orDie(request.text)
  try {
    JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return error.message
  }
  return "Unexpected body"
})

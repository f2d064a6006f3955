import { controlPlaneError } from "@runplane/api"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { SqlError } from "effect/sql/SqlError"
import { describeSqlError, isOutage } from "../database/SqlFailures.ts"
import { AppendFailed } from "../events/AppendRequest.ts"

/** Seconds after which a caller may try again. */
export const RETRY_AFTER_SECONDS = 5

/** What the database has to do with a failure: why it could not be used, or undefined when it could. */
const outageOf = (error: unknown): string | undefined => {
  if (error instanceof SqlError) return isOutage(error) ? describeSqlError(error) : undefined
  if (error instanceof AppendFailed) return error.outage ? error.reason : undefined
  return undefined
}

/** Says nothing of the server's words, which may name hosts and users; those are in the log. */
const { errorCode, message, statusCode } = controlPlaneError("SERVICE_UNAVAILABLE", "the database is unavailable")
const answer = HttpServerResponse.jsonUnsafe(
  { statusCode, errorCode, message },
  { status: statusCode, headers: { "retry-after": String(RETRY_AFTER_SECONDS) } }
)

/**
 * Capabilities treat a failing database as a defect, because nobody can do anything about it. When it is away, that is not a
 * fault of the service: the caller is told to come back (503 `SERVICE_UNAVAILABLE`; http-details section 3.2 has no row for it,
 * and "unhandled" would be a bug report).
 */
export const layerOutageAnswers = HttpRouter.middleware(
  (httpEffect) =>
    Effect.catchCause(httpEffect, (cause) => {
      const outage = outageOf(Cause.squash(cause))
      if (outage === undefined) return Effect.failCause(cause)
      return Effect.as(Effect.logWarning(`refused a request: ${outage}`), answer)
    }),
  { global: true }
)

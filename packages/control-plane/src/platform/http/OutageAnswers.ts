import { controlPlaneError, TooManyRequests } from "@runplane/api"
import { describeSqlError, isContention, isOutage, isTimeout } from "@runplane/database"
import { TurnRefused } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { isUnreadArchive } from "../ArchiveUnread.ts"
import { AppendFailed } from "../postgres/AppendFailed.ts"

/** Seconds after which a caller may try again. */
export const RETRY_AFTER_SECONDS = 5

/** A failure of the database: in a statement, or in an append to the log. */
export type DatabaseFailure = SqlError | AppendFailed

export const isDatabaseFailure = (error: unknown): error is DatabaseFailure =>
  isSqlError(error) || error instanceof AppendFailed

/** Failures that a retry may mend, or that are a fault of the service. */
type Unanswered = DatabaseFailure | TurnRefused

const isAnswer = <E>(error: E): error is Exclude<E, Unanswered> =>
  !isDatabaseFailure(error) && !(error instanceof TurnRefused)

/** Without the error text of the server, which may name hosts and users; it is in the log. */
const unavailableOf = (what: string) => {
  const { errorCode, message, statusCode } = controlPlaneError("SERVICE_UNAVAILABLE", `the ${what} is unavailable`)
  return HttpServerResponse.jsonUnsafe(
    { statusCode, errorCode, message },
    { status: statusCode, headers: { "retry-after": String(RETRY_AFTER_SECONDS) } }
  )
}
const noDatabase = unavailableOf("database")
const noArchive = unavailableOf("archive, which has this run,")

/** A caller with too much in a lane is over its share; else the service is busy (docs/reference/http.md#turns). */
const refusalOf = ({ message, reason }: TurnRefused) => {
  const { errorCode, statusCode } =
    reason === "caller"
      ? new TooManyRequests({ errorCode: "INTERNAL_ERROR", message })
      : controlPlaneError("SERVICE_UNAVAILABLE", message)
  return HttpServerResponse.jsonUnsafe(
    { statusCode, errorCode, message },
    { status: statusCode, headers: { "retry-after": String(RETRY_AFTER_SECONDS) } }
  )
}

/**
 * Turns a failure of the database, or a refused turn, into an answer. An outage of the database is not a fault of the
 * service: the caller retries later (docs/reference/http.md#outages). A statement that the database refuses is a fault,
 * and dies.
 */
export const orUnavailable = <A, E, R>(
  handler: Effect.Effect<A, E, R>
): Effect.Effect<A | HttpServerResponse.HttpServerResponse, Exclude<E, Unanswered>, R> =>
  Effect.catch(handler, (error) => (isAnswer(error) ? Effect.fail(error) : answerOf(error)))

const answerOf = (failure: unknown) => {
  if (failure instanceof TurnRefused) return Effect.succeed(refusalOf(failure))
  const outage = outageOf(failure)
  return outage === undefined
    ? Effect.die(failure)
    : Effect.as(Effect.logWarning(`refused a request: ${outage}`), isUnreadArchive(failure) ? noArchive : noDatabase)
}
/** Why a retry of the request may succeed; undefined when the database has refused it. */
const outageOf = (failure: unknown): string | undefined => {
  if (!isDatabaseFailure(failure)) return undefined
  if (failure instanceof AppendFailed) return failure.outage ? failure.message : undefined
  // Another caller holds the lock, or keeps the server busy.
  const later = isOutage(failure) || isContention(failure) || isTimeout(failure)
  return later ? describeSqlError(failure) : undefined
}

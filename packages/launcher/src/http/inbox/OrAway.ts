import { launcherError } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { orUnavailable, type PeopleUnavailable } from "../../people/Outage.ts"

/** Seconds until an answer that is refused for now is worth another try. */
const RETRY_SECONDS: ReadonlyMap<unknown, string> = new Map([
  ["SESSION_UNREAD", "2"],
  ["DATABASE_UNAVAILABLE", "5"],
  ["CODE_NOT_SENT", "10"],
  ["TOO_MANY_ANSWERS", "60"],
  ["TOO_MANY_QUESTIONS", "60"],
  ["TOO_MANY_STREAMS", "10"]
])

const isAway = (error: unknown): error is PeopleUnavailable =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "PeopleUnavailable"

/** The error of a database that does not answer; and when a request that is refused for now is worth another try. */
export const orAway = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  orUnavailable(effect).pipe(
    Effect.catchIf(isAway, () =>
      Effect.fail(launcherError("DATABASE_UNAVAILABLE", "the database of the inbox does not answer"))
    ),
    Effect.tapError((error) => {
      const code = typeof error === "object" && error !== null && "errorCode" in error ? error.errorCode : undefined
      const seconds = RETRY_SECONDS.get(code)
      return seconds === undefined
        ? Effect.void
        : HttpEffect.appendPreResponseHandler((_request, response) =>
            Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", seconds))
          )
    })
  )

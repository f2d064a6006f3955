import type { Actor } from "@runplane/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"

/**
 * The tickets that open the stream of a run in place of a key (docs/reference/http.md#tickets). The default knows none.
 * `find` answers whose a ticket is, and leaves it valid; `redeem` does the same and uses it up. Both answer undefined
 * for a ticket that is not valid for the run, and fail with the answer to the request when the database does not
 * answer.
 */
export const Tickets = Context.Reference<{
  readonly find: TicketUse
  readonly redeem: TicketUse
}>("runplane/server/Tickets", {
  defaultValue: () => ({ find: () => Effect.undefined, redeem: () => Effect.undefined })
})

type TicketUse = (
  ticket: string,
  runId: string
) => Effect.Effect<Actor | undefined, HttpServerResponse.HttpServerResponse>

/**
 * The persons who have signed in to a page, known by their cookie (docs/reference/people.md#sign-in). The default knows
 * none. `find` answers undefined for a request without a valid cookie, and fails with the answer to a request that may
 * not use it.
 */
export const SignIns = Context.Reference<{
  readonly find: (
    request: HttpServerRequest.HttpServerRequest
  ) => Effect.Effect<Actor | undefined, HttpServerResponse.HttpServerResponse>
}>("runplane/server/SignIns", { defaultValue: () => ({ find: () => Effect.undefined }) })

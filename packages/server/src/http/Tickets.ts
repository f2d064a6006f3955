import type { Actor } from "@runplane/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"

/**
 * Who keeps the tickets that open the stream of a run in place of a key (docs/http.md#tickets). The default knows none.
 * `redeem` uses a ticket up, and answers whose it was; it fails with the answer when that cannot be found out now.
 */
export const Tickets = Context.Reference<{
  readonly redeem: (
    ticket: string,
    runId: string
  ) => Effect.Effect<Actor | undefined, HttpServerResponse.HttpServerResponse>
}>("runplane/server/Tickets", { defaultValue: () => ({ redeem: () => Effect.undefined }) })

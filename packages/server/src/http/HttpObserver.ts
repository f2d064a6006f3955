import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { KnownActor } from "./RequestFacts.ts"

export interface ObservedRequest {
  readonly method: string
  /** The template of the matched route (`/runs/:id`), or `unmatched`. */
  readonly route: string
  readonly status: number
  /** Until the answer was ready to be sent; for a stream, until it was opened. */
  readonly seconds: number
  /** Its `x-request-id`. */
  readonly requestId: string
  /** Undefined for a caller without a right key, token or ticket. */
  readonly caller: KnownActor | undefined
  /** The client's address (docs/reference/http.md#client-address). */
  readonly address: string
  /** The path parameter `id` as it was sent; undefined where the route has none. */
  readonly id: string | undefined
}

/**
 * Receives every answered request. The default does nothing; a service that keeps metrics provides its own outside of
 * the router (docs/reference/admin.md#metrics-endpoint).
 */
export const HttpObserver = Context.Reference<{ readonly observe: (request: ObservedRequest) => Effect.Effect<void> }>(
  "runplane/server/HttpObserver",
  { defaultValue: () => ({ observe: () => Effect.void }) }
)

/** The correlation id of the current request (`x-request-id`); empty outside of one. */
export const RequestId = Context.Reference<string>("runplane/server/RequestId", { defaultValue: () => "" })

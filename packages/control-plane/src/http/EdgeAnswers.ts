import type { ControlPlaneError, EndpointRemoved, PayloadTooLarge, UnsupportedMediaType } from "@runplane/api"
import * as Effect from "effect/Effect"

/** What a capability may fail with: every answer but those that only the edge gives. */
export type CapabilityFailure = Exclude<ControlPlaneError, EndpointRemoved | PayloadTooLarge | UnsupportedMediaType>

/** Makes an edge answer from within a capability the defect that it is. */
export const withoutEdgeAnswers = <A, R>(
  effect: Effect.Effect<A, ControlPlaneError, R>
): Effect.Effect<A, CapabilityFailure, R> =>
  Effect.catchTags(effect, {
    EndpointRemoved: Effect.die,
    PayloadTooLarge: Effect.die,
    UnsupportedMediaType: Effect.die
  })

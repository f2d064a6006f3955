import type { ControlPlaneError, EndpointRemoved, PayloadTooLarge, UnsupportedMediaType } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"

/** What a capability may fail with: every answer but those that only the edge gives. */
export type CapabilityFailure = Exclude<ControlPlaneError, EdgeAnswer>

type EdgeAnswer = EndpointRemoved | PayloadTooLarge | UnsupportedMediaType

const isCapabilityFailure = <E>(error: E): error is Exclude<E, EdgeAnswer> =>
  !(
    Predicate.isTagged(error, "EndpointRemoved") ||
    Predicate.isTagged(error, "PayloadTooLarge") ||
    Predicate.isTagged(error, "UnsupportedMediaType")
  )

/** Makes an edge answer from within a capability the defect that it is. */
export const withoutEdgeAnswers = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, EdgeAnswer>, R> =>
  Effect.catch(effect, (error) => (isCapabilityFailure(error) ? Effect.fail(error) : Effect.die(error)))

import { CurrentActor } from "@runplane/api"
import { RequestFacts, RequestId } from "@runplane/server"
import * as Effect from "effect/Effect"
import { orUnavailable } from "./OutageAnswers.ts"

/** The caller of the current request, for the audit log. */
export const currentCaller = Effect.gen(function* () {
  const { address, via } = yield* RequestFacts
  return { actor: yield* CurrentActor, requestId: yield* RequestId, address, via }
})

/** A handler that acts for the caller of the request. */
export const asCaller = <A, E, R>(use: (caller: Effect.Success<typeof currentCaller>) => Effect.Effect<A, E, R>) =>
  orUnavailable(Effect.flatMap(currentCaller, use))

/** A read in the lane of the caller of the client: the fiber that sends an answer does not know the request. */
export const readFor =
  ({ facts }: { readonly facts: typeof RequestFacts.Service }) =>
  <A, E, R>(read: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(read, RequestFacts, facts)

import { CurrentActor } from "@runplane/api"
import { RequestFacts, RequestId } from "@runplane/server"
import * as Effect from "effect/Effect"
import { orUnavailable } from "./OutageAnswers.ts"

/** Who makes the current request, for the audit log. */
export const currentCaller = Effect.gen(function* () {
  return { actor: yield* CurrentActor, requestId: yield* RequestId, address: (yield* RequestFacts).address }
})

/** A handler that does something in the name of who makes the request. */
export const asCaller = <A, E, R>(use: (caller: Effect.Success<typeof currentCaller>) => Effect.Effect<A, E, R>) =>
  orUnavailable(Effect.flatMap(currentCaller, use))

/** A read in the turns of the client's caller: the fiber that sends an answer does not know the request. */
export const readFor =
  ({ facts }: { readonly facts: typeof RequestFacts.Service }) =>
  <A, E, R>(read: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(read, RequestFacts, facts)

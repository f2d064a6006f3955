import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { AgentClient } from "../../client/AgentClient.ts"
import type { RuntimeCallFailed } from "../../client/AgentFailure.ts"
import { emptySession, isOver, type Session } from "./Session.ts"

/** The session ended while an agent was waiting for a message. */
export class SessionOver extends Data.TaggedError("SessionOver") {}

export interface SessionReader {
  readonly current: Effect.Effect<Session>
  /** Waits until the session has got there. */
  readonly until: (reached: (session: Session) => boolean) => Effect.Effect<Session, SessionOver | RuntimeCallFailed>
}

/** Reads the session in the background for as long as the scope is open. */
export const readSession: Effect.Effect<SessionReader, never, AgentClient | Scope.Scope> = Effect.gen(function* () {
  const client = yield* AgentClient
  const seen = yield* SubscriptionRef.make(emptySession)
  const reading = yield* client.envelopes.pipe(
    Stream.runForEach((envelope) => SubscriptionRef.update(seen, (before) => [...before, envelope])),
    Effect.andThen(Effect.never),
    Effect.forkScoped
  )
  // Cancellation and expiry need not show on the stream, so the state of the session is watched beside it.
  const ending = yield* Deferred.make<never, SessionOver | RuntimeCallFailed>()
  yield* client.ended.pipe(
    Effect.andThen(Effect.fail(new SessionOver())),
    Effect.onExit((exit) => Deferred.done(ending, exit)),
    Effect.ignore,
    Effect.forkScoped
  )
  const until = (reached: (session: Session) => boolean) =>
    SubscriptionRef.changes(seen).pipe(
      Stream.filter((session) => reached(session) || isOver(session)),
      Stream.runHead,
      Effect.flatMap((found) =>
        found._tag === "Some" && !isOver(found.value) ? Effect.succeed(found.value) : Effect.fail(new SessionOver())
      ),
      Effect.raceFirst(Deferred.await(ending)),
      Effect.raceFirst(Fiber.join(reading))
    )
  return { until, current: SubscriptionRef.get(seen) }
})

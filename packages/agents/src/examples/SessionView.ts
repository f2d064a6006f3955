import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { AgentClient } from "../client/AgentClient.ts"
import type { RuntimeCallFailed } from "../client/AgentFailure.ts"
import { emptyRecord, record, type SessionRecord } from "./SessionRecord.ts"

/** The session came to its end while an agent was still waiting for something in it. */
export class SessionOver extends Data.TaggedError("SessionOver") {}

export interface SessionView {
  /** Waits until the session has got there. */
  readonly until: (
    reached: (seen: SessionRecord) => boolean
  ) => Effect.Effect<SessionRecord, SessionOver | RuntimeCallFailed>
  readonly current: Effect.Effect<SessionRecord>
}

/** Reads the session in the background for as long as the scope is open. */
export const watchSession: Effect.Effect<SessionView, never, AgentClient | Scope.Scope> = Effect.gen(function* () {
  const client = yield* AgentClient
  const seen = yield* SubscriptionRef.make(emptyRecord)
  const reading = yield* client.envelopes.pipe(
    Stream.runForEach((envelope) => SubscriptionRef.update(seen, (before) => record(before, envelope))),
    Effect.andThen(Effect.never),
    Effect.forkScoped
  )
  // Cancellation and expiry never show on the stream; a Commitment does, and then nobody needs to ask.
  const over = client.ended.pipe(Effect.andThen(Effect.fail(new SessionOver())))
  const until = (reached: (state: SessionRecord) => boolean) =>
    SubscriptionRef.changes(seen).pipe(
      Stream.filter((state) => reached(state) || state.committed),
      Stream.runHead,
      Effect.flatMap((found) =>
        found._tag === "Some" && reached(found.value) ? Effect.succeed(found.value) : Effect.fail(new SessionOver())
      ),
      Effect.raceFirst(over),
      Effect.raceFirst(Fiber.join(reading))
    )
  return { until, current: SubscriptionRef.get(seen) }
})

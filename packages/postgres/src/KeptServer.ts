import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import { PostgresStartFailed, type RunningServer, type ServerOptions, startServer } from "./PostgresServer.ts"

/** A server that ends more often than this within the time given will not stay. */
const MOST_ENDS = 5
const ENDS_WITHIN = Duration.minutes(5)

/** After a kill the old server's processes may still hold its shared memory for a moment. */
const AGAIN = Schedule.spaced("1 second").pipe(Schedule.upTo({ duration: "15 seconds" }))

/** A server that is started again, on the same port and data, when it ends by itself. */
export interface KeptServer {
  /** Of the first one. */
  readonly pid: number
  /** Never succeeds; fails when the server is gone for good. */
  readonly lost: Effect.Effect<never, PostgresStartFailed>
}

/** Runs the server until the scope closes, and again whenever it ends before. */
export const keepServer = Effect.fn("KeptServer.keep")(function* (
  options: ServerOptions
): Effect.fn.Return<KeptServer, PostgresStartFailed, Scope.Scope> {
  const current = yield* Ref.make<Scope.Closeable | undefined>(undefined)
  const lost = yield* Deferred.make<never, PostgresStartFailed>()
  const close = Effect.flatMap(Ref.getAndSet(current, undefined), (scope) =>
    scope === undefined ? Effect.void : Scope.close(scope, Exit.void)
  )
  yield* Effect.addFinalizer(() => close)

  const open = Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      yield* Ref.set(current, scope)
      return yield* restore(Scope.provide(startServer(options), scope)).pipe(Effect.onError(() => close))
    })
  )

  const keep = (server: RunningServer, ends: ReadonlyArray<number>): Effect.Effect<never, PostgresStartFailed> =>
    Effect.gen(function* () {
      const reason = yield* server.ended
      const now = yield* Clock.currentTimeMillis
      const recent = [...ends, now].filter((at) => now - at < Duration.toMillis(ENDS_WITHIN))
      yield* close
      if (recent.length > MOST_ENDS) {
        return yield* new PostgresStartFailed({ reason: `it ended ${recent.length} times in a row: ${reason}` })
      }
      yield* Effect.logWarning(`PostgreSQL ended (process ${server.pid}: ${reason}); it is started again`)
      const next = yield* Effect.retry(open, AGAIN)
      yield* Effect.logWarning(`PostgreSQL is back (process ${next.pid})`)
      return yield* keep(next, recent)
    })

  const first = yield* open
  yield* keep(first, []).pipe(
    Effect.onError((cause) => Deferred.failCause(lost, cause)),
    Effect.ignore,
    Effect.forkScoped
  )
  return { pid: first.pid, lost: Deferred.await(lost) }
})

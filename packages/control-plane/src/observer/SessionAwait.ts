import { failureCodeIn, isTerminal, type SessionSnapshot } from "@runplane/domain"
import { RuntimeClient, type RuntimeError } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import { type ObservedRun, ObservedRuns } from "./ObservedRuns.ts"
import { ObserverSettings } from "./ObserverSettings.ts"
import type { SessionNews } from "./SessionNews.ts"

/** The run cannot be bound to a session; the fields are those of the failed run. */
export class SessionUnavailable extends Data.TaggedError("SessionUnavailable")<{
  readonly errorCode: string
  readonly errorMessage: string
}> {}

/** The run was ended or deleted while its session was awaited: nobody waits for that session any more. */
export class RunOver extends Data.TaggedError("RunOver") {}

const refusalCodes: Partial<Record<RuntimeError["reason"], string>> = {
  PERMISSION_DENIED: "FORBIDDEN",
  UNAUTHENTICATED: "UNAUTHENTICATED",
  INVALID_ARGUMENT: "VALIDATION_ERROR",
  UNIMPLEMENTED: "NOT_IMPLEMENTED"
}

const refusalOf = (error: RuntimeError): SessionUnavailable | undefined => {
  const errorCode = failureCodeIn(error.message) ?? refusalCodes[error.reason]
  return errorCode === undefined ? undefined : new SessionUnavailable({ errorCode, errorMessage: error.message })
}

/**
 * The steps before a run is bound: `Initialize`, then `GetSession` until the initiator has opened the session
 * (http-details section 5.1, "initialise" and "await session"). A session that does not exist yet and a runtime that cannot be
 * reached are both waited out, up to the bind time-out; news of the session cut a pause short.
 */
export const makeSessionAwait = Effect.gen(function* () {
  const runtime = yield* RuntimeClient
  const runs = yield* ObservedRuns
  const settings = yield* ObserverSettings

  return Effect.fnUntraced(function* (run: ObservedRun, news: Queue.Queue<SessionNews>) {
    const started = yield* Clock.currentTimeMillis
    let attempt = 0

    /** Waits for news or for the next poll; fails when the bind time-out has passed, or when the news is the run's end. */
    const nextPoll = Effect.fnUntraced(function* (lastTrouble: string | undefined) {
      const elapsed = (yield* Clock.currentTimeMillis) - started
      const remaining = settings.sessionPollTimeoutMs - elapsed
      if (remaining <= 0) {
        const why = lastTrouble === undefined ? "" : `: ${lastTrouble}`
        return yield* new SessionUnavailable({
          errorCode: "RUNTIME_TIMEOUT",
          errorMessage: `session ${run.sessionId} was not opened within ${settings.sessionPollTimeoutMs} ms${why}`
        })
      }
      const pause = Math.min(settings.sessionPollBaseMs * 2 ** attempt, settings.sessionPollMaxMs, remaining)
      attempt += 1
      const told = yield* Effect.timeoutOption(Queue.take(news), pause)
      if (Option.isNone(told) || told.value._tag === "State") return
      const standing = yield* runs.standing(run.id)
      if (standing === undefined || isTerminal(standing.status)) return yield* new RunOver()
    })

    const ask = <A>(call: Effect.Effect<A, RuntimeError>) =>
      Effect.gen(function* () {
        while (true) {
          const result = yield* Effect.result(call)
          if (result._tag === "Success") return result.success
          const error = result.failure
          const refusal = refusalOf(error)
          if (refusal !== undefined) return yield* refusal
          yield* nextPoll(error.reason === "NOT_FOUND" ? undefined : error.message)
        }
      })

    const about = { run_id: run.id, runtime_kind: run.runtimeKind }
    const greeting = yield* ask(runtime.initialize).pipe(
      Effect.withSpan("runtime.initialize", { attributes: { ...about, mode_name: run.modeName } })
    )
    if (greeting.supportedModes.length > 0 && !greeting.supportedModes.includes(run.modeName)) {
      return yield* new SessionUnavailable({
        errorCode: "MODE_NOT_SUPPORTED",
        errorMessage: `Runtime does not support mode '${run.modeName}'. Supported: ${greeting.supportedModes.join(", ")}`
      })
    }
    const awaitOpen = Effect.gen(function* () {
      while (true) {
        const session: SessionSnapshot = yield* ask(runtime.getSession(run.sessionId))
        if (session.state !== "UNSPECIFIED") return session
        yield* nextPoll(undefined)
      }
    }).pipe(Effect.withSpan("runtime.await_session_open", { attributes: { ...about, session_id: run.sessionId } }))
    return { session: yield* awaitOpen, capabilities: greeting.capabilities }
  })
})

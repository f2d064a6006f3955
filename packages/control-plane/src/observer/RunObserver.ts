import { isTerminal, type RunId, type RuntimeSessionState, type SessionSnapshot } from "@runplane/domain"
import { RuntimeClient } from "@runplane/runtime"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type { SqlError } from "effect/sql/SqlError"
import type { AppendError } from "../events/AppendRequest.ts"
import { RecoveryMeter } from "../telemetry/RecoveryMeter.ts"
import { type ObservedRun, ObservedRuns } from "./ObservedRuns.ts"
import { ObserverSettings } from "./ObserverSettings.ts"
import { makePumpState } from "./PumpState.ts"
import { isTerminalSession, makeRunLifecycle } from "./RunLifecycle.ts"
import { makeSessionAwait } from "./SessionAwait.ts"
import { makeSessionDrain, type SessionEnd } from "./SessionDrain.ts"
import { type SessionNews, SessionNewsDesk } from "./SessionNews.ts"
import { makeStreamPump } from "./StreamPump.ts"

/** Back-off between two attempts of an observer (design rule 7): 500 ms, doubling to 30 s, with jitter. */
export const restarts = Schedule.min([Schedule.exponential("500 millis", 2), Schedule.spaced("30 seconds")]).pipe(
  Schedule.jittered
)

/** Why an observer starts: for a new run, for one found unfinished when the service started, or again after it failed. */
export type Adoption = "created" | "recovered" | "restarted"

/** Between two questions after a session whose deadline has passed. Milliseconds. */
const OVERDUE_CHECK_MS = 1_000

/**
 * Observes one run from where it stands to its end: await the session, bind, subscribe, run, drain, end
 * (http-details sections 5.1, 5.2, 5.5). Returns when the run is terminal. Everything it decides goes through the log's
 * transition table, so whoever sees the end first wins and nobody ends a run twice.
 */
export class RunObserver extends Context.Service<
  RunObserver,
  { readonly observe: (runId: RunId, adoption: Adoption) => Effect.Effect<void, AppendError | SqlError> }
>()("runplane/control-plane/RunObserver") {
  static readonly layerNoDeps = Layer.effect(
    RunObserver,
    Effect.gen(function* () {
      const runs = yield* ObservedRuns
      const desk = yield* SessionNewsDesk
      const lifecycle = yield* makeRunLifecycle
      const awaitSession = yield* makeSessionAwait
      const follow = yield* makeFollow
      const recovery = yield* RecoveryMeter

      const bindSession = Effect.fnUntraced(function* (run: ObservedRun, news: Queue.Queue<SessionNews>) {
        if (run.status === "queued") yield* lifecycle.start(run)
        const found = yield* awaitSession(run, news).pipe(
          Effect.catchTags({
            RunOver: () => Effect.undefined,
            SessionUnavailable: ({ errorCode, errorMessage }) =>
              Effect.logWarning(`${errorCode}: ${errorMessage}`).pipe(
                Effect.andThen(lifecycle.fail(run, { errorCode, errorMessage })),
                Effect.andThen(Effect.undefined)
              )
          })
        )
        if (found === undefined) return undefined
        const { capabilities, session } = found
        if (session.state === "EXPIRED" || session.state === "CANCELLED") {
          yield* lifecycle.finish(run, session.state, session, false)
          return undefined
        }
        yield* lifecycle.bind(run, session, JSON.stringify(capabilities))
        yield* lifecycle.running(run, session)
        return session
      })

      /** Where the run stands; makes known that it is observed again. Undefined when there is nothing left to observe. */
      const takeUp = Effect.fnUntraced(function* (runId: RunId, adoption: Adoption) {
        const run = yield* runs.find(runId)
        if (run === undefined || isTerminal(run.status)) return undefined
        if (run.status === "binding_session") yield* lifecycle.running(run, undefined)
        if (adoption === "recovered" && isBound(run)) {
          const now = yield* Clock.currentTimeMillis
          yield* lifecycle.announceRecovery(run, new Date(now).toISOString())
        }
        return run
      })

      /** Counts how it went to take a run up again that had been found unfinished. */
      const counted = <A, E, R>(adoption: Adoption, taken: Effect.Effect<A | undefined, E, R>) =>
        adoption !== "recovered"
          ? taken
          : Effect.onExit(taken, (exit) =>
              Effect.sync(() => {
                if (Exit.isFailure(exit)) return Cause.hasInterruptsOnly(exit.cause) ? undefined : recovery("failed")
                return exit.value === undefined ? undefined : recovery("success")
              })
            )

      // Without a span of its own: it would live as long as the run's, which is the parent of what happens here.
      const observe = Effect.fnUntraced(
        function* (runId: RunId, adoption: Adoption) {
          // Tried again here and not as a new life, so that a recovery stays one until it has been announced.
          const run = yield* counted(adoption, takeUp(runId, adoption)).pipe(
            Effect.tapError((error) => Effect.logError("the run could not be taken up, trying again", error)),
            Effect.retry(restarts)
          )
          if (run === undefined) return
          const news = yield* desk.subscribe(new Set([run.sessionId, runId]))
          const session = isBound(run) ? undefined : yield* bindSession(run, news)
          if (session === undefined && !isBound(run)) return
          yield* follow(run, session, news)
        },
        (effect, runId) => effect.pipe(Effect.scoped, Effect.annotateLogs({ runId }))
      )
      return RunObserver.of({ observe })
    })
  )
}

const isBound = ({ status }: ObservedRun): boolean => status !== "queued" && status !== "starting"

/** What is known of a session's state, by news or by an answer. */
interface SessionView {
  readonly state: RuntimeSessionState
  readonly snapshot: SessionSnapshot | undefined
}

/** Follows a bound run: the pump stores its frames while the session's states are watched; then drains and ends it. */
const makeFollow = Effect.gen(function* () {
  const runtime = yield* RuntimeClient
  const runs = yield* ObservedRuns
  const settings = yield* ObserverSettings
  const lifecycle = yield* makeRunLifecycle
  const pump = yield* makeStreamPump
  const drain = yield* makeSessionDrain

  /** Asks the runtime how the session is. A session that is gone after its deadline has expired (design rule 6). */
  const ask = Effect.fnUntraced(function* (run: ObservedRun, deadline: number | undefined) {
    const answer = yield* Effect.result(runtime.getSession(run.sessionId))
    if (answer._tag === "Success") return { state: answer.success.state, snapshot: answer.success } as const
    const overdue = deadline !== undefined && (yield* Clock.currentTimeMillis) > deadline
    if (answer.failure.reason === "NOT_FOUND" && overdue) return { state: "EXPIRED", snapshot: undefined } as const
    yield* Effect.logDebug(`cannot ask for the session's state: ${answer.failure.message}`)
    return undefined
  })

  /**
   * Brings the run to the session's pause or resumption. News may be late, and callers suspend and resume as well: so the runtime
   * is asked how the session is now, and the change is dropped when somebody else has changed the status meanwhile. Answers
   * what is known best of the session.
   */
  const settle = Effect.fnUntraced(function* (run: ObservedRun, heard: SessionView, deadline: number | undefined) {
    if (heard.state !== "OPEN" && heard.state !== "SUSPENDED") return heard
    const standing = yield* runs.standing(run.id)
    if (standing?.status !== (heard.state === "OPEN" ? "suspended" : "running")) return heard
    const seen = (yield* ask(run, deadline)) ?? heard
    if (seen.state === "SUSPENDED" && standing.status === "running") yield* lifecycle.suspended(run, standing.revision)
    if (seen.state === "OPEN" && standing.status === "suspended") yield* lifecycle.resumed(run, standing.revision)
    return seen
  })

  /** Lives through the session's states until a terminal one; suspensions and resumptions become the run's. */
  const untilEnded = Effect.fnUntraced(function* (
    run: ObservedRun,
    first: SessionSnapshot | undefined,
    news: Queue.Queue<SessionNews>
  ) {
    let deadline = first?.expiresAtUnixMs ?? run.expiresAtUnixMs
    let suspended = run.status === "suspended"
    let told: SessionNews =
      first === undefined ? { _tag: "Check" } : { _tag: "State", state: first.state, snapshot: first }
    while (true) {
      const heard = told._tag === "State" ? told : yield* ask(run, deadline)
      const seen = heard === undefined ? undefined : yield* settle(run, heard, deadline)
      if (seen !== undefined) {
        if (seen.snapshot !== undefined) deadline = seen.snapshot.expiresAtUnixMs
        if (isTerminalSession(seen.state)) return { state: seen.state, snapshot: seen.snapshot } satisfies SessionEnd
        if (seen.state !== "UNSPECIFIED") suspended = seen.state === "SUSPENDED"
      }
      const now = yield* Clock.currentTimeMillis
      // While suspended the runtime's clock stands still, so the deadline says nothing.
      const patience =
        deadline === undefined || suspended
          ? settings.streamIdleTimeoutMs
          : Math.max(deadline - now + settings.endCheckDelayMs, OVERDUE_CHECK_MS)
      const next = yield* Effect.timeoutOption(Queue.take(news), Math.min(patience, settings.streamIdleTimeoutMs))
      told = Option.getOrElse(next, (): SessionNews => ({ _tag: "Check" }))
    }
  })

  return Effect.fnUntraced(function* (
    run: ObservedRun,
    session: SessionSnapshot | undefined,
    news: Queue.Queue<SessionNews>
  ) {
    const scope = yield* Effect.scope
    const current = (yield* runs.find(run.id)) ?? run
    const state = yield* makePumpState({
      cursor: current.cursor,
      annotations: current.cursor === 0 ? [] : yield* runs.annotations(run.id),
      check: (delayMs) =>
        delayMs === 0
          ? Effect.asVoid(Queue.offer(news, { _tag: "Check" }))
          : Effect.asVoid(
              Effect.forkIn(Effect.andThen(Effect.sleep(delayMs), Queue.offer(news, { _tag: "Check" })), scope)
            )
    })
    const watch = Effect.gen(function* () {
      const end = yield* untilEnded(current, session, news)
      yield* drain(current, end, state)
      return end
    })
    // The pump never ends by itself: the race is decided by the session's end, or by what no retry can mend.
    const outcome = yield* Effect.result(Effect.raceFirst(watch, pump(current, state)))
    if (outcome._tag === "Success") {
      yield* lifecycle.finish(current, outcome.success.state, outcome.success.snapshot, true)
      return
    }
    const failure = outcome.failure
    if (failure._tag === "ObservationForbidden") {
      yield* lifecycle.fail(current, { errorCode: "FORBIDDEN", errorMessage: failure.reason })
      return
    }
    if (failure._tag === "StreamCursorMoved") {
      yield* Effect.logWarning(`another observer follows this run: ${failure.message}`)
      return
    }
    if (failure._tag === "RunNotFound") {
      yield* Effect.logInfo("the run was deleted while it was observed")
      return
    }
    return yield* failure
  })
})

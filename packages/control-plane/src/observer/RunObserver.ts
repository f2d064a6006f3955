import { isTerminal, type RunId, type SessionSnapshot } from "@runplane/domain"
import { RuntimeClient } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type { SqlError } from "effect/sql/SqlError"
import type { AppendError } from "../events/AppendRequest.ts"
import { type ObservedRun, ObservedRuns } from "./ObservedRuns.ts"
import { ObserverSettings } from "./ObserverSettings.ts"
import { isTerminalSession, makeRunLifecycle, type TerminalSessionState } from "./RunLifecycle.ts"
import { makeSessionAwait } from "./SessionAwait.ts"
import { type SessionNews, SessionNewsDesk } from "./SessionNews.ts"
import { makeStreamPump, type PumpState } from "./StreamPump.ts"

/** Why an observer starts: for a new run, for one found unfinished when the service started, or again after it failed. */
export type Adoption = "created" | "recovered" | "restarted"

/** The history of an ended session is not waited for longer than this, whatever its stream does. Milliseconds. */
export const LONGEST_DRAIN_MS = 30_000
/** Between two questions after a session whose deadline has passed. Milliseconds. */
const OVERDUE_CHECK_MS = 1_000

/** What the observer knows of its session; `undefined` ends the observation without a word of the runtime's. */
interface SessionEnd {
  readonly state: TerminalSessionState
  readonly snapshot: SessionSnapshot | undefined
}

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

      const bindSession = Effect.fnUntraced(function* (run: ObservedRun, news: Queue.Queue<SessionNews>) {
        if (run.status === "queued") yield* lifecycle.start(run)
        const found = yield* Effect.result(awaitSession(run, news))
        if (found._tag === "Failure") {
          const { errorCode, errorMessage } = found.failure
          yield* Effect.logWarning(`${errorCode}: ${errorMessage}`)
          yield* lifecycle.fail(run, { errorCode, errorMessage })
          return undefined
        }
        const { capabilities, session } = found.success
        if (session.state === "EXPIRED" || session.state === "CANCELLED") {
          yield* lifecycle.finish(run, session.state, session, false)
          return undefined
        }
        yield* lifecycle.bind(run, session, JSON.stringify(capabilities))
        yield* lifecycle.running(run, session)
        return session
      })

      // Without a span of its own: it would live as long as the run's, which is the parent of what happens here.
      const observe = Effect.fnUntraced(
        function* (runId: RunId, adoption: Adoption) {
          const run = yield* runs.find(runId)
          if (run === undefined || isTerminal(run.status)) return
          const news = yield* desk.subscribe(new Set([run.sessionId, runId]))
          const bound = run.status !== "queued" && run.status !== "starting"
          let session: SessionSnapshot | undefined
          if (bound) {
            if (run.status === "binding_session") yield* lifecycle.running(run, undefined)
            if (adoption === "recovered") {
              const now = yield* Clock.currentTimeMillis
              yield* lifecycle.announceRecovery(run, new Date(now).toISOString())
            }
          } else {
            session = yield* bindSession(run, news)
            if (session === undefined) return
          }
          yield* follow(run, session, news)
        },
        (effect, runId) => effect.pipe(Effect.scoped, Effect.annotateLogs({ runId }))
      )
      return RunObserver.of({ observe })
    })
  )
}

/** Follows a bound run: the pump stores its frames while the session's states are watched; then drains and ends it. */
const makeFollow = Effect.gen(function* () {
  const runtime = yield* RuntimeClient
  const runs = yield* ObservedRuns
  const settings = yield* ObserverSettings
  const lifecycle = yield* makeRunLifecycle
  const pump = yield* makeStreamPump

  /** Asks the runtime how the session is. A session that is gone after its deadline has expired (design rule 6). */
  const ask = Effect.fnUntraced(function* (run: ObservedRun, deadline: number | undefined) {
    const answer = yield* Effect.result(runtime.getSession(run.sessionId))
    if (answer._tag === "Success") return { state: answer.success.state, snapshot: answer.success } as const
    const overdue = deadline !== undefined && (yield* Clock.currentTimeMillis) > deadline
    if (answer.failure.reason === "NOT_FOUND" && overdue) return { state: "EXPIRED", snapshot: undefined } as const
    yield* Effect.logDebug(`cannot ask for the session's state: ${answer.failure.message}`)
    return undefined
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
      const seen = told._tag === "State" ? told : yield* ask(run, deadline)
      if (seen !== undefined) {
        if (seen.snapshot !== undefined) deadline = seen.snapshot.expiresAtUnixMs
        if (isTerminalSession(seen.state)) return { state: seen.state, snapshot: seen.snapshot } satisfies SessionEnd
        if (seen.state === "SUSPENDED" && !suspended) yield* lifecycle.suspended(run)
        if (seen.state === "OPEN" && suspended) yield* lifecycle.resumed(run)
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

  /**
   * Waits until the log holds what the session's history still has. The runtime counts the accepted messages of each
   * participant, without the SessionStart, so the length of the history is known; a runtime that does not say is given a
   * quiet moment instead.
   */
  const drain = Effect.fnUntraced(function* (end: SessionEnd, state: PumpState) {
    const expected = historyLength(end.snapshot)
    const quiet = expected === undefined ? settings.endCheckDelayMs : settings.drainTimeoutMs
    state.draining = true
    const started = yield* Clock.currentTimeMillis
    while (expected === undefined || state.cursor < expected) {
      const moved = yield* Effect.timeoutOption(Queue.take(state.progress), quiet)
      if (Option.isSome(moved)) continue
      const elapsed = (yield* Clock.currentTimeMillis) - started
      if (state.connected || state.historyGone || elapsed > LONGEST_DRAIN_MS) {
        if (expected === undefined) return
        yield* Effect.logWarning(`ended after ${state.cursor} of ${expected} envelopes: no more came`)
        return
      }
    }
  })

  return Effect.fnUntraced(function* (
    run: ObservedRun,
    session: SessionSnapshot | undefined,
    news: Queue.Queue<SessionNews>
  ) {
    const scope = yield* Effect.scope
    const current = (yield* runs.find(run.id)) ?? run
    const state: PumpState = {
      cursor: current.cursor,
      connected: false,
      historyGone: false,
      draining: false,
      progress: yield* Queue.sliding<number>(1),
      check: (delayMs) =>
        delayMs === 0
          ? Effect.asVoid(Queue.offer(news, { _tag: "Check" }))
          : Effect.asVoid(
              Effect.forkIn(Effect.andThen(Effect.sleep(delayMs), Queue.offer(news, { _tag: "Check" })), scope)
            )
    }
    const watch = Effect.gen(function* () {
      const end = yield* untilEnded(current, session, news)
      yield* drain(end, state)
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

/** Number of accepted envelopes of a session, its SessionStart included; undefined when the snapshot does not tell. */
const historyLength = (session: SessionSnapshot | undefined): number | undefined =>
  session === undefined || session.participantActivity.length === 0
    ? undefined
    : 1 + session.participantActivity.reduce((sum, activity) => sum + activity.messageCount, 0)

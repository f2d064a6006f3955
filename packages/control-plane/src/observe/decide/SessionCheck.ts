import type { SessionSnapshot } from "@runplane/domain"
import type { RuntimeError } from "@runplane/runtime"
import type * as Result from "effect/Result"
import { isTerminalSession, log, write } from "./Action.ts"
import { drain } from "./Drain.ts"
import type { Moment, SessionUpdate, SessionView } from "./Input.ts"
import type { RunSummary } from "./ObservedRun.ts"
import { applySilenceAnswer, isConnected } from "./SessionStream.ts"
import { type Bound, type Decision, over, type SessionCheck, stay } from "./State.ts"

/**
 * Follows the state of a bound run's session: the watch announces changes, and the observer queries the session when it
 * may have ended, and after an idle time. Suspensions and resumptions become the run's; the first notice of an end
 * starts the drain (docs/internals/runtime.md#end-check).
 */

/**
 * The shortest pause between two queries of a session whose deadline has passed. Milliseconds. The pause grows with the
 * time since the deadline, because the clock of the runtime may be slower.
 */
const OVERDUE_CHECK_MS = 1_000

/** Answers NOT_FOUND in a row after which a session is lost, when they span `sessionLostAfterMs`. */
const LOST_ANSWERS = 3

/** The due time of a check that an event has requested. */
const AT_ONCE = 0

const withCheck = (state: Bound, check: Partial<SessionCheck>): Bound => ({
  ...state,
  check: { ...state.check, ...check }
})

/** An update of the session. An end counts at once; any other state waits for the pending query. */
export const receiveUpdate = (state: Bound, update: SessionUpdate, now: Moment): Decision => {
  if (update._tag === "Check") return stay(withCheck(state, { checkAt: AT_ONCE }))
  return isTerminalSession(update.state)
    ? end(state, update, now)
    : stay(withCheck(state, { announced: update, unknown: undefined }))
}

/** The runtime has delivered frames of the session, so it knows the session. */
export const isKnown = (state: Bound): Bound =>
  state.check.unknown === undefined ? state : withCheck(state, { unknown: undefined })

/** A Commitment is stored, so the session may end now. */
export const expectEnd = (state: Bound, { at }: Moment): Bound =>
  withCheck(state, { endCheckAt: at + state.options.endCheckDelayMs })

/** The time of the next check; undefined while a query is pending. */
export const checkDeadline = ({ check: { checkAt, endCheckAt, query }, drain }: Bound): number | undefined =>
  drain !== undefined || query !== undefined
    ? undefined
    : Math.min(checkAt ?? Number.POSITIVE_INFINITY, endCheckAt ?? Number.POSITIVE_INFINITY)

/** Checks the session when it is due and no query is pending. */
export const check = (state: Bound, now: Moment): Decision => {
  const due = checkDeadline(state)
  if (due === undefined) return stay(state)
  const { announced, checkAt, endCheckAt } = state.check
  if (announced !== undefined) {
    const overdue = checkAt !== undefined && checkAt <= now.at ? checkAt : undefined
    return consider(withCheck(state, { announced: undefined, checkAt: overdue }), announced, now)
  }
  if (due > now.at) return stay(state)
  const later = endCheckAt !== undefined && endCheckAt > now.at ? endCheckAt : undefined
  return [
    withCheck(state, { query: { _tag: "Ended" }, checkAt: undefined, endCheckAt: later }),
    [{ _tag: "GetSession", query: "ended", isBatched: isRoutine(state, now) }]
  ]
}

/** The check has no reason but the time since the last one. */
const isRoutine = (state: Bound, { at }: Moment): boolean => {
  const { checkAt, deadline, endCheckAt, suspended } = state.check
  const overdue = deadline !== undefined && deadline <= at && !suspended
  const expected = endCheckAt !== undefined && endCheckAt <= at
  return isConnected(state) && checkAt !== AT_ONCE && !overdue && !expected
}

/**
 * Applies the session's suspension or resumption to the run. Announcements may be late, and callers suspend and resume
 * as well, so the observer reads the run's status first, and then queries the session. The change is dropped when the
 * status has changed since it was read.
 */
const consider = (state: Bound, view: SessionView, now: Moment): Decision => {
  if (isTerminalSession(view.state)) return end(state, view, now)
  if (view.state !== "OPEN" && view.state !== "SUSPENDED") return stay(seen(state, view, now))
  return [withCheck(state, { query: { _tag: "Summary", view } }), [{ _tag: "ReadSummary" }]]
}

/**
 * The session has ended. When the run has it suspended, it was resumed since: an announcement said so, or it follows
 * from the end, because a suspended session cannot be resolved.
 */
const end = (state: Bound, { snapshot, state: ended }: SessionView, now: Moment): Decision => {
  if (!isTerminalSession(ended)) return stay(state)
  const { announced, query, suspended } = state.check
  const settling = query === undefined || query._tag === "Ended" ? undefined : query.view
  const resumed = ended === "RESOLVED" || (announced ?? settling)?.state === "OPEN"
  const missed = suspended && resumed ? [write({ _tag: "Resume", revision: undefined })] : []
  const [next, actions] = drain(state, { state: ended, snapshot }, now)
  return [next, [...missed, ...actions]]
}

/** The status of the run, which was read because of the session's state. */
export const compare = (state: Bound, summary: RunSummary | undefined, now: Moment): Decision => {
  const { query } = state.check
  if (query?._tag !== "Summary") return stay(state)
  const { view } = query
  const differs = summary?.status === (view.state === "OPEN" ? "suspended" : "running")
  if (summary === undefined || !differs) return stay(seen(state, view, now))
  return [withCheck(state, { query: { _tag: "Paused", view, summary } }), [{ _tag: "GetSession", query: "paused" }]]
}

/** The runtime's answer to a query of this file. */
export const answered = (
  state: Bound,
  reason: "ended" | "paused",
  answer: Result.Result<SessionSnapshot, RuntimeError>,
  now: Moment
): Decision => {
  if (state.drain !== undefined || state.check.query === undefined) return stay(state)
  const counted = countUnknown(state, answer, now)
  const view = viewOf(counted, answer, now)
  const lost = view === undefined ? lostFor(counted, now) : undefined
  return lost === undefined ? applyAnswer(counted, reason, answer, view, now) : lose(counted, lost, now)
}

const applyAnswer = (
  state: Bound,
  reason: "ended" | "paused",
  answer: Result.Result<SessionSnapshot, RuntimeError>,
  view: SessionView | undefined,
  now: Moment
): Decision => {
  const { query } = state.check
  const unanswered =
    answer._tag === "Failure" && view === undefined
      ? [log("Debug", `cannot query the session's state: ${answer.failure.message}`)]
      : []
  if (reason === "ended" && query?._tag === "Ended") {
    const checked = applySilenceAnswer(state, answer, now)
    return view === undefined ? [seen(checked, undefined, now), unanswered] : consider(checked, view, now)
  }
  if (reason === "ended" || query?._tag !== "Paused") return stay(state)
  const [next, actions] = settle(state, view ?? query.view, query.summary, now)
  return [next, [...unanswered, ...actions]]
}

/** Counts the answers NOT_FOUND in a row. Any other answer, or none, begins the count anew. */
const countUnknown = (state: Bound, answer: Result.Result<SessionSnapshot, RuntimeError>, { at }: Moment): Bound => {
  const { unknown } = state.check
  const isUnknown = answer._tag === "Failure" && answer.failure.reason === "NOT_FOUND"
  return withCheck(state, {
    unknown: isUnknown ? { since: unknown?.since ?? at, answers: (unknown?.answers ?? 0) + 1 } : undefined
  })
}

/** For how long the runtime has answered NOT_FOUND, milliseconds; undefined until that is long enough. */
const lostFor = ({ check: { unknown }, options }: Bound, { at }: Moment): number | undefined => {
  if (unknown === undefined || unknown.answers < LOST_ANSWERS) return undefined
  const lostMs = at - unknown.since
  return lostMs < options.sessionLostAfterMs ? undefined : lostMs
}

/**
 * The runtime has forgotten the session. A stored Commitment says how the session ended
 * (docs/internals/runtime.md#lost-session).
 */
const lose = (state: Bound, lostMs: number, now: Moment): Decision => {
  if (state.committed) return end(state, { state: "RESOLVED", snapshot: undefined }, now)
  const errorMessage = `the runtime does not know session ${state.run.sessionId} any more: NOT_FOUND for ${lostMs} ms`
  return over(log("Warn", errorMessage), write({ _tag: "Fail", errorCode: "SESSION_LOST", errorMessage }))
}

/** A session that is unknown after its deadline has expired; before it, the runtime may not know it yet, or again. */
const viewOf = (
  { check: { deadline } }: Bound,
  answer: Result.Result<SessionSnapshot, RuntimeError>,
  { at }: Moment
): SessionView | undefined => {
  if (answer._tag === "Success") return { state: answer.success.state, snapshot: answer.success }
  const overdue = deadline !== undefined && at > deadline
  return answer.failure.reason === "NOT_FOUND" && overdue ? { state: "EXPIRED", snapshot: undefined } : undefined
}

const settle = (state: Bound, view: SessionView, { revision, status }: RunSummary, now: Moment): Decision => {
  if (isTerminalSession(view.state)) return end(state, view, now)
  const next = seen(state, view, now)
  if (view.state === "SUSPENDED" && status === "running") return [next, [write({ _tag: "Suspend", revision })]]
  if (view.state === "OPEN" && status === "suspended") return [next, [write({ _tag: "Resume", revision })]]
  return stay(next)
}

/**
 * The check is over; schedules the next one. The deadline does not pass while the session is suspended.
 */
export const seen = (state: Bound, view: SessionView | undefined, { at }: Moment): Bound => {
  const { endCheckDelayMs, sessionLostAfterMs, streamIdleTimeoutMs } = state.options
  const deadline = view?.snapshot?.expiresAtUnixMs ?? state.check.deadline
  const isReported = view !== undefined && view.state !== "UNSPECIFIED"
  const suspended = isReported ? view.state === "SUSPENDED" : state.check.suspended
  const pauseMs =
    deadline === undefined || suspended
      ? streamIdleTimeoutMs
      : Math.max(deadline < at ? at - deadline : deadline - at + endCheckDelayMs, OVERDUE_CHECK_MS)
  const lostPauseMs =
    state.check.unknown === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(1, Math.ceil(sessionLostAfterMs / (LOST_ANSWERS - 1)))
  const next = at + Math.min(pauseMs, streamIdleTimeoutMs, lostPauseMs)
  return withCheck(state, {
    deadline,
    suspended,
    query: undefined,
    checkAt: Math.min(state.check.checkAt ?? next, next)
  })
}

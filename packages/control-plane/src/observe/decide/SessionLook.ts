import type { SessionSnapshot } from "@runplane/domain"
import type { RuntimeError } from "@runplane/runtime"
import type * as Result from "effect/Result"
import { isTerminalSession, log, write } from "./Action.ts"
import { drain } from "./Drain.ts"
import type { Moment, SessionUpdate, SessionView } from "./Input.ts"
import type { RunStanding } from "./ObservedRun.ts"
import { isConnected, judgeSilence } from "./SessionStream.ts"
import { type Bound, type Decision, type Look, over, stay } from "./State.ts"

/**
 * Keeps the state of a bound run's session in view: from what the watch announces, by asking when it may have ended,
 * and now and then in any case. Suspensions and resumptions become the run's; the first word of an end starts the drain
 * (docs/internals/runtime.md#end-check).
 */

/**
 * The shortest pause between two questions after a session whose deadline has passed. Milliseconds. The pause grows
 * with the time that has passed since: the runtime may have the slower clock, and the session all its time before it.
 */
const OVERDUE_CHECK_MS = 1_000

/** Answers NOT_FOUND in a row after which a session is lost, when they span `sessionLostAfterMs`. */
const LOST_ANSWERS = 3

/** When the session is looked at that has given reason to. */
const AT_ONCE = 0

const withLook = (state: Bound, look: Partial<Look>): Bound => ({ ...state, look: { ...state.look, ...look } })

/** The session was heard of. An end counts at once; anything else waits for what is being found out. */
export const hear = (state: Bound, update: SessionUpdate, now: Moment): Decision => {
  if (update._tag === "Check") return stay(withLook(state, { checkAt: AT_ONCE }))
  return isTerminalSession(update.state)
    ? end(state, update, now)
    : stay(withLook(state, { announced: update, unknown: undefined }))
}

/** The runtime has delivered something of the session, so it knows the session. */
export const isKnown = (state: Bound): Bound =>
  state.look.unknown === undefined ? state : withLook(state, { unknown: undefined })

/** A Commitment is stored, so the session may end any moment. */
export const expectEnd = (state: Bound, { at }: Moment): Bound =>
  withLook(state, { endCheckAt: at + state.options.endCheckDelayMs })

/** When the session is looked at next by itself; undefined while that is being done. */
export const lookDeadline = ({ drain, look }: Bound): number | undefined =>
  drain !== undefined || look.question !== undefined
    ? undefined
    : Math.min(look.checkAt ?? Number.POSITIVE_INFINITY, look.endCheckAt ?? Number.POSITIVE_INFINITY)

/** Looks at the session when there is reason to, and nothing is being found out already. */
export const look = (state: Bound, now: Moment): Decision => {
  const due = lookDeadline(state)
  if (due === undefined) return stay(state)
  const { announced, checkAt, endCheckAt } = state.look
  if (announced !== undefined) {
    const asked = checkAt !== undefined && checkAt <= now.at ? checkAt : undefined
    return consider(withLook(state, { announced: undefined, checkAt: asked }), announced, now)
  }
  if (due > now.at) return stay(state)
  const later = endCheckAt !== undefined && endCheckAt > now.at ? endCheckAt : undefined
  return [
    withLook(state, { question: { _tag: "Ended" }, checkAt: undefined, endCheckAt: later }),
    [{ _tag: "AskSession", question: "ended", patient: isRoutine(state, now) }]
  ]
}

/** Nothing has happened and nothing is expected: the session is looked at because it was not for a while. */
const isRoutine = (state: Bound, { at }: Moment): boolean => {
  const { checkAt, deadline, endCheckAt, suspended } = state.look
  const overdue = deadline !== undefined && deadline <= at && !suspended
  const expected = endCheckAt !== undefined && endCheckAt <= at
  return isConnected(state) && checkAt !== AT_ONCE && !overdue && !expected
}

/**
 * Brings the run to the session's pause or resumption. Announcements may be late, and callers suspend and resume as
 * well: so the run's status is read first, and then the runtime is asked how the session is now. The change is dropped
 * when somebody else has changed the status since it was read.
 */
const consider = (state: Bound, view: SessionView, now: Moment): Decision => {
  if (isTerminalSession(view.state)) return end(state, view, now)
  if (view.state !== "OPEN" && view.state !== "SUSPENDED") return stay(seen(state, view, now))
  return [withLook(state, { question: { _tag: "Standing", view } }), [{ _tag: "ReadStanding" }]]
}

/**
 * The session has ended. When it was suspended as far as the run knows, it has been resumed since: that was announced
 * and not settled yet, or follows from its end, because nobody resolves a suspended session.
 */
const end = (state: Bound, { snapshot, state: ended }: SessionView, now: Moment): Decision => {
  if (!isTerminalSession(ended)) return stay(state)
  const { announced, question, suspended } = state.look
  const settling = question === undefined || question._tag === "Ended" ? undefined : question.view
  const resumed = ended === "RESOLVED" || (announced ?? settling)?.state === "OPEN"
  const missed = suspended && resumed ? [write({ _tag: "Resume", revision: undefined })] : []
  const [next, actions] = drain(state, { state: ended, snapshot }, now)
  return [next, [...missed, ...actions]]
}

/** How the run stands, when that was asked for because of the session's state. */
export const compare = (state: Bound, standing: RunStanding | undefined, now: Moment): Decision => {
  const { question } = state.look
  if (question?._tag !== "Standing") return stay(state)
  const { view } = question
  const differs = standing?.status === (view.state === "OPEN" ? "suspended" : "running")
  if (standing === undefined || !differs) return stay(seen(state, view, now))
  return [
    withLook(state, { question: { _tag: "Paused", view, standing } }),
    [{ _tag: "AskSession", question: "paused" }]
  ]
}

/** The runtime's answer to a question of this file. */
export const answered = (
  state: Bound,
  asked: "ended" | "paused",
  answer: Result.Result<SessionSnapshot, RuntimeError>,
  now: Moment
): Decision => {
  if (state.drain !== undefined || state.look.question === undefined) return stay(state)
  const counted = countUnknown(state, answer, now)
  const view = viewOf(counted, answer, now)
  const lost = view === undefined ? lostFor(counted, now) : undefined
  return lost === undefined ? judge(counted, asked, answer, view, now) : lose(counted, lost, now)
}

const judge = (
  state: Bound,
  asked: "ended" | "paused",
  answer: Result.Result<SessionSnapshot, RuntimeError>,
  view: SessionView | undefined,
  now: Moment
): Decision => {
  const { question } = state.look
  const unanswered =
    answer._tag === "Failure" && view === undefined
      ? [log("Debug", `cannot ask for the session's state: ${answer.failure.message}`)]
      : []
  if (asked === "ended" && question?._tag === "Ended") {
    const listened = judgeSilence(state, answer, now)
    return view === undefined ? [seen(listened, undefined, now), unanswered] : consider(listened, view, now)
  }
  if (asked === "ended" || question?._tag !== "Paused") return stay(state)
  const [next, actions] = settle(state, view ?? question.view, question.standing, now)
  return [next, [...unanswered, ...actions]]
}

/** Counts the answers NOT_FOUND in a row. Any other answer, or none, begins the count anew. */
const countUnknown = (state: Bound, answer: Result.Result<SessionSnapshot, RuntimeError>, { at }: Moment): Bound => {
  const { unknown } = state.look
  const isUnknown = answer._tag === "Failure" && answer.failure.reason === "NOT_FOUND"
  return withLook(state, {
    unknown: isUnknown ? { since: unknown?.since ?? at, answers: (unknown?.answers ?? 0) + 1 } : undefined
  })
}

/** How long the runtime has not known the session, milliseconds; undefined until that is long enough. */
const lostFor = ({ look: { unknown }, options }: Bound, { at }: Moment): number | undefined => {
  if (unknown === undefined || unknown.answers < LOST_ANSWERS) return undefined
  const lostMs = at - unknown.since
  return lostMs < options.sessionLostAfterMs ? undefined : lostMs
}

/**
 * The runtime has forgotten the session. A stored Commitment says how that ended
 * (docs/internals/runtime.md#lost-session).
 */
const lose = (state: Bound, lostMs: number, now: Moment): Decision => {
  if (state.committed) return end(state, { state: "RESOLVED", snapshot: undefined }, now)
  const errorMessage = `the runtime does not know session ${state.run.sessionId} any more: NOT_FOUND for ${lostMs} ms`
  return over(log("Warn", errorMessage), write({ _tag: "Fail", errorCode: "SESSION_LOST", errorMessage }))
}

/** A session that is unknown after its deadline has expired; before it, the runtime may not know it yet, or again. */
const viewOf = (
  { look: { deadline } }: Bound,
  answer: Result.Result<SessionSnapshot, RuntimeError>,
  { at }: Moment
): SessionView | undefined => {
  if (answer._tag === "Success") return { state: answer.success.state, snapshot: answer.success }
  const overdue = deadline !== undefined && at > deadline
  return answer.failure.reason === "NOT_FOUND" && overdue ? { state: "EXPIRED", snapshot: undefined } : undefined
}

const settle = (state: Bound, view: SessionView, { revision, status }: RunStanding, now: Moment): Decision => {
  if (isTerminalSession(view.state)) return end(state, view, now)
  const next = seen(state, view, now)
  if (view.state === "SUSPENDED" && status === "running") return [next, [write({ _tag: "Suspend", revision })]]
  if (view.state === "OPEN" && status === "suspended") return [next, [write({ _tag: "Resume", revision })]]
  return stay(next)
}

/**
 * The look is over; says when the next one is due. While suspended the runtime's clock stands still, so the deadline
 * says nothing.
 */
export const seen = (state: Bound, view: SessionView | undefined, { at }: Moment): Bound => {
  const { endCheckDelayMs, sessionLostAfterMs, streamIdleTimeoutMs } = state.options
  const deadline = view?.snapshot?.expiresAtUnixMs ?? state.look.deadline
  const said = view !== undefined && view.state !== "UNSPECIFIED"
  const suspended = said ? view.state === "SUSPENDED" : state.look.suspended
  const patience =
    deadline === undefined || suspended
      ? streamIdleTimeoutMs
      : Math.max(deadline < at ? at - deadline : deadline - at + endCheckDelayMs, OVERDUE_CHECK_MS)
  const lostPatience =
    state.look.unknown === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(1, Math.ceil(sessionLostAfterMs / (LOST_ANSWERS - 1)))
  const next = at + Math.min(patience, streamIdleTimeoutMs, lostPatience)
  return withLook(state, {
    deadline,
    suspended,
    question: undefined,
    checkAt: Math.min(state.look.checkAt ?? next, next)
  })
}

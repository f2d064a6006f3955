import type { SessionSnapshot } from "@runplane/domain"
import type { RuntimeError } from "@runplane/runtime"
import type * as Result from "effect/Result"
import { type Action, log, write } from "./Action.ts"
import type { Moment } from "./Input.ts"
import { drainNow, isConnected, isHistoryGone, readAgain } from "./SessionStream.ts"
import {
  type Bound,
  type Decision,
  type Drain,
  historyLength,
  isCounted,
  over,
  received,
  type SessionEnd,
  stay,
  thenBound
} from "./State.ts"

/**
 * The run ends after its session, once the log has the whole history. The runtime counts the accepted messages of each
 * participant, so the length of the history is known. When the stream is open and silent although envelopes are
 * missing, they were lost, and the history is read again from its beginning. Envelopes that are missing even then are
 * marked as a gap (docs/internals/runtime.md#drain).
 *
 * A count may be older than the end in the same snapshot. A Commitment resolves a session, so the runtime counts again
 * while the log has no Commitment.
 */

/** How often in a row the whole history is read again without a new envelope. */
const FRUITLESS_READS = 2
/**
 * A silence is measured in slices: after a pause of the whole process, a timer fires before the frames that arrived
 * meanwhile are read.
 */
const SLICES = 10
/** How long the stream of a cancelled session stays open for the runtime's SessionCancel. Milliseconds. */
const SESSION_CANCEL_MS = 100

/** The session has ended. Without a snapshot the runtime has forgotten it, and its history too. */
export const drain = (state: Bound, { snapshot, state: ended }: SessionEnd, now: Moment): Decision => {
  if (snapshot === undefined) return endRun({ state: ended, snapshot })
  const draining: Bound = {
    ...state,
    drain: {
      end: { state: ended, snapshot },
      expected: historyLength(snapshot),
      goal: "whole",
      recount: "due",
      ...silence(state.options.drainTimeoutMs, now),
      cursor: state.cursor,
      since: now.at,
      fruitless: 0
    }
  }
  return thenBound(drainNow(draining, now), (next) => review(next, now))
}

/** A silence that begins now. */
const silence = (silenceMs: number, { at }: Moment) => ({ silenceMs, slices: 0, sliceAt: at + sliceMs(silenceMs) })

const sliceMs = (silenceMs: number): number => Math.max(1, Math.ceil(silenceMs / SLICES))

const endOf = (end: SessionEnd) => write({ _tag: "End", ...end })

const endRun = (end: SessionEnd): Decision => over(endOf(end))

/** Whether the goal is reached, or has become impossible. */
export const review = (state: Bound, now: Moment): Decision => {
  const { drain: draining } = state
  if (draining === undefined) return stay(state)
  const isGone = isHistoryGone(state)
  const missing = received(state) < draining.expected
  if (draining.goal === "late") {
    return isGone || !(missing || isUncommitted(state, draining)) ? over() : stay(state)
  }
  if (missing) return isGone ? giveUp(state, draining, now) : stay(state)
  const last = lastSilenceMs(state, draining)
  if (last === undefined || isGone) return endRun(draining.end)
  if (draining.goal === "silent" && draining.silenceMs === last) return stay(state)
  const { cursor } = state
  return stay({ ...state, drain: { ...draining, goal: "silent", ...silence(last, now), cursor, since: now.at } })
}

/** The log lacks the Commitment that has resolved the session. */
const isUncommitted = ({ committed }: Bound, { end }: Drain): boolean => end.state === "RESOLVED" && !committed

/** How long uncounted frames may still arrive; undefined when there are none. */
const lastSilenceMs = (state: Bound, draining: Drain): number | undefined => {
  const { options } = state
  const { end } = draining
  if (isUncommitted(state, draining)) return options.drainTimeoutMs
  if (!isCounted(end.snapshot)) return options.endCheckDelayMs
  // Newer runtimes write a SessionCancel after they report the cancellation, and do not count it.
  return end.state === "CANCELLED" ? SESSION_CANCEL_MS : undefined
}

/** Frames are stored: the goal may be reached. */
export const progress = (state: Bound, now: Moment): Decision => {
  if (state.drain === undefined) return stay(state)
  return thenBound(review(breakSilence(state, now), now), (next) => boundWait(next, now))
}

/** The silence begins anew. */
export const breakSilence = (state: Bound, now: Moment): Bound => {
  const { drain: draining } = state
  if (draining === undefined || draining.goal === "late") return state
  const moved = state.cursor > draining.cursor
  return {
    ...state,
    drain: {
      ...draining,
      ...silence(draining.silenceMs, now),
      ...(moved ? { cursor: state.cursor, since: now.at, fruitless: 0 } : {})
    }
  }
}

/** Repetitions count as progress while the history is read again, up to a limit. */
const boundWait = (state: Bound, now: Moment): Decision => {
  const { drain: draining, options } = state
  if (draining === undefined || draining.goal === "late") return stay(state)
  if (now.at - draining.since <= options.longestDrainMs) return stay(state)
  return draining.goal === "whole" ? giveUp(state, draining, now) : endRun(draining.end)
}

/**
 * A slice of the silence is over. It counts when the stream was open for most of it. Otherwise the earlier slices still
 * count: a connection that keeps breaking may never be open for the whole silence.
 */
export const sliceDue = (state: Bound, now: Moment): Decision => {
  const { drain: draining } = state
  if (draining === undefined) return stay(state)
  if (draining.goal === "late") return over()
  const slice = sliceMs(draining.silenceMs)
  const wasOpen = isConnected(state) && now.at - state.stream.openedAt >= slice / 2
  const slices = draining.slices + (wasOpen ? 1 : 0)
  const next: Bound = { ...state, drain: { ...draining, slices, sliceAt: now.at + slice } }
  if (!wasOpen) return boundWait(next, now)
  if (slices < SLICES) return stay(next)
  if (draining.goal === "silent") return fallSilent(next, draining, now)
  return thenBound(boundWait(breakSilence(next, now), now), (waited) => listenAgain(waited, now))
}

/** The silence is complete. Before a resolved session ends without its Commitment, the runtime counts again. */
const fallSilent = (state: Bound, draining: Drain, now: Moment): Decision => {
  if (!isUncommitted(state, draining)) return endRun(draining.end)
  if (draining.recount === "requested") return listenOn(state, draining, [], now)
  const recounting: Drain = { ...draining, ...silence(draining.silenceMs, now), recount: "requested" }
  return [{ ...state, drain: recounting }, [{ _tag: "GetSession", query: "counted" }]]
}

/** The runtime has counted again; without an answer the first count stays. */
export const counted = (state: Bound, answer: Result.Result<SessionSnapshot, RuntimeError>, now: Moment): Decision => {
  const { drain: draining, options } = state
  if (draining?.recount !== "requested" || draining.goal !== "silent") return stay(state)
  if (answer._tag === "Failure") return listenOn(state, draining, [], now)
  const expected = historyLength(answer.success)
  if (received(state) >= expected) return endRun(draining.end)
  const whole: Drain = { ...draining, ...silence(options.drainTimeoutMs, now), expected, goal: "whole", since: now.at }
  return stay({ ...state, drain: whole })
}

/** The open stream is silent although envelopes are missing. */
const listenAgain = (state: Bound, now: Moment): Decision => {
  const { drain: draining } = state
  if (draining === undefined) return stay(state)
  if (draining.fruitless === FRUITLESS_READS) return giveUp(state, draining, now)
  const message = log(
    "Info",
    `${received(state)} of ${draining.expected} envelopes have arrived: reading the history again`
  )
  const next: Bound = { ...state, drain: { ...draining, fruitless: draining.fruitless + 1 } }
  const [left, actions] = readAgain(next, now)
  return [left, [message, ...actions]]
}

/** The rest of the history does not arrive in time. A history that is gone is marked already. */
const giveUp = (state: Bound, draining: Drain, now: Moment): Decision => {
  const { end, expected } = draining
  const detail = `the session ended after ${expected} envelopes, of which ${received(state)} were received`
  if (isHistoryGone(state)) return over(log("Warn", detail), endOf(end))
  const gap = write({ _tag: "Gap", detail, requestedAfter: state.cursor })
  return listenOn(state, draining, [log("Warn", detail), gap], now)
}

/** The run ends, but late frames are stored: a large message may take longer than the run waits. */
const listenOn = (state: Bound, draining: Drain, before: ReadonlyArray<Action>, now: Moment): Decision => {
  const late: Drain = { ...draining, goal: "late", sliceAt: now.at + state.options.longestDrainMs }
  return [{ ...state, drain: late }, [...before, endOf(draining.end)]]
}

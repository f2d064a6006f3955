import type { SessionSnapshot } from "@runplane/domain"
import type { RuntimeError } from "@runplane/runtime"
import type * as Result from "effect/Result"
import { type Action, log, write } from "./Action.ts"
import { historyLength, isCounted, received } from "./Counts.ts"
import type { Moment } from "./Input.ts"
import { drainNow, isConnected, isHistoryGone, readAgain } from "./SessionStream.ts"
import { type Bound, type Decision, type Drain, over, type SessionEnd, stay, thenBound } from "./State.ts"

/**
 * The end of a session is not yet the end of its run: the log is to hold what the session's history still has. The
 * runtime counts the accepted messages of each participant, so the length of the history is known. When the stream is
 * open and silent although envelopes are missing, they were lost on their way, and the history is read again from its
 * beginning. What the runtime does not deliver even then is given up and marked as a gap
 * (docs/internals/runtime.md#drain).
 *
 * A count may be older than the end it came with. A session is resolved by its Commitment, so as long as nobody has
 * seen that, the runtime is asked to count again.
 */

/** How often the whole history is read again in a row without finding what is missing. */
const FRUITLESS_READS = 2
/**
 * A silence is measured in slices: when the whole process was held up, a timer that is over fires before the frames are
 * read that have come meanwhile.
 */
const SLICES = 10
/** How long the stream of a cancelled session is listened to for the runtime's own last word. Milliseconds. */
const LAST_WORD_MS = 100

/** The session has ended. One that the runtime has forgotten has no history to wait for. */
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
const silence = (quietMs: number, { at }: Moment) => ({ quietMs, slices: 0, sliceAt: at + sliceMs(quietMs) })

const sliceMs = (quietMs: number): number => Math.max(1, Math.ceil(quietMs / SLICES))

const endOf = (end: SessionEnd) => write({ _tag: "End", ...end })

const endRun = (end: SessionEnd): Decision => over(endOf(end))

/** Whether the goal is reached, or cannot be any more. */
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
  if (draining.goal === "silent" && draining.quietMs === last) return stay(state)
  const { cursor } = state
  return stay({ ...state, drain: { ...draining, goal: "silent", ...silence(last, now), cursor, since: now.at } })
}

/** The Commitment that has resolved the session has not come. */
const isUncommitted = ({ committed }: Bound, { end }: Drain): boolean => end.state === "RESOLVED" && !committed

/** How long something may still come that the runtime has not counted; undefined when nothing can. */
const lastSilenceMs = (state: Bound, draining: Drain): number | undefined => {
  const { options } = state
  const { end } = draining
  if (isUncommitted(state, draining)) return options.drainTimeoutMs
  if (!isCounted(end.snapshot)) return options.endCheckDelayMs
  // Newer runtimes write a SessionCancel after they have told of the cancellation, which no count includes.
  return end.state === "CANCELLED" ? LAST_WORD_MS : undefined
}

/** Frames have been stored: where that leaves the goal. */
export const progress = (state: Bound, now: Moment): Decision => {
  if (state.drain === undefined) return stay(state)
  return thenBound(review(breakSilence(state, now), now), (next) => boundWait(next, now))
}

/** A silence has to begin anew. */
export const breakSilence = (state: Bound, now: Moment): Bound => {
  const { drain: draining } = state
  if (draining === undefined || draining.goal === "late") return state
  const moved = state.cursor > draining.cursor
  return {
    ...state,
    drain: {
      ...draining,
      ...silence(draining.quietMs, now),
      ...(moved ? { cursor: state.cursor, since: now.at, fruitless: 0 } : {})
    }
  }
}

/** Repetitions are progress too while the history is read again, but not for ever. */
const boundWait = (state: Bound, now: Moment): Decision => {
  const { drain: draining, options } = state
  if (draining === undefined || draining.goal === "late") return stay(state)
  if (now.at - draining.since <= options.longestDrainMs) return stay(state)
  return draining.goal === "whole" ? giveUp(state, draining, now) : endRun(draining.end)
}

/**
 * A slice of the silence is over. It counts when the stream was open for most of it. One that does not count leaves
 * those before it: a connection that breaks again and again might never stand for as long as the whole silence.
 */
export const sliceDue = (state: Bound, now: Moment): Decision => {
  const { drain: draining } = state
  if (draining === undefined) return stay(state)
  if (draining.goal === "late") return over()
  const slice = sliceMs(draining.quietMs)
  const wasOpen = isConnected(state) && now.at - state.stream.openedAt >= slice / 2
  const slices = draining.slices + (wasOpen ? 1 : 0)
  const next: Bound = { ...state, drain: { ...draining, slices, sliceAt: now.at + slice } }
  if (!wasOpen) return boundWait(next, now)
  if (slices < SLICES) return stay(next)
  if (draining.goal === "silent") return fallSilent(next, draining, now)
  return thenBound(boundWait(breakSilence(next, now), now), (waited) => listenAgain(waited, now))
}

/** Nothing more has come. Before a resolved session ends without its Commitment, the runtime counts again. */
const fallSilent = (state: Bound, draining: Drain, now: Moment): Decision => {
  if (!isUncommitted(state, draining)) return endRun(draining.end)
  if (draining.recount === "asked") return listenOn(state, draining, [], now)
  const asking: Drain = { ...draining, ...silence(draining.quietMs, now), recount: "asked" }
  return [{ ...state, drain: asking }, [{ _tag: "AskSession", question: "counted" }]]
}

/** The runtime has counted again; without an answer what it counted before has to do. */
export const counted = (state: Bound, answer: Result.Result<SessionSnapshot, RuntimeError>, now: Moment): Decision => {
  const { drain: draining, options } = state
  if (draining?.recount !== "asked" || draining.goal !== "silent") return stay(state)
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
  const told = log("Info", `${received(state)} of ${draining.expected} envelopes have come: reading the history again`)
  const next: Bound = { ...state, drain: { ...draining, fruitless: draining.fruitless + 1 } }
  const [left, actions] = readAgain(next, now)
  return [left, [told, ...actions]]
}

/** The rest of the history does not come in time. Where it is gone, that has been marked already. */
const giveUp = (state: Bound, draining: Drain, now: Moment): Decision => {
  const { end, expected } = draining
  const detail = `the session ended after ${expected} envelopes, of which ${received(state)} were received`
  if (isHistoryGone(state)) return over(log("Warn", detail), endOf(end))
  const gap = write({ _tag: "Gap", detail, requestedAfter: state.cursor })
  return listenOn(state, draining, [log("Warn", detail), gap], now)
}

/** The run ends, but what comes late is stored: a large message may be under way for longer than anybody waits. */
const listenOn = (state: Bound, draining: Drain, before: ReadonlyArray<Action>, now: Moment): Decision => {
  const late: Drain = { ...draining, goal: "late", sliceAt: now.at + state.options.longestDrainMs }
  return [{ ...state, drain: late }, [...before, endOf(draining.end)]]
}

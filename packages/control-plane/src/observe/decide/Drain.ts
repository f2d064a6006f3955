import type { SessionSnapshot } from "@runplane/domain"
import { log, write } from "./Action.ts"
import type { Moment } from "./Input.ts"
import { drainNow, isConnected, isHistoryGone, readAgain } from "./SessionStream.ts"
import { type Bound, type Decision, type Drain, over, type SessionEnd, stay, thenBound } from "./State.ts"

/**
 * The end of a session is not yet the end of its run: the log is to hold what the session's history still has. The
 * runtime counts the accepted messages of each participant, so the length of the history is known. When the stream is
 * open and silent although envelopes are missing, they were lost on their way, and the history is read again from its
 * beginning. What the runtime does not deliver even then is given up and marked as a gap (docs/runtime.md#drain).
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

/** Accepted envelopes of a session; its SessionStart is there always, and in nobody's activity. */
const historyLength = (session: SessionSnapshot): number =>
  1 + session.participantActivity.reduce((sum, activity) => sum + activity.messageCount, 0)

/** Stored envelopes of participants. */
const received = (state: Bound): number => state.cursor - state.annotations.size

const endRun = (end: SessionEnd): Decision => over(write({ _tag: "End", ...end, streamed: true }))

/** Whether the goal is reached, or cannot be any more. */
export const review = (state: Bound, now: Moment): Decision => {
  const { drain: draining } = state
  if (draining === undefined) return stay(state)
  if (draining.goal === "silent") return isHistoryGone(state) ? endRun(draining.end) : stay(state)
  if (received(state) < draining.expected) return isHistoryGone(state) ? giveUp(state, draining) : stay(state)
  const last = lastSilenceMs(state, draining)
  if (last === undefined || isHistoryGone(state)) return endRun(draining.end)
  const { cursor } = state
  return stay({ ...state, drain: { ...draining, goal: "silent", ...silence(last, now), cursor, since: now.at } })
}

/** How long something may still come that the runtime has not counted; undefined when nothing can. */
const lastSilenceMs = ({ options }: Bound, { end }: Drain): number | undefined => {
  // Without any activity the runtime may be one that does not count.
  if (end.snapshot.participantActivity.length === 0) return options.endCheckDelayMs
  // Newer runtimes write a SessionCancel after they have told of the cancellation, which no count includes.
  return end.state === "CANCELLED" ? LAST_WORD_MS : undefined
}

/** Frames have been stored, or the stream is not open: where that leaves the goal. */
export const progress = (state: Bound, now: Moment): Decision => {
  if (state.drain === undefined) return stay(state)
  return thenBound(review(breakSilence(state, now), now), (next) => boundWait(next, now))
}

/** A silence has to begin anew. */
export const breakSilence = (state: Bound, now: Moment): Bound => {
  const { drain: draining } = state
  if (draining === undefined) return state
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
  if (draining === undefined || now.at - draining.since <= options.longestDrainMs) return stay(state)
  return draining.goal === "whole" ? giveUp(state, draining) : endRun(draining.end)
}

/** A slice of the silence is over; a stream that is not open is not silent. */
export const sliceDue = (state: Bound, now: Moment): Decision => {
  const { drain: draining } = state
  if (draining === undefined) return stay(state)
  if (!isConnected(state)) return progress(state, now)
  const slices = draining.slices + 1
  const next: Bound = { ...state, drain: { ...draining, slices, sliceAt: now.at + sliceMs(draining.quietMs) } }
  if (slices < SLICES) return stay(next)
  if (draining.goal === "silent") return endRun(draining.end)
  return thenBound(boundWait(breakSilence(next, now), now), (waited) => listenAgain(waited, now))
}

/** The open stream is silent although envelopes are missing. */
const listenAgain = (state: Bound, now: Moment): Decision => {
  const { drain: draining } = state
  if (draining === undefined) return stay(state)
  if (draining.fruitless === FRUITLESS_READS) return giveUp(state, draining)
  const told = log("Info", `${received(state)} of ${draining.expected} envelopes have come: reading the history again`)
  const next: Bound = { ...state, drain: { ...draining, fruitless: draining.fruitless + 1 } }
  const [left, actions] = readAgain(next, now)
  return [left, [told, ...actions]]
}

/** The rest of the history does not come. Where it is gone, that has been marked already. */
const giveUp = (state: Bound, { end, expected }: Drain): Decision => {
  const detail = `the session ended after ${expected} envelopes, of which ${received(state)} were received`
  const gap = isHistoryGone(state) ? [] : [write({ _tag: "Gap", detail, requestedAfter: state.cursor })]
  const [, ending] = endRun(end)
  return [{ _tag: "Over" }, [log("Warn", detail), ...gap, ...ending]]
}

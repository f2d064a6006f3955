import type { SessionSnapshot } from "@runplane/domain"
import type { ObservedFrame } from "../../event-log/append/AppendRequest.ts"
import type { ObserverOptions } from "../ObserverSettings.ts"
import { breakSilence, counted, progress, review, sliceDue } from "./Drain.ts"
import type { Input, Moment } from "./Input.ts"
import type { ObservedRun } from "./ObservedRun.ts"
import { answered, check, compare, expectEnd, isKnown, receiveUpdate, seen } from "./SessionCheck.ts"
import * as SessionStream from "./SessionStream.ts"
import { type Bound, type Decision, type EarlyStream, stay, thenBound } from "./State.ts"

/** Begins to follow a session, with its last state and early frames; without both after a restart. */
export const follow = (
  run: ObservedRun,
  options: ObserverOptions,
  now: Moment & { readonly cursor: number },
  begun?: { readonly session: SessionSnapshot; readonly early: EarlyStream }
): Decision => {
  const { cursor } = now
  const session = begun?.session
  const state: Bound = {
    _tag: "Bound",
    run,
    options,
    cursor,
    annotations: new Set(),
    committed: false,
    check: {
      deadline: session?.expiresAtUnixMs ?? run.expiresAtUnixMs,
      suspended: run.status === "suspended",
      query: undefined,
      announced: undefined,
      unknown: undefined,
      checkAt: undefined,
      endCheckAt: undefined
    },
    stream: SessionStream.newStream,
    drain: undefined
  }
  const [subscribed, actions] =
    begun === undefined ? SessionStream.subscribe(state, now) : SessionStream.takeOver(state, begun.early, now)
  const read = cursor === 0 ? [] : [{ _tag: "ReadAnnotations" } as const]
  const known = thenBound([subscribed, [...read, ...actions]], (next) => {
    if (session === undefined) return receiveUpdate(next, { _tag: "Check" }, now)
    // A new run has no earlier state to compare with.
    if (session.state === "OPEN") return stay(seen(next, { state: "OPEN", snapshot: session }, now))
    return receiveUpdate(next, { _tag: "State", state: session.state, snapshot: session }, now)
  })
  return thenBound(known, (next) => check(next, now))
}

/** Follows the session of a bound run to its end. */
export const followSession = (state: Bound, input: Input): Decision =>
  thenBound(handle(state, input), (next) => check(next, input))

const handle = (state: Bound, input: Input): Decision => {
  switch (input._tag) {
    case "Frames":
      return SessionStream.isCurrent(state, input.subscription)
        ? thenBound(SessionStream.receive(breakSilence(isKnown(state), input), input.frames, input), (next) =>
            review(next, input)
          )
        : stay(state)
    case "Stored": {
      const stored = SessionStream.stored(state, input.frames, input.cursor, input)
      const committed = input.frames.some(isCommitment)
      return progress(committed ? expectEnd({ ...stored, committed }, input) : stored, input)
    }
    case "Behind":
      return SessionStream.fallBehind(state, input.cursor, input)
    case "StreamEnded":
      return SessionStream.isCurrent(state, input.subscription)
        ? thenBound(SessionStream.ended(state, input.error, input), (next) => review(next, input))
        : stay(state)
    case "Cursor":
      return SessionStream.pauseAfter(state, input.cursor, input)
    case "Annotations":
      return stay({
        ...state,
        annotations: new Set([...state.annotations, ...input.messageIds]),
        committed: state.committed || input.committed
      })
    case "State":
    case "Check":
      return state.drain === undefined ? receiveUpdate(state, input, input) : stay(state)
    case "Summary":
      return compare(state, input.summary, input)
    case "Session":
      if (input.query === "opened") return stay(state)
      if (input.query === "counted") return counted(state, input.answer, input)
      return input.query === "reconnect"
        ? SessionStream.reconsider(state, input.answer, input)
        : answered(state, input.query, input.answer, input)
    case "Tick":
      return timePassed(state, input)
    default:
      return stay(state)
  }
}

const isCommitment = ({ frame }: ObservedFrame): boolean =>
  frame.kind === "stream-envelope" && frame.envelope.messageType === "Commitment"

/** Checks every deadline once; the frames before the tick are decided by then. */
const timePassed = (state: Bound, now: Moment): Decision => {
  const due = SessionStream.streamDeadline(state)
  const streamed = due !== undefined && due <= now.at ? SessionStream.streamDue(state, now) : stay(state)
  return thenBound(streamed, (next) =>
    next.drain !== undefined && next.drain.sliceAt <= now.at ? sliceDue(next, now) : stay(next)
  )
}

import type { SessionSnapshot } from "@runplane/domain"
import type { ObservedFrame } from "../../event-log/append/AppendRequest.ts"
import type { ObserverOptions } from "../ObserverSettings.ts"
import { breakSilence, counted, progress, review, sliceDue } from "./Drain.ts"
import type { Input, Moment } from "./Input.ts"
import type { ObservedRun } from "./ObservedRun.ts"
import { answered, compare, expectEnd, hear, isKnown, look, seen } from "./SessionLook.ts"
import * as SessionStream from "./SessionStream.ts"
import { type Bound, type Decision, type EarlyStream, stay, thenBound } from "./State.ts"

/** Begins to follow a session, with what was last said of it and what has come already; after a restart without. */
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
    look: {
      deadline: session?.expiresAtUnixMs ?? run.expiresAtUnixMs,
      suspended: run.status === "suspended",
      question: undefined,
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
    if (session === undefined) return hear(next, { _tag: "Check" }, now)
    // The run has just become running: there is nothing to compare with.
    if (session.state === "OPEN") return stay(seen(next, { state: "OPEN", snapshot: session }, now))
    return hear(next, { _tag: "State", state: session.state, snapshot: session }, now)
  })
  return thenBound(known, (next) => look(next, now))
}

/** Follows the session of a bound run to its end. */
export const followSession = (state: Bound, input: Input): Decision =>
  thenBound(happened(state, input), (next) => look(next, input))

const happened = (state: Bound, input: Input): Decision => {
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
      return state.drain === undefined ? hear(state, input, input) : stay(state)
    case "Standing":
      return compare(state, input.standing, input)
    case "Session":
      if (input.question === "opened") return stay(state)
      if (input.question === "counted") return counted(state, input.answer, input)
      return input.question === "reconnect"
        ? SessionStream.reconsider(state, input.answer, input)
        : answered(state, input.question, input.answer, input)
    case "Tick":
      return timePassed(state, input)
    default:
      return stay(state)
  }
}

const isCommitment = ({ frame }: ObservedFrame): boolean =>
  frame.kind === "stream-envelope" && frame.envelope.messageType === "Commitment"

/** Every deadline is looked at once; frames that came before the tick have been decided on before it. */
const timePassed = (state: Bound, now: Moment): Decision => {
  const due = SessionStream.streamDeadline(state)
  const streamed = due !== undefined && due <= now.at ? SessionStream.streamDue(state, now) : stay(state)
  return thenBound(streamed, (next) =>
    next.drain !== undefined && next.drain.sliceAt <= now.at ? sliceDue(next, now) : stay(next)
  )
}

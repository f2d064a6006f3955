import { backoffMs, type SendAck, type SessionSnapshot } from "@runplane/domain"
import type { RuntimeError } from "@runplane/runtime"
import type * as Result from "effect/Result"
import { isTerminalSession, log, write } from "./Action.ts"
import type { Input, Moment } from "./Input.ts"
import type { PendingCancel } from "./ObservedRun.ts"
import { type Decision, over, stay, type Unbound } from "./State.ts"

/**
 * A run that was cancelled before its session opened: its observer waits for the session and cancels it when it opens,
 * once (docs/internals/runtime.md#late-cancel). The run itself has ended and does not change.
 */

type Stopping = Extract<Unbound["step"], { readonly _tag: "Stopping" }>

/** Errors that another attempt meets again. */
const FINAL: ReadonlySet<RuntimeError["reason"]> = new Set([
  "PERMISSION_DENIED",
  "INVALID_ARGUMENT",
  "UNIMPLEMENTED",
  "FAILED_PRECONDITION"
])

/** Begins to wait; `session` is its last known state. */
export const stop = (
  state: Unbound,
  cancel: PendingCancel,
  session: SessionSnapshot | undefined,
  now: Moment
): Decision => {
  const step: Stopping = { _tag: "Stopping", cancel, requested: false }
  const waiting: Unbound = { ...state, step, polls: 0, pollAt: undefined, updated: false }
  const [next, actions] = session === undefined ? query(waiting) : found(waiting, step, session.state, now)
  return [next, [{ _tag: "LeaveStep", error: undefined }, { _tag: "Unsubscribe" }, ...actions]]
}

export const awaitStop = (state: Unbound, step: Stopping, input: Input): Decision => {
  switch (input._tag) {
    case "State":
      return step.requested ? stay(state) : found(state, step, input.state, input)
    case "Session":
      if (step.requested || input.query !== "opened") return stay(state)
      if (input.answer._tag === "Success") return found(state, step, input.answer.success.state, input)
      return sought(state, step, input.answer.failure, input)
    case "Cancelled":
      return settle(state, step, input.answer, input)
    case "Tick":
      return state.pollAt !== undefined && state.pollAt <= input.at ? query(state) : stay(state)
    default:
      return stay(state)
  }
}

const query = (state: Unbound): Decision => [{ ...state, pollAt: undefined }, [{ _tag: "GetSession", query: "opened" }]]

const found = (state: Unbound, step: Stopping, current: SessionSnapshot["state"], now: Moment): Decision => {
  if (current === "UNSPECIFIED") return pause(state, step, now)
  if (isTerminalSession(current)) return over(write({ _tag: "CancelSettled", stopped: false }))
  const cancelling: Unbound = { ...state, step: { ...step, requested: true }, pollAt: undefined }
  return [cancelling, [{ _tag: "CancelSession", reason: step.cancel.reason }]]
}

const sought = (state: Unbound, step: Stopping, error: RuntimeError, now: Moment): Decision => {
  // A refusal shows that the session exists.
  if (error.reason === "PERMISSION_DENIED") return found(state, step, "OPEN", now)
  return FINAL.has(error.reason) ? giveUp(error.message) : pause(state, step, now)
}

const settle = (
  state: Unbound,
  step: Stopping,
  answer: Result.Result<SendAck, RuntimeError>,
  now: Moment
): Decision => {
  if (answer._tag === "Failure") {
    const { message, reason } = answer.failure
    return FINAL.has(reason) ? giveUp(message) : pause(state, { ...step, requested: false }, now)
  }
  const { error, ok, sessionState } = answer.success
  if (!ok) return giveUp(error?.message ?? "the runtime did not accept it")
  // An ended session acknowledges too, but was not stopped.
  const stopped = sessionState !== "RESOLVED" && sessionState !== "EXPIRED"
  return over(log("Info", "the session of the cancelled run was stopped"), write({ _tag: "CancelSettled", stopped }))
}

const giveUp = (why: string): Decision =>
  over(
    log("Warn", `the session of the cancelled run could not be stopped: ${why}`),
    write({ _tag: "CancelSettled", stopped: false })
  )

/** The watch reports the session as well, so the pauses may become long. */
const pause = (state: Unbound, step: Stopping, now: Moment): Decision => {
  const { options, polls } = state
  const remaining = step.cancel.untilUnixMs - now.at
  if (remaining <= 0) return over(write({ _tag: "CancelSettled", stopped: false }))
  const longestMs = now.watched ? options.streamBackoffMaxMs : options.sessionPollMaxMs
  const pauseMs = Math.min(backoffMs({ firstMs: options.sessionPollBaseMs, longestMs }, polls), remaining)
  return stay({ ...state, step, polls: polls + 1, pollAt: now.at + pauseMs })
}

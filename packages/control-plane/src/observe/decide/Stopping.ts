import type { SendAck, SessionSnapshot } from "@runplane/domain"
import type { RuntimeError } from "@runplane/runtime"
import type * as Result from "effect/Result"
import { isTerminalSession, log, write } from "./Action.ts"
import type { Input, Moment } from "./Input.ts"
import type { LateCancel } from "./ObservedRun.ts"
import { type Decision, over, stay, type Unbound } from "./State.ts"

/**
 * A run that was cancelled before its session opened: nobody else would stop that session, so it is waited for, and
 * cancelled when it opens, once (docs/internals/runtime.md#late-cancel). The run itself has ended; nothing of it
 * changes.
 */

type Stopping = Extract<Unbound["step"], { readonly _tag: "Stopping" }>

/** Errors after which another attempt is of no use. */
const FINAL: ReadonlySet<RuntimeError["reason"]> = new Set([
  "PERMISSION_DENIED",
  "INVALID_ARGUMENT",
  "UNIMPLEMENTED",
  "FAILED_PRECONDITION"
])

/** Begins to wait; `session` is what is known of it already. */
export const stop = (
  state: Unbound,
  cancel: LateCancel,
  session: SessionSnapshot | undefined,
  now: Moment
): Decision => {
  const step: Stopping = { _tag: "Stopping", cancel, asked: false }
  const waiting: Unbound = { ...state, step, polls: 0, pollAt: undefined, updated: false }
  const [next, actions] = session === undefined ? ask(waiting) : found(waiting, step, session.state, now)
  return [next, [{ _tag: "LeaveStep", error: undefined }, { _tag: "Unsubscribe" }, ...actions]]
}

export const awaitStop = (state: Unbound, step: Stopping, input: Input): Decision => {
  switch (input._tag) {
    case "State":
      return step.asked ? stay(state) : found(state, step, input.state, input)
    case "Session":
      if (step.asked || input.question !== "opened") return stay(state)
      if (input.answer._tag === "Success") return found(state, step, input.answer.success.state, input)
      return sought(state, step, input.answer.failure, input)
    case "Cancelled":
      return settle(state, step, input.answer, input)
    case "Tick":
      return state.pollAt !== undefined && state.pollAt <= input.at ? ask(state) : stay(state)
    default:
      return stay(state)
  }
}

const ask = (state: Unbound): Decision => [
  { ...state, pollAt: undefined },
  [{ _tag: "AskSession", question: "opened" }]
]

const found = (state: Unbound, step: Stopping, said: SessionSnapshot["state"], now: Moment): Decision => {
  if (said === "UNSPECIFIED") return pause(state, step, now)
  if (isTerminalSession(said)) return over(write({ _tag: "CancelSettled", stopped: false }))
  const asked: Unbound = { ...state, step: { ...step, asked: true }, pollAt: undefined }
  return [asked, [{ _tag: "CancelSession", reason: step.cancel.reason }]]
}

const sought = (state: Unbound, step: Stopping, error: RuntimeError, now: Moment): Decision => {
  // Whoever is refused knows that there is a session.
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
    return FINAL.has(reason) ? giveUp(message) : pause(state, { ...step, asked: false }, now)
  }
  const { error, ok, sessionState } = answer.success
  if (!ok) return giveUp(error?.message ?? "the runtime did not accept it")
  // An ended session acknowledges too, and nothing comes of it.
  const stopped = sessionState !== "RESOLVED" && sessionState !== "EXPIRED"
  return over(log("Info", "the session of the cancelled run was stopped"), write({ _tag: "CancelSettled", stopped }))
}

const giveUp = (why: string): Decision =>
  over(
    log("Warn", `the session of the cancelled run could not be stopped: ${why}`),
    write({ _tag: "CancelSettled", stopped: false })
  )

/** The watch tells of the session as well, so the pauses may become long. */
const pause = (state: Unbound, step: Stopping, now: Moment): Decision => {
  const { options, polls } = state
  const remaining = step.cancel.untilUnixMs - now.at
  if (remaining <= 0) return over(write({ _tag: "CancelSettled", stopped: false }))
  const longest = now.watched ? options.streamBackoffMaxMs : options.sessionPollMaxMs
  const pauseMs = Math.min(options.sessionPollBaseMs * 2 ** polls, longest, remaining)
  return stay({ ...state, step, polls: polls + 1, pollAt: now.at + pauseMs })
}

import { failureCodeIn, isTerminal, type SessionSnapshot } from "@runplane/domain"
import type { RuntimeError, RuntimeIdentity } from "@runplane/runtime"
import type { ObservedRun } from "../ObservedRuns.ts"
import type { ObserverOptions } from "../ObserverSettings.ts"
import { type Action, write } from "./Action.ts"
import { follow } from "./Bound.ts"
import type { Input, Moment } from "./Input.ts"
import { type Decision, over, stay, type Unbound } from "./State.ts"

/**
 * The steps before a run is bound: `Initialize`, then `GetSession` until the initiator has opened the session. A
 * session that does not exist yet and a runtime that cannot be reached are both waited out, up to the bind time-out; an
 * update of the session cuts a pause short (docs/runtime.md#await-session).
 */

export const unbound = (run: ObservedRun, options: ObserverOptions): Unbound => ({
  _tag: "Unbound",
  run,
  options,
  step: { _tag: "Starting" },
  since: 0,
  polls: 0,
  pollAt: undefined,
  updated: false
})

export const awaitSession = (state: Unbound, input: Input): Decision => {
  switch (input._tag) {
    case "Started": {
      const waiting = { ...state, since: input.at }
      return state.run.status === "queued" ? [waiting, [write({ _tag: "Start" })]] : greet(waiting)
    }
    case "Written":
      // Whoever ended the run meanwhile has ended the waiting too.
      if (isTerminal(input.status)) return over()
      if (input.write === "Start") return greet(state)
      return input.write === "Run" && state.step._tag === "Binding"
        ? follow(state.run, state.options, input.cursor, state.step.session, input)
        : stay(state)
    case "Identity":
      return input.answer._tag === "Success"
        ? greeted(state, input.answer.success)
        : refused(state, input.answer.failure, input)
    case "Session":
      return input.answer._tag === "Success"
        ? found(state, input.answer.success, input)
        : refused(state, input.answer.failure, input)
    case "State":
      return state.pollAt === undefined ? stay({ ...state, updated: true }) : ask(state)
    case "Check":
      return [state, [{ _tag: "ReadStanding" }]]
    case "Standing":
      if (input.standing === undefined || isTerminal(input.standing.status)) return over()
      return state.pollAt === undefined ? stay({ ...state, updated: true }) : ask(state)
    case "Tick":
      return state.pollAt !== undefined && state.pollAt <= input.at ? ask(state) : stay(state)
    default:
      return stay(state)
  }
}

const greet = (state: Unbound): Decision => {
  const [next, actions] = ask({ ...state, step: { _tag: "Greeting" } })
  return [next, [{ _tag: "EnterStep", step: "runtime.initialize" }, ...actions]]
}

/** Asks what the step wants to know. */
const ask = (state: Unbound): Decision => {
  const asking = { ...state, pollAt: undefined, updated: false }
  switch (state.step._tag) {
    case "Greeting":
      return [asking, [{ _tag: "AskIdentity" }]]
    case "Awaiting":
      return [asking, [{ _tag: "AskSession", question: "opened" }]]
    default:
      return stay(state)
  }
}

const greeted = (state: Unbound, { capabilities, supportedModes }: RuntimeIdentity): Decision => {
  if (state.step._tag !== "Greeting") return stay(state)
  const { modeName } = state.run
  if (supportedModes.length > 0 && !supportedModes.includes(modeName)) {
    const errorMessage = `Runtime does not support mode '${modeName}'. Supported: ${supportedModes.join(", ")}`
    return fail({ errorCode: "MODE_NOT_SUPPORTED", errorMessage }, leave(undefined))
  }
  const step = { _tag: "Awaiting", capabilities: JSON.stringify(capabilities) } as const
  const [next, actions] = ask({ ...state, step })
  return [next, [leave(undefined), { _tag: "EnterStep", step: "runtime.await_session_open" }, ...actions]]
}

/**
 * A session that has ended without a result is not bound; one that was resolved is, for the history it may still have.
 */
const found = (state: Unbound, session: SessionSnapshot, now: Moment): Decision => {
  const { step } = state
  if (step._tag !== "Awaiting") return stay(state)
  switch (session.state) {
    case "UNSPECIFIED":
      return pause(state, undefined, now)
    case "EXPIRED":
    case "CANCELLED":
      return over(leave(undefined), write({ _tag: "End", state: session.state, snapshot: session, streamed: false }))
    default:
      return [
        { ...state, step: { _tag: "Binding", session } },
        [
          leave(undefined),
          write({ _tag: "Bind", session, capabilities: step.capabilities }),
          write({ _tag: "Run", session })
        ]
      ]
  }
}

/** A call that failed: for good when the runtime refuses, otherwise it is tried again. */
const refused = (state: Unbound, error: RuntimeError, now: Moment): Decision => {
  if (state.step._tag !== "Greeting" && state.step._tag !== "Awaiting") return stay(state)
  const errorCode = failureCodeIn(error.message) ?? REFUSALS[error.reason]
  if (errorCode !== undefined) return fail({ errorCode, errorMessage: error.message }, leave(error.message))
  return pause(state, error.reason === "NOT_FOUND" ? undefined : error.message, now)
}

const REFUSALS: Partial<Record<RuntimeError["reason"], string>> = {
  PERMISSION_DENIED: "FORBIDDEN",
  UNAUTHENTICATED: "UNAUTHENTICATED",
  INVALID_ARGUMENT: "VALIDATION_ERROR",
  UNIMPLEMENTED: "NOT_IMPLEMENTED"
}

/** Pauses before the next question, unless the bind time-out has passed. */
const pause = (state: Unbound, trouble: string | undefined, { at }: Moment): Decision => {
  const { options, polls, run } = state
  const remaining = options.sessionPollTimeoutMs - (at - state.since)
  if (remaining <= 0) {
    const why = trouble === undefined ? "" : `: ${trouble}`
    const errorMessage = `session ${run.sessionId} was not opened within ${options.sessionPollTimeoutMs} ms${why}`
    return fail({ errorCode: "RUNTIME_TIMEOUT", errorMessage }, leave(errorMessage))
  }
  const pauseMs = Math.min(options.sessionPollBaseMs * 2 ** polls, options.sessionPollMaxMs, remaining)
  const next = { ...state, polls: polls + 1, pollAt: at + pauseMs }
  return state.updated ? ask(next) : stay(next)
}

const leave = (error: string | undefined): Action => ({ _tag: "LeaveStep", error })

const fail = (failure: { readonly errorCode: string; readonly errorMessage: string }, left: Action): Decision =>
  over(
    left,
    { _tag: "Log", level: "Warn", message: `${failure.errorCode}: ${failure.errorMessage}` },
    write({ _tag: "Fail", ...failure })
  )

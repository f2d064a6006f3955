import {
  DEFAULT_POLICY_ID,
  type DescribedPolicy,
  failureCodeIn,
  isTerminal,
  type SessionSnapshot
} from "@runplane/domain"
import type { RuntimeError, RuntimeIdentity } from "@runplane/runtime"
import type { ObserverOptions } from "../ObserverSettings.ts"
import { type Action, write } from "./Action.ts"
import { follow, followSession } from "./Bound.ts"
import { endEarly, hold, noEarlyStream, subscribeEarly } from "./EarlyStream.ts"
import type { Input, Moment, SessionView } from "./Input.ts"
import type { ObservedRun, RunStanding } from "./ObservedRun.ts"
import { type Decision, over, stay, thenBound, type Unbound } from "./State.ts"
import { awaitStop, stop } from "./Stopping.ts"

/**
 * The steps before a run is bound: `Initialize`, then `GetSession` until the initiator has opened the session, or the
 * watch of all sessions tells of it. A session that does not exist yet and a runtime that cannot be reached are both
 * waited out, up to the bind time-out (docs/internals/runtime.md#await-session). Beside that the session is subscribed
 * to as soon as it can exist. Last comes `GetPolicy`: what governs the session goes on record with the binding.
 */

export const unbound = (run: ObservedRun, options: ObserverOptions): Unbound => ({
  _tag: "Unbound",
  run,
  options,
  step: { _tag: "Starting" },
  since: 0,
  polls: 0,
  pollAt: undefined,
  updated: false,
  heard: undefined,
  early: noEarlyStream
})

/** While no watch tells of new sessions, one that does not exist is asked for in such pauses. Milliseconds. */
const UNWATCHED_PAUSE_MS = 20
/** These pauses grow with the time that was waited, to this share of it. */
const UNWATCHED_SHARE = 0.05

export const awaitSession = (state: Unbound, input: Input): Decision => {
  if (state.step._tag === "Stopping") return awaitStop(state, state.step, input)
  switch (input._tag) {
    case "Started":
      return start({ ...state, since: input.at }, input)
    case "Written":
      // Whoever ended the run meanwhile has ended the waiting too; unless the session is to be stopped.
      if (isTerminal(input.status)) return [state, [{ _tag: "ReadStanding" }]]
      if (input.write === "Start") return greet(state, input)
      return input.write === "Run" && state.step._tag === "Binding"
        ? begin(state, state.step.session, input)
        : stay(state)
    case "Policy":
      return bind(state, input.policy)
    case "Identity":
      return input.answer._tag === "Success"
        ? greeted(state, input.answer.success, input)
        : refused(state, input.answer.failure, input)
    case "Session":
      return input.answer._tag === "Success"
        ? found(state, input.answer.success, input)
        : refused(state, input.answer.failure, input)
    case "State":
      return hear(state, input, input)
    case "Check":
      return [{ ...state, heard: undefined }, [{ _tag: "ReadStanding" }]]
    case "Standing":
      return isOver(input.standing) ? left(state, input.standing, input) : lookAgain(state, input)
    case "Frames":
      return thenLook(hold(state, input.subscription, input.frames), input)
    case "StreamEnded":
      return again(endEarly(state, input.subscription), input.error)
    case "Tick":
      return state.pollAt !== undefined && state.pollAt <= input.at ? ask(state, input) : stay(state)
    default:
      return stay(state)
  }
}

/** An attempt from before the session existed has ended behind the news of the session: another one finds it. */
const again = (state: Unbound, error: RuntimeError | undefined): Decision =>
  error?.reason === "NOT_FOUND" && (state.heard !== undefined || isFound(state)) ? subscribeEarly(state) : stay(state)

const isFound = ({ step }: Unbound): boolean => step._tag === "Reading" || step._tag === "Binding"

const isOver = (standing: RunStanding | undefined): boolean => standing === undefined || isTerminal(standing.status)

/** The run is not waited for any more; a session that was to be cancelled may still open. */
const left = (state: Unbound, standing: RunStanding | undefined, now: Moment): Decision => {
  const cancel = standing?.cancel
  if (cancel === undefined) return over()
  const { step } = state
  return stop(state, cancel, step._tag === "Binding" || step._tag === "Reading" ? step.session : state.heard, now)
}

const start = (state: Unbound, now: Moment): Decision => {
  const { cancel, status } = state.run
  if (cancel !== undefined && isTerminal(status)) return stop(state, cancel, undefined, now)
  const [next, subscribed] = now.watched ? stay(state) : subscribeEarly(state)
  const [after, actions] = status === "queued" ? ([next, [write({ _tag: "Start" })]] as const) : greet(next, now)
  return [after, [...subscribed, ...actions]]
}

const greet = (state: Unbound, now: Moment): Decision => {
  const [next, actions] = ask({ ...state, step: { _tag: "Greeting" } }, now)
  return [next, [{ _tag: "EnterStep", step: "runtime.initialize" }, ...actions]]
}

/** Asks what the step wants to know. */
const ask = (state: Unbound, now: Moment): Decision => {
  const asking = { ...state, pollAt: undefined, updated: false }
  switch (state.step._tag) {
    case "Greeting":
      return [asking, [{ _tag: "AskIdentity" }]]
    case "Awaiting": {
      const [next, actions] = now.watched ? stay(asking) : subscribeEarly(asking)
      return [next, [...actions, { _tag: "AskSession", question: "opened" }]]
    }
    default:
      return stay(state)
  }
}

/** Asks at once, or as soon as the open question is answered: its answer may be old. */
const lookAgain = (state: Unbound, now: Moment): Decision =>
  state.pollAt === undefined ? stay({ ...state, updated: true }) : ask(state, now)

/** Frames have come, so there is a session to be asked for. */
const thenLook = ([state, actions]: readonly [Unbound, ReadonlyArray<Action>], now: Moment): Decision => {
  if (state.step._tag !== "Awaiting" || state.early.frames.length === 0) return [state, actions]
  const [next, asked] = lookAgain(state, now)
  return [next, [...actions, ...asked]]
}

/** The watch tells of the session: what it says is what the runtime would answer. */
const hear = (state: Unbound, { snapshot, state: said }: SessionView, now: Moment): Decision => {
  if (snapshot === undefined || said === "UNSPECIFIED") return lookAgain(state, now)
  const session = { ...snapshot, state: said }
  if (state.step._tag === "Awaiting") return found(state, session, now)
  if (state.step._tag === "Reading") return stay({ ...state, step: { ...state.step, session } })
  return subscribeEarly({ ...state, heard: session })
}

const greeted = (state: Unbound, { capabilities, supportedModes }: RuntimeIdentity, now: Moment): Decision => {
  if (state.step._tag !== "Greeting") return stay(state)
  const { modeName } = state.run
  if (supportedModes.length > 0 && !supportedModes.includes(modeName)) {
    const errorMessage = `Runtime does not support mode '${modeName}'. Supported: ${supportedModes.join(", ")}`
    return fail({ errorCode: "MODE_NOT_SUPPORTED", errorMessage }, leave(undefined))
  }
  const awaiting = { ...state, step: { _tag: "Awaiting", capabilities: JSON.stringify(capabilities) } as const }
  const [next, actions] = state.heard === undefined ? ask(awaiting, now) : found(awaiting, state.heard, now)
  return [next, [leave(undefined), { _tag: "EnterStep", step: "runtime.await_session_open" }, ...actions]]
}

/** Whatever has become of the session, the run is bound to it, for the history that the runtime may still serve. */
const found = (state: Unbound, session: SessionSnapshot, now: Moment): Decision => {
  const { step } = state
  if (step._tag !== "Awaiting") return stay(state)
  if (session.state === "UNSPECIFIED") return pause(state, undefined, now)
  const reading = { _tag: "Reading", session, capabilities: step.capabilities } as const
  const [next, subscribed] = subscribeEarly({ ...state, step: reading, pollAt: undefined, updated: false })
  const policyId = session.policyVersion === "" ? DEFAULT_POLICY_ID : session.policyVersion
  return [next, [...subscribed, leave(undefined), { _tag: "AskPolicy", policyId }]]
}

/** A runtime that does not tell the policy holds nothing up: the registry may have it later. */
const bind = (state: Unbound, policy: DescribedPolicy | undefined): Decision => {
  const { step } = state
  if (step._tag !== "Reading") return stay(state)
  const { capabilities, session } = step
  return [
    { ...state, step: { _tag: "Binding", session } },
    [{ _tag: "Write", write: { _tag: "Run", session }, before: { _tag: "Bind", session, policy, capabilities } }]
  ]
}

/** Follows the session; what was heard of it while its policy was read is asked about. */
const begin = (state: Unbound, session: SessionSnapshot, now: Moment & { readonly cursor: number }): Decision => {
  const { early, options, run, updated } = state
  const begun = follow(run, options, now, { session, early })
  return updated ? thenBound(begun, (next) => followSession(next, { ...now, _tag: "Check" })) : begun
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
const pause = (state: Unbound, trouble: string | undefined, now: Moment): Decision => {
  const { options, polls, run } = state
  const waited = now.at - state.since
  const remaining = options.sessionPollTimeoutMs - waited
  if (remaining <= 0) {
    const why = trouble === undefined ? "" : `: ${trouble}`
    const by = run.awaited === "" ? "" : ` by any of its participants (${run.awaited})`
    const errorMessage = `session ${run.sessionId} was not opened within ${options.sessionPollTimeoutMs} ms${by}${why}`
    return fail({ errorCode: "RUNTIME_TIMEOUT", errorMessage }, leave(errorMessage))
  }
  const unwatched = !now.watched && trouble === undefined && state.step._tag === "Awaiting"
  const usual = options.sessionPollBaseMs * 2 ** polls
  const wanted = unwatched ? Math.max(UNWATCHED_PAUSE_MS, Math.ceil(waited * UNWATCHED_SHARE)) : usual
  const pauseMs = Math.min(wanted, options.sessionPollMaxMs, remaining)
  const next = { ...state, polls: polls + 1, pollAt: now.at + pauseMs }
  return state.updated ? ask(next, now) : stay(next)
}

const leave = (error: string | undefined): Action => ({ _tag: "LeaveStep", error })

const fail = (failure: { readonly errorCode: string; readonly errorMessage: string }, left: Action): Decision =>
  over(
    left,
    { _tag: "Log", level: "Warn", message: `${failure.errorCode}: ${failure.errorMessage}` },
    write({ _tag: "Fail", ...failure })
  )

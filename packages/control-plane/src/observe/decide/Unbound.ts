import {
  backoffMs,
  DEFAULT_POLICY_ID,
  type DescribedPolicy,
  failureCodeIn,
  isTerminal,
  type SessionSnapshot
} from "@runplane/domain"
import type { RuntimeError, RuntimeIdentity } from "@runplane/runtime"
import type { ObservedFrame } from "../../event-log/append/AppendRequest.ts"
import { totalBytes } from "../../event-log/append/FrameBytes.ts"
import type { ObserverOptions } from "../ObserverSettings.ts"
import { type Action, write } from "./Action.ts"
import { follow, followSession } from "./Bound.ts"
import { FRAMES_PER_APPEND, type Input, type Moment, type SessionView } from "./Input.ts"
import type { ObservedRun, RunSummary } from "./ObservedRun.ts"
import { type Decision, type EarlyStream, over, stay, thenBound, type Unbound } from "./State.ts"
import { awaitStop, stop } from "./Stopping.ts"

/**
 * The subscription of a run that is not bound yet. A runtime may drop the history of a session the moment it ends, so
 * the observer subscribes as soon as the session can exist, and its frames wait here for the binding
 * (docs/internals/runtime.md#early-subscription). Frames beyond one append are read again after the binding.
 */

/** Most bytes that wait for the binding, unless the first frames alone have more. */
const CAPACITY_BYTES = 1024 * 1024

const noEarlyStream: EarlyStream = { subscription: 0, open: false, frames: [], bytes: 0 }

type Early<A extends Unbound = Unbound> = readonly [A, ReadonlyArray<Action>]

/** Subscribes, unless a subscription is open or has delivered frames. */
const subscribeEarly = (state: Unbound): Early => {
  const { early, run } = state
  if (early.open || early.frames.length > 0) return [state, []]
  const subscription = early.subscription + 1
  return [
    { ...state, early: { ...noEarlyStream, subscription, open: true } },
    [{ _tag: "Subscribe", subscription, after: run.cursor }]
  ]
}

const isCurrent = ({ early }: Unbound, subscription: number): boolean =>
  early.open && early.subscription === subscription

/** Keeps the frames of the subscription. */
const hold = (state: Unbound, subscription: number, arrived: ReadonlyArray<ObservedFrame>): Early => {
  if (!isCurrent(state, subscription)) return [state, []]
  const { early } = state
  const frames = [...early.frames, ...arrived]
  const bytes = early.bytes + totalBytes(arrived)
  const isFull = early.frames.length > 0 && (frames.length > FRAMES_PER_APPEND || bytes > CAPACITY_BYTES)
  return isFull
    ? [{ ...state, early: { ...early, open: false } }, [{ _tag: "Unsubscribe" }]]
    : [{ ...state, early: { ...early, frames, bytes } }, []]
}

/** The subscription has ended; its frames stay. */
const endEarly = (state: Unbound, subscription: number): Unbound =>
  isCurrent(state, subscription) ? { ...state, early: { ...state.early, open: false } } : state

/**
 * The steps before a run is bound: `Initialize`, then `GetSession` until the initiator has opened the session or the
 * watch reports it. The observer waits for a missing session and an unreachable runtime up to the bind timeout
 * (docs/internals/runtime.md#await-session), and subscribes as soon as the session can exist. `GetPolicy` is last: the
 * binding records the policy of the session.
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
  announced: undefined,
  early: noEarlyStream
})

/** Pauses between the queries of a missing session while the watch is closed. Milliseconds. */
const UNWATCHED_PAUSE_MS = 20
/** These pauses grow to this share of the time since the start. */
const UNWATCHED_SHARE = 0.05

export const awaitSession = (state: Unbound, input: Input): Decision => {
  if (state.step._tag === "Stopping") return awaitStop(state, state.step, input)
  switch (input._tag) {
    case "Started":
      return start({ ...state, since: input.at }, input)
    case "Written":
      // A caller has ended the run: the wait is over, unless the session has to be cancelled.
      if (isTerminal(input.status)) return [state, [{ _tag: "ReadSummary" }]]
      if (input.write === "Start") return initialize(state, input)
      return input.write === "Run" && state.step._tag === "Binding"
        ? begin(state, state.step.session, input)
        : stay(state)
    case "Policy":
      return bind(state, input.policy)
    case "Identity":
      return input.answer._tag === "Success"
        ? initialized(state, input.answer.success, input)
        : refused(state, input.answer.failure, input)
    case "Session":
      return input.answer._tag === "Success"
        ? found(state, input.answer.success, input)
        : refused(state, input.answer.failure, input)
    case "State":
      return receiveUpdate(state, input, input)
    case "Check":
      return [{ ...state, announced: undefined }, [{ _tag: "ReadSummary" }]]
    case "Summary":
      return isOver(input.summary) ? left(state, input.summary, input) : queryAgain(state, input)
    case "Frames":
      return thenQuery(hold(state, input.subscription, input.frames), input)
    case "StreamEnded":
      return again(endEarly(state, input.subscription), input.error)
    case "Tick":
      return state.pollAt !== undefined && state.pollAt <= input.at ? query(state, input) : stay(state)
    default:
      return stay(state)
  }
}

/** An attempt from before the session existed has ended after the notice of the session: another one finds it. */
const again = (state: Unbound, error: RuntimeError | undefined): Decision =>
  error?.reason === "NOT_FOUND" && (state.announced !== undefined || isFound(state))
    ? subscribeEarly(state)
    : stay(state)

const isFound = ({ step }: Unbound): boolean => step._tag === "Reading" || step._tag === "Binding"

const isOver = (summary: RunSummary | undefined): boolean => summary === undefined || isTerminal(summary.status)

/** The run is over; a session with a pending cancel may still open. */
const left = (state: Unbound, summary: RunSummary | undefined, now: Moment): Decision => {
  const cancel = summary?.cancel
  if (cancel === undefined) return over()
  const { step } = state
  return stop(state, cancel, step._tag === "Binding" || step._tag === "Reading" ? step.session : state.announced, now)
}

const start = (state: Unbound, now: Moment): Decision => {
  const { cancel, status } = state.run
  if (cancel !== undefined && isTerminal(status)) return stop(state, cancel, undefined, now)
  const [next, subscribed] = now.watched ? stay(state) : subscribeEarly(state)
  const [after, actions] = status === "queued" ? ([next, [write({ _tag: "Start" })]] as const) : initialize(next, now)
  return [after, [...subscribed, ...actions]]
}

const initialize = (state: Unbound, now: Moment): Decision => {
  const [next, actions] = query({ ...state, step: { _tag: "Initializing" } }, now)
  return [next, [{ _tag: "EnterStep", step: "runtime.initialize" }, ...actions]]
}

/** Sends the query of the current step. */
const query = (state: Unbound, now: Moment): Decision => {
  const querying = { ...state, pollAt: undefined, updated: false }
  switch (state.step._tag) {
    case "Initializing":
      return [querying, [{ _tag: "Initialize" }]]
    case "Awaiting": {
      const [next, actions] = now.watched ? stay(querying) : subscribeEarly(querying)
      return [next, [...actions, { _tag: "GetSession", query: "opened" }]]
    }
    default:
      return stay(state)
  }
}

/** Queries at once, or after the pending query: its answer may be old. */
const queryAgain = (state: Unbound, now: Moment): Decision =>
  state.pollAt === undefined ? stay({ ...state, updated: true }) : query(state, now)

/** Frames have arrived, so the session exists. */
const thenQuery = ([state, actions]: readonly [Unbound, ReadonlyArray<Action>], now: Moment): Decision => {
  if (state.step._tag !== "Awaiting" || state.early.frames.length === 0) return [state, actions]
  const [next, queries] = queryAgain(state, now)
  return [next, [...actions, ...queries]]
}

/** The watch reports the session, in the same form as an answer of the runtime. */
const receiveUpdate = (state: Unbound, { snapshot, state: current }: SessionView, now: Moment): Decision => {
  if (snapshot === undefined || current === "UNSPECIFIED") return queryAgain(state, now)
  const session = { ...snapshot, state: current }
  if (state.step._tag === "Awaiting") return found(state, session, now)
  if (state.step._tag === "Reading") return stay({ ...state, step: { ...state.step, session } })
  return subscribeEarly({ ...state, announced: session })
}

const initialized = (state: Unbound, { capabilities, supportedModes }: RuntimeIdentity, now: Moment): Decision => {
  if (state.step._tag !== "Initializing") return stay(state)
  const { modeName } = state.run
  if (supportedModes.length > 0 && !supportedModes.includes(modeName)) {
    const errorMessage = `Runtime does not support mode '${modeName}'. Supported: ${supportedModes.join(", ")}`
    return fail({ errorCode: "MODE_NOT_SUPPORTED", errorMessage }, leave(undefined))
  }
  const awaiting = { ...state, step: { _tag: "Awaiting", capabilities: JSON.stringify(capabilities) } as const }
  const [next, actions] = state.announced === undefined ? query(awaiting, now) : found(awaiting, state.announced, now)
  return [next, [leave(undefined), { _tag: "EnterStep", step: "runtime.await_session_open" }, ...actions]]
}

/** The run is bound to the session in every state, for the history that the runtime may still serve. */
const found = (state: Unbound, session: SessionSnapshot, now: Moment): Decision => {
  const { step } = state
  if (step._tag !== "Awaiting") return stay(state)
  if (session.state === "UNSPECIFIED") return pause(state, undefined, now)
  const reading = { _tag: "Reading", session, capabilities: step.capabilities } as const
  const [next, subscribed] = subscribeEarly({ ...state, step: reading, pollAt: undefined, updated: false })
  const policyId = session.policyVersion === "" ? DEFAULT_POLICY_ID : session.policyVersion
  return [next, [...subscribed, leave(undefined), { _tag: "GetPolicy", policyId }]]
}

/** The binding does not wait for a policy that the runtime does not return: the registry may have it later. */
const bind = (state: Unbound, policy: DescribedPolicy | undefined): Decision => {
  const { step } = state
  if (step._tag !== "Reading") return stay(state)
  const { capabilities, session } = step
  return [
    { ...state, step: { _tag: "Binding", session } },
    [{ _tag: "Write", write: { _tag: "Run", session }, before: { _tag: "Bind", session, policy, capabilities } }]
  ]
}

/** Follows the session, and checks it when an update arrived while the policy was read. */
const begin = (state: Unbound, session: SessionSnapshot, now: Moment & { readonly cursor: number }): Decision => {
  const { early, options, run, updated } = state
  const begun = follow(run, options, now, { session, early })
  return updated ? thenBound(begun, (next) => followSession(next, { ...now, _tag: "Check" })) : begun
}

/** A call has failed: for good when the runtime refuses it, otherwise it is retried. */
const refused = (state: Unbound, error: RuntimeError, now: Moment): Decision => {
  if (state.step._tag !== "Initializing" && state.step._tag !== "Awaiting") return stay(state)
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

/** Pauses before the next query, unless the bind timeout has passed. */
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
  const usual = backoffMs({ firstMs: options.sessionPollBaseMs, longestMs: options.sessionPollMaxMs }, polls)
  const wanted = unwatched ? Math.max(UNWATCHED_PAUSE_MS, Math.ceil(waited * UNWATCHED_SHARE)) : usual
  const pauseMs = Math.min(wanted, options.sessionPollMaxMs, remaining)
  const next = { ...state, polls: polls + 1, pollAt: now.at + pauseMs }
  return state.updated ? query(next, now) : stay(next)
}

const leave = (error: string | undefined): Action => ({ _tag: "LeaveStep", error })

const fail = (failure: { readonly errorCode: string; readonly errorMessage: string }, left: Action): Decision =>
  over(
    left,
    { _tag: "Log", level: "Warn", message: `${failure.errorCode}: ${failure.errorMessage}` },
    write({ _tag: "Fail", ...failure })
  )

import type { DescribedPolicy, RuntimeSessionState, SessionSnapshot } from "@runplane/domain"
import type { ObservedFrame } from "../../event-log/append/AppendRequest.ts"

export type TerminalSessionState = Extract<RuntimeSessionState, "RESOLVED" | "EXPIRED" | "CANCELLED">

export const isTerminalSession = (state: RuntimeSessionState): state is TerminalSessionState =>
  state === "RESOLVED" || state === "EXPIRED" || state === "CANCELLED"

/** One append of the observer that is not a batch of frames: a change of the run's status, or a note on its stream. */
export type Write =
  | { readonly _tag: "Start" }
  /** `policy` is absent when the runtime did not tell it. */
  | {
      readonly _tag: "Bind"
      readonly session: SessionSnapshot
      readonly policy: DescribedPolicy | undefined
      readonly capabilities: string
    }
  /** `session` is absent when a bound run is promoted after a restart. A session that is over gets no OPEN event. */
  | { readonly _tag: "Run"; readonly session: SessionSnapshot | undefined }
  /**
   * Suspend and resume apply only while the status has the revision on which they were decided. A resumption without
   * one is known to have been: the session has ended in a way that only an open one can.
   */
  | { readonly _tag: "Suspend"; readonly revision: number }
  | { readonly _tag: "Resume"; readonly revision: number | undefined }
  | { readonly _tag: "Fail"; readonly errorCode: string; readonly errorMessage: string }
  /** The end of the session is the end of the run. */
  | { readonly _tag: "End"; readonly state: TerminalSessionState; readonly snapshot: SessionSnapshot | undefined }
  | { readonly _tag: "Recovered" }
  /** The remembered cancel is done with; `stopped` says whether it has ended a session. */
  | { readonly _tag: "CancelSettled"; readonly stopped: boolean }
  | { readonly _tag: "Reconnecting"; readonly detail: string }
  /** The log lacks envelopes that the runtime has accepted and does not deliver. */
  | { readonly _tag: "Gap"; readonly detail: string; readonly requestedAfter: number }

/** Why the runtime is asked for the session: the answer counts only while it is waited for. */
export type SessionQuestion = "opened" | "ended" | "paused" | "reconnect" | "counted"

/** What an observation does not need to be woken for, while the runtime says the same. */
export interface Quiet {
  /** Messages of the session's participants that the log has. */
  readonly received: number
  /** Whether the session is suspended, and so is the run. */
  readonly suspended: boolean
}

/**
 * What an observation does. Appends and reads of the log are awaited, and answered before anything else is decided, so
 * nothing is decided on what the log does not have. Questions to the runtime, subscriptions and the clock go on beside.
 */
export type Action =
  /** `before` is appended just before it. Both are on their way at once; the answer is that of the latter. */
  | { readonly _tag: "Write"; readonly write: Write; readonly before?: Write }
  /** Appends the frames after the cursor: answered by `Stored`, `Behind`, `CursorLost` or `RunDeleted`. */
  | { readonly _tag: "Store"; readonly frames: ReadonlyArray<ObservedFrame>; readonly cursor: number }
  | { readonly _tag: "ReadCursor" }
  /** Ids of the stored envelopes that the runtime itself has written, and whether a Commitment is stored. */
  | { readonly _tag: "ReadAnnotations" }
  | { readonly _tag: "ReadStanding" }
  | { readonly _tag: "AskIdentity" }
  /** A patient question may wait for others, so that one answer of the runtime does for all of them. */
  | { readonly _tag: "AskSession"; readonly question: SessionQuestion; readonly patient?: boolean }
  /** Reads a policy as the runtime has it now; answered in any case, and within a bounded time. */
  | { readonly _tag: "AskPolicy"; readonly policyId: string }
  /** Cancels the session of a run that was cancelled before it opened: answered by `Cancelled`. */
  | { readonly _tag: "CancelSession"; readonly reason: string }
  /** Opens a subscription after that ordinal, in place of the one before. */
  | { readonly _tag: "Subscribe"; readonly subscription: number; readonly after: number }
  | { readonly _tag: "Unsubscribe" }
  /** With `unless` there may be no `Tick` at all, for as long as the runtime says just that. */
  | { readonly _tag: "WakeAt"; readonly at: number; readonly unless?: Quiet }
  /** The steps before a run is bound are spans of its trace. */
  | { readonly _tag: "EnterStep"; readonly step: "runtime.initialize" | "runtime.await_session_open" }
  | { readonly _tag: "LeaveStep"; readonly error: string | undefined }
  | { readonly _tag: "Log"; readonly level: "Debug" | "Info" | "Warn"; readonly message: string }
  /** Nothing is left to observe. */
  | { readonly _tag: "Finish" }

export const write = (written: Write): Action => ({ _tag: "Write", write: written })
export const log = (level: "Debug" | "Info" | "Warn", message: string): Action => ({ _tag: "Log", level, message })

import type { DescribedPolicy, RuntimeSessionState, SessionSnapshot } from "@runplane/domain"
import type { ObservedFrame } from "../../event-log/append/AppendRequest.ts"

export type TerminalSessionState = Extract<RuntimeSessionState, "RESOLVED" | "EXPIRED" | "CANCELLED">

export const isTerminalSession = (state: RuntimeSessionState): state is TerminalSessionState =>
  state === "RESOLVED" || state === "EXPIRED" || state === "CANCELLED"

/** An append other than a batch of frames: a change of the run's status, or a note on its stream. */
export type Write =
  | { readonly _tag: "Start" }
  /** `policy` is absent when the runtime did not return it. */
  | {
      readonly _tag: "Bind"
      readonly session: SessionSnapshot
      readonly policy: DescribedPolicy | undefined
      readonly capabilities: string
    }
  /** `session` is absent when a bound run is promoted after a restart. A session that is over gets no OPEN event. */
  | { readonly _tag: "Run"; readonly session: SessionSnapshot | undefined }
  /**
   * Suspend and resume apply only to the revision of the status on which they were decided. A resumption without a
   * revision is certain: the session has ended in a way that only an open one can.
   */
  | { readonly _tag: "Suspend"; readonly revision: number }
  | { readonly _tag: "Resume"; readonly revision: number | undefined }
  | { readonly _tag: "Fail"; readonly errorCode: string; readonly errorMessage: string }
  | { readonly _tag: "End"; readonly state: TerminalSessionState; readonly snapshot: SessionSnapshot | undefined }
  | { readonly _tag: "Recovered" }
  /** Removes the pending cancel; `stopped` says whether it has ended a session. */
  | { readonly _tag: "CancelSettled"; readonly stopped: boolean }
  | { readonly _tag: "Reconnecting"; readonly detail: string }
  /** The runtime has accepted envelopes that it does not deliver. */
  | { readonly _tag: "Gap"; readonly detail: string; readonly requestedAfter: number }

/** Why the observer queries the session: the answer counts only while that reason holds. */
export type SessionQuery = "opened" | "ended" | "paused" | "reconnect" | "counted"

/** An idle session: no alarm is needed while the runtime reports the same. */
export interface Idleness {
  /** Messages of the session's participants that the log has. */
  readonly received: number
  /** Whether the session is suspended, and so is the run. */
  readonly suspended: boolean
}

/**
 * What an observation does. It awaits appends and reads of the log before the next decision, so every decision knows
 * the log. Calls of the runtime, subscriptions and the clock run concurrently.
 */
export type Action =
  /** Appends `before` first. Both are sent together; the answer is that of `write`. */
  | { readonly _tag: "Write"; readonly write: Write; readonly before?: Write }
  /** Appends the frames after the cursor. The answer is `Stored`, `Behind`, `CursorLost` or `RunDeleted`. */
  | { readonly _tag: "Store"; readonly frames: ReadonlyArray<ObservedFrame>; readonly cursor: number }
  | { readonly _tag: "ReadCursor" }
  /** Reads the ids of the stored envelopes that the runtime itself wrote, and whether a Commitment is stored. */
  | { readonly _tag: "ReadAnnotations" }
  | { readonly _tag: "ReadSummary" }
  | { readonly _tag: "Initialize" }
  /** A batched query may wait for others, so that one call answers them all. */
  | { readonly _tag: "GetSession"; readonly query: SessionQuery; readonly isBatched?: boolean }
  /** Reads the current policy of the runtime; the answer comes within a bounded time, also without a policy. */
  | { readonly _tag: "GetPolicy"; readonly policyId: string }
  /** Cancels the session of a run that was cancelled before the session opened. The answer is `Cancelled`. */
  | { readonly _tag: "CancelSession"; readonly reason: string }
  /** Opens a subscription after that ordinal, and closes the previous one. */
  | { readonly _tag: "Subscribe"; readonly subscription: number; readonly after: number }
  | { readonly _tag: "Unsubscribe" }
  /** With `unless` there may be no `Tick` for as long as the runtime reports just that. */
  | { readonly _tag: "WakeAt"; readonly at: number; readonly unless?: Idleness }
  /** The steps before a run is bound are spans of its trace. */
  | { readonly _tag: "EnterStep"; readonly step: "runtime.initialize" | "runtime.await_session_open" }
  | { readonly _tag: "LeaveStep"; readonly error: string | undefined }
  | { readonly _tag: "Log"; readonly level: "Debug" | "Info" | "Warn"; readonly message: string }
  /** Nothing is left to observe. */
  | { readonly _tag: "Finish" }

export const write = (written: Write): Action => ({ _tag: "Write", write: written })
export const log = (level: "Debug" | "Info" | "Warn", message: string): Action => ({ _tag: "Log", level, message })

import type { DescribedPolicy, RunStatus, RuntimeSessionState, SendAck, SessionSnapshot } from "@runplane/domain"
import type { RuntimeError, RuntimeIdentity } from "@runplane/runtime"
import type * as Result from "effect/Result"
import type { ObservedFrame } from "../../event-log/append/AppendRequest.ts"
import type { SessionQuery, Write } from "./Action.ts"
import type { RunSummary } from "./ObservedRun.ts"

/**
 * Most frames of one append, besides its bound in bytes. A batch has the frames that arrived during the previous
 * commit.
 */
export const FRAMES_PER_APPEND = 2000

/** The state of a session, from the watch or from an answer of the runtime. */
export interface SessionView {
  readonly state: RuntimeSessionState
  readonly snapshot: SessionSnapshot | undefined
}

/** A reason for an observer to check its session. */
export type SessionUpdate =
  | ({ readonly _tag: "State" } & SessionView)
  /** The session may have ended, or updates were missed: query the runtime. */
  | { readonly _tag: "Check" }

/** A message to an observation, which decides in the order of their arrival. */
export type Message =
  /** Always the first message. */
  | { readonly _tag: "Started" }
  /** The frames that arrived on a subscription while the previous batch was stored. */
  | {
      readonly _tag: "Frames"
      readonly subscription: number
      readonly frames: ReadonlyArray<ObservedFrame>
    }
  /** The runtime ended the subscription; `error` is absent when it ended without one. */
  | { readonly _tag: "StreamEnded"; readonly subscription: number; readonly error: RuntimeError | undefined }
  | SessionUpdate
  | { readonly _tag: "Identity"; readonly answer: Result.Result<RuntimeIdentity, RuntimeError> }
  | { readonly _tag: "Cancelled"; readonly answer: Result.Result<SendAck, RuntimeError> }
  | {
      readonly _tag: "Session"
      readonly query: SessionQuery
      readonly answer: Result.Result<SessionSnapshot, RuntimeError>
    }
  /** Undefined when the runtime did not return it in time. */
  | { readonly _tag: "Policy"; readonly policy: DescribedPolicy | undefined }
  /** Answers of the log. */
  | {
      readonly _tag: "Written"
      readonly write: Write["_tag"]
      readonly status: RunStatus
      readonly cursor: number
    }
  | { readonly _tag: "Stored"; readonly frames: ReadonlyArray<ObservedFrame>; readonly cursor: number }
  /** The frames were not stored, because the cursor of the log has moved to this one. */
  | { readonly _tag: "Behind"; readonly cursor: number }
  | { readonly _tag: "Cursor"; readonly cursor: number }
  | { readonly _tag: "Annotations"; readonly messageIds: ReadonlyArray<string>; readonly committed: boolean }
  | { readonly _tag: "Summary"; readonly summary: RunSummary | undefined }
  /** Another observer has stored envelopes of the run. */
  | { readonly _tag: "CursorLost"; readonly reason: string }
  | { readonly _tag: "RunDeleted" }
  /** Time has passed: a deadline of `WakeAt` may be over. */
  | { readonly _tag: "Tick" }

/** What a decision knows besides the message. */
export interface Moment {
  /** The clock at the decision, Unix milliseconds. */
  readonly at: number
  /** A random number from 0 to 1, for jitter. */
  readonly chance: number
  /** Whether the watch of all sessions is open: then it reports a session as soon as it exists. */
  readonly watched: boolean
}

export type Input = Message & Moment

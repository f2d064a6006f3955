import type { DescribedPolicy, RunStatus, RuntimeSessionState, SendAck, SessionSnapshot } from "@runplane/domain"
import type { RuntimeError, RuntimeIdentity } from "@runplane/runtime"
import type * as Result from "effect/Result"
import type { ObservedFrame } from "../../event-log/append/AppendRequest.ts"
import type { SessionQuestion, Write } from "./Action.ts"
import type { RunStanding } from "./ObservedRun.ts"

/**
 * Most frames of one append, besides its bound in bytes. Fewer whenever fewer are waiting: the batch is whatever came
 * while the last one committed.
 */
export const FRAMES_PER_APPEND = 2000

/** What is known of a session's state, from the watch or from an answer of the runtime. */
export interface SessionView {
  readonly state: RuntimeSessionState
  readonly snapshot: SessionSnapshot | undefined
}

/** Something that makes an observer look at its session again. */
export type SessionUpdate =
  | ({ readonly _tag: "State" } & SessionView)
  /** The session may have ended, or updates were missed: ask the runtime. */
  | { readonly _tag: "Check" }

/** What an observation hears of; the order in which it hears is the order in which it decides. */
export type Happening =
  /** First of all: the observation begins. */
  | { readonly _tag: "Started" }
  /** What has arrived on a subscription while the last batch was stored. */
  | {
      readonly _tag: "Frames"
      readonly subscription: number
      readonly frames: ReadonlyArray<ObservedFrame>
    }
  /** The runtime ended the subscription; `error` is absent when it did so in good order. */
  | { readonly _tag: "StreamEnded"; readonly subscription: number; readonly error: RuntimeError | undefined }
  | SessionUpdate
  /** Answers of the runtime. */
  | { readonly _tag: "Identity"; readonly answer: Result.Result<RuntimeIdentity, RuntimeError> }
  | { readonly _tag: "Cancelled"; readonly answer: Result.Result<SendAck, RuntimeError> }
  | {
      readonly _tag: "Session"
      readonly question: SessionQuestion
      readonly answer: Result.Result<SessionSnapshot, RuntimeError>
    }
  /** Undefined when the runtime did not tell it in time. */
  | { readonly _tag: "Policy"; readonly policy: DescribedPolicy | undefined }
  /** Answers of the log. */
  | {
      readonly _tag: "Written"
      readonly write: Write["_tag"]
      readonly status: RunStatus
      readonly cursor: number
    }
  | { readonly _tag: "Stored"; readonly frames: ReadonlyArray<ObservedFrame>; readonly cursor: number }
  /** The frames were not stored on the cursor they were read from: the log stands here now. */
  | { readonly _tag: "Behind"; readonly cursor: number }
  | { readonly _tag: "Cursor"; readonly cursor: number }
  | { readonly _tag: "Annotations"; readonly messageIds: ReadonlyArray<string>; readonly committed: boolean }
  | { readonly _tag: "Standing"; readonly standing: RunStanding | undefined }
  /** Another observer has stored envelopes of the run. */
  | { readonly _tag: "CursorLost"; readonly reason: string }
  | { readonly _tag: "RunDeleted" }
  /** Time has passed: a deadline that was asked for by `WakeAt` may be over. */
  | { readonly _tag: "Tick" }

/** What a decision knows of the world besides what has happened. */
export interface Moment {
  /** The clock at the decision, Unix milliseconds. */
  readonly at: number
  /** A random number from 0 to 1, for jitter. */
  readonly chance: number
  /** Whether the watch of all sessions is open: then a session is heard of as soon as it exists. */
  readonly watched: boolean
}

export type Input = Happening & Moment

import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type { AppendError, AppendRequest, Changed } from "./AppendRequest.ts"
import type { PreparedFrame } from "./PreparedFrame.ts"

/** An append that waits for its transaction, and its caller with it. */
export interface QueuedAppend {
  readonly request: AppendRequest
  /** The frames of an `Observe`; empty otherwise. */
  readonly frames: ReadonlyArray<PreparedFrame>
  /** Size of the frames; see `frameBytes`. */
  readonly bytes: number
  /** Unix nanoseconds. */
  readonly askedAt: bigint
  /** Ascends in the order in which appends were asked for. */
  readonly place: number
  /** Tells the caller what became of it; to be called once. */
  readonly answer: (outcome: Exit.Exit<Changed, AppendError>) => Effect.Effect<void>
  /** Nothing has become of it yet, because somebody else has locked the run: it is tried again after a pause. */
  readonly postpone: Effect.Effect<void>
}

/** What becomes of an append when its transaction commits. */
export interface Settled {
  readonly append: QueuedAppend
  readonly outcome: Exit.Exit<Changed, AppendError>
}

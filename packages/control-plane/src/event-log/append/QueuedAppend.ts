import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type { AppendError, AppendRequest, Changed } from "./AppendRequest.ts"
import type { PreparedFrame } from "./PreparedFrame.ts"

/** An append in the queue, and its waiting caller. */
export interface QueuedAppend {
  readonly request: AppendRequest
  /** The frames of an `Observe`; empty otherwise. */
  readonly frames: ReadonlyArray<PreparedFrame>
  /** Size of the frames; see `frameBytes`. */
  readonly bytes: number
  /** Unix nanoseconds. */
  readonly requestedAt: bigint
  /** Ascends in the order of the requests. */
  readonly position: number
  /** Returns the outcome to the caller; to be called once. */
  readonly complete: (outcome: Exit.Exit<Changed, AppendError>) => Effect.Effect<void>
  /** Another transaction has locked the run: the append is tried again after a pause. */
  readonly postpone: Effect.Effect<void>
}

/** The outcome of an append when its transaction commits. */
export interface Settled {
  readonly append: QueuedAppend
  readonly outcome: Exit.Exit<Changed, AppendError>
}

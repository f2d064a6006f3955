import type * as Deferred from "effect/Deferred"
import type * as Exit from "effect/Exit"
import type { AppendError, AppendRequest, Changed } from "./AppendRequest.ts"
import type { PreparedFrame } from "./PreparedFrame.ts"

/** An append that waits for its transaction, and its caller with it. */
export interface QueuedAppend {
  readonly request: AppendRequest
  /** The frames of an `Observe`; empty otherwise. */
  readonly frames: ReadonlyArray<PreparedFrame>
  /** Unix nanoseconds. */
  readonly askedAt: bigint
  readonly done: Deferred.Deferred<Changed, AppendError>
}

/** What becomes of an append when its transaction commits. */
export interface Settled {
  readonly append: QueuedAppend
  readonly outcome: Exit.Exit<Changed, AppendError>
}

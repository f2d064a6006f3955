import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Queue from "effect/Queue"

/** What the observer of a run can see and steer while its stream pump works. */
export interface PumpState {
  /** Number of stored session envelopes, which is the ordinal of the last one as long as none was lost. */
  cursor: number
  /** Ids of the stored envelopes that the runtime itself has written. */
  readonly annotations: Set<string>
  /** A subscription is open, or being opened. */
  connected: boolean
  /** Envelopes have come that are not stored yet. */
  storing: boolean
  /** The session's history can no longer be read from where we stand (http-details section 5.2, "Compacted history"). */
  historyGone: boolean
  /** The session has ended: hurry, and do not announce reconnections any more. */
  draining: boolean
  /** Opened with `draining`: cuts the pause short that the pump may be in. */
  readonly hurry: Latch.Latch
  /** Told after each append; holds only the newest. */
  readonly progress: Queue.Queue<number>
  /** Told when the runtime should be asked for the session's state. */
  readonly check: (delayMs: number) => Effect.Effect<void>
  /** Ends the subscription and begins again with the first envelope. The pump puts itself here when it starts. */
  readAgain: () => void
}

/** The state of a pump that has not started yet. */
export const makePumpState = Effect.fnUntraced(function* (
  start: Pick<PumpState, "cursor" | "check"> & { readonly annotations: ReadonlyArray<string> }
) {
  const state: PumpState = {
    cursor: start.cursor,
    annotations: new Set(start.annotations),
    connected: false,
    storing: false,
    historyGone: false,
    draining: false,
    hurry: yield* Latch.make(false),
    progress: yield* Queue.sliding<number>(1),
    check: start.check,
    readAgain: () => {}
  }
  return state
})

import type { ObservedFrame } from "../../event-log/append/AppendRequest.ts"
import { totalBytes } from "../../event-log/append/FrameBytes.ts"
import type { Action } from "./Action.ts"
import { FRAMES_PER_APPEND } from "./Input.ts"
import type { EarlyStream, Unbound } from "./State.ts"

/**
 * The subscription of a run that is not bound yet. A runtime may drop the history of a session the moment it ends, so
 * the session is subscribed to as soon as it can exist, and its frames wait here for the binding
 * (docs/internals/runtime.md#early-subscription). What is too much for one append is read again once the run is bound.
 */

/** Most bytes that wait for the binding, unless the first frames alone have more. */
const HELD_BYTES = 1024 * 1024

export const noEarlyStream: EarlyStream = { subscription: 0, open: false, frames: [], bytes: 0 }

type Early<A extends Unbound = Unbound> = readonly [A, ReadonlyArray<Action>]

/** Subscribes, unless that has been done and has not come to nothing. */
export const subscribeEarly = (state: Unbound): Early => {
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

/** Holds what has come on the subscription. */
export const hold = (state: Unbound, subscription: number, arrived: ReadonlyArray<ObservedFrame>): Early => {
  if (!isCurrent(state, subscription)) return [state, []]
  const { early } = state
  const frames = [...early.frames, ...arrived]
  const bytes = early.bytes + totalBytes(arrived)
  const isFull = early.frames.length > 0 && (frames.length > FRAMES_PER_APPEND || bytes > HELD_BYTES)
  return isFull
    ? [{ ...state, early: { ...early, open: false } }, [{ _tag: "Unsubscribe" }]]
    : [{ ...state, early: { ...early, frames, bytes } }, []]
}

/** The subscription has ended; what it has brought is kept. */
export const endEarly = (state: Unbound, subscription: number): Unbound =>
  isCurrent(state, subscription) ? { ...state, early: { ...state.early, open: false } } : state

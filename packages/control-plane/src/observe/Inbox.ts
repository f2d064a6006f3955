import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import type { ObservedFrame } from "../log/AppendRequest.ts"
import type { Happening, Input } from "./decide/Input.ts"

/** Frames of one run that may wait for the log; behind a full inbox HTTP/2 flow control slows the runtime down. */
export const FRAME_BUFFER = 2048
/**
 * Most frames of one append. Fewer whenever fewer are waiting: the batch is whatever came while the last one committed.
 */
export const FRAMES_PER_APPEND = 500

interface Frame {
  readonly _tag: "Frame"
  readonly subscription: number
  readonly frame: ObservedFrame
}

/** What one observation hears of, in the order in which it came; replies of the log come before everything else. */
export interface Inbox {
  /** Waits while the inbox is full. */
  readonly put: (happening: Happening) => Effect.Effect<void>
  readonly putFrames: (subscription: number, frames: ReadonlyArray<ObservedFrame>) => Effect.Effect<void>
  /** For the observation itself, which must not wait for its own inbox. */
  readonly reply: (happening: Happening) => void
  /** What feeds the inbox is broken: the observation fails once it has read the rest. */
  readonly die: (defect: unknown) => Effect.Effect<void>
  readonly next: Effect.Effect<Input>
}

export const makeInbox: Effect.Effect<Inbox> = Effect.gen(function* () {
  const queue = yield* Queue.bounded<Frame | Happening>(FRAME_BUFFER)
  const replies: Array<Happening> = []
  const taken: Array<Happening> = []

  const take = Effect.gen(function* () {
    while (true) {
      const waiting = replies.shift() ?? taken.shift()
      if (waiting !== undefined) return waiting
      taken.push(...inBatches(yield* Queue.takeBetween(queue, 1, FRAMES_PER_APPEND)))
    }
  })

  return {
    put: (happening) => Effect.asVoid(Queue.offer(queue, happening)),
    putFrames: (subscription, frames) =>
      Effect.asVoid(
        Queue.offerAll(
          queue,
          frames.map((frame) => ({ _tag: "Frame", subscription, frame }) as const)
        )
      ),
    reply: (happening) => {
      replies.push(happening)
    },
    die: (defect) => Effect.asVoid(Queue.failCause(queue, Cause.die(defect))),
    next: Effect.gen(function* () {
      const happening = yield* take
      return { ...happening, at: yield* Clock.currentTimeMillis, chance: yield* Random.next }
    })
  }
})

/** Frames that follow each other on the same subscription are one batch. */
const inBatches = (arrived: ReadonlyArray<Frame | Happening>): ReadonlyArray<Happening> => {
  const happenings: Array<Happening> = []
  let batch: { readonly subscription: number; readonly frames: Array<ObservedFrame> } | undefined
  for (const item of arrived) {
    if (item._tag !== "Frame") {
      batch = undefined
      happenings.push(item)
    } else if (batch?.subscription === item.subscription) {
      batch.frames.push(item.frame)
    } else {
      batch = { subscription: item.subscription, frames: [item.frame] }
      happenings.push({ _tag: "Frames", ...batch })
    }
  }
  return happenings
}

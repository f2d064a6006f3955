import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import type { ObservedFrame } from "../event-log/append/AppendRequest.ts"
import type { BatchDelay } from "../event-log/append/BatchDelay.ts"
import type { BudgetShare } from "../event-log/append/FrameBudget.ts"
import { partsOfBytes, totalBytes } from "../event-log/append/FrameBytes.ts"
import { Permits } from "../event-log/append/Permits.ts"
import { FRAMES_PER_APPEND, type Happening, type Moment, type SessionUpdate } from "./decide/Input.ts"

/** Everything else that may wait; who brings more waits. */
export const OTHERS_WAITING = 256

interface Frame {
  readonly _tag: "Frame"
  readonly subscription: number
  readonly frame: ObservedFrame
}

/**
 * What one observation hears of, in the order in which it came; replies of the log come before everything else. Frames
 * hold their part of the budget until the observation asks for what comes after them, so whoever brings frames waits
 * while the log is slow (docs/reference/events.md#bounds).
 */
export interface Inbox {
  /** Waits while the inbox is full. */
  readonly put: (happening: Happening) => Effect.Effect<void>
  readonly putFrames: (subscription: number, frames: ReadonlyArray<ObservedFrame>) => Effect.Effect<void>
  /**
   * For those who cannot wait. An inbox that is full keeps the newest of them: it is what the session is like now, or
   * makes the observation ask.
   */
  readonly hear: (update: SessionUpdate) => void
  /** For the observation itself, which must not wait for its own inbox. */
  readonly reply: (happening: Happening) => void
  /** What feeds the inbox is broken: the observation fails once it has read the rest. */
  readonly die: (defect: unknown) => Effect.Effect<void>
  readonly next: Effect.Effect<Happening & Omit<Moment, "watched">>
}

/** What is read from the queue at once, and what that gives back to those who wait. */
interface Taken {
  readonly happening: Happening
  readonly bytes: number
  readonly others: number
}

export interface InboxOptions {
  /** The run's share of the budget. */
  readonly budget: BudgetShare
  readonly pace: Pick<BatchDelay["Service"], "come" | "due">
  /** Most bytes of a batch. */
  readonly appendBytes: number
  /** What is done with frames that are about to wait. */
  readonly prepare: (frames: ReadonlyArray<ObservedFrame>) => ReadonlyArray<ObservedFrame>
}

export const makeInbox = Effect.fnUntraced(function* ({
  appendBytes,
  budget,
  pace,
  prepare
}: InboxOptions): Effect.fn.Return<Inbox> {
  const others = new Permits(OTHERS_WAITING)
  const queue = yield* Queue.unbounded<Frame | Happening>()
  const replies: Array<Happening> = []
  const taken: Array<Taken> = []
  let current: Taken | undefined
  /** Heard when there was no room. */
  let missed: SessionUpdate | undefined

  const hear = (update: SessionUpdate) => {
    missed = others.tryTake(1) ? undefined : update
    if (missed === undefined) Queue.offerUnsafe(queue, update)
  }

  const take = Effect.gen(function* () {
    if (current !== undefined) {
      budget.give(current.bytes)
      others.give(current.others)
      current = undefined
      if (missed !== undefined) hear(missed)
    }
    while (true) {
      const reply = replies.shift()
      if (reply !== undefined) return reply
      current = taken.shift()
      if (current !== undefined) return current.happening
      const arrived = yield* Queue.takeBetween(queue, 1, FRAMES_PER_APPEND)
      if (arrived.some(({ _tag }) => _tag === "Frame")) {
        yield* pace.due
        const further = Math.min(Queue.sizeUnsafe(queue), FRAMES_PER_APPEND - arrived.length)
        if (further > 0) arrived.push(...(yield* Queue.takeN(queue, further)))
      }
      taken.push(...inBatches(arrived, appendBytes))
    }
  })

  return {
    put: (happening) =>
      Effect.uninterruptibleMask((interruptible) =>
        Effect.map(interruptible(others.take(1)), () => void Queue.offerUnsafe(queue, happening))
      ),
    putFrames: (subscription, frames) =>
      Effect.forEach(
        partsOfBytes(frames, appendBytes),
        (part) =>
          budget.hold(totalBytes(part), () => {
            pace.come(part.length)
            for (const frame of prepare(part)) Queue.offerUnsafe(queue, { _tag: "Frame", subscription, frame })
          }),
        { discard: true }
      ),
    hear,
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

/** Frames that follow each other on the same subscription are one batch, up to its bound in bytes. */
const inBatches = (arrived: ReadonlyArray<Frame | Happening>, mostBytes: number): ReadonlyArray<Taken> => {
  const taken: Array<Taken> = []
  let batch: { readonly subscription: number; readonly frames: Array<ObservedFrame> } | undefined
  const close = () => {
    if (batch === undefined) return
    const { subscription, frames } = batch
    for (const part of partsOfBytes(frames, mostBytes)) {
      const happening: Happening = { _tag: "Frames", subscription, frames: part }
      taken.push({ happening, bytes: totalBytes(part), others: 0 })
    }
    batch = undefined
  }
  for (const item of arrived) {
    if (item._tag !== "Frame") {
      close()
      taken.push({ happening: item, bytes: 0, others: 1 })
    } else if (batch?.subscription === item.subscription) {
      batch.frames.push(item.frame)
    } else {
      close()
      batch = { subscription: item.subscription, frames: [item.frame] }
    }
  }
  close()
  return taken
}

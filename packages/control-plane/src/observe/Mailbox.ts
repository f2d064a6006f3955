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
import { FRAMES_PER_APPEND, type Message, type Moment, type SessionUpdate } from "./decide/Input.ts"

/** Most other messages that wait; a further producer waits. */
export const OTHER_MESSAGES = 256

interface Frame {
  readonly _tag: "Frame"
  readonly subscription: number
  readonly frame: ObservedFrame
}

/**
 * The messages to one observation, in the order of their arrival; replies of the log precede all others. Frames use
 * their share of the budget until the observation takes the next message, so a stream waits while the log is slow
 * (docs/reference/events.md#bounds). Effect's Queue has neither the bound in bytes nor the merging of updates.
 */
export interface Mailbox {
  /** Waits while the mailbox is full. */
  readonly put: (message: Message) => Effect.Effect<void>
  readonly putFrames: (subscription: number, frames: ReadonlyArray<ObservedFrame>) => Effect.Effect<void>
  /**
   * Never waits. A full mailbox keeps only the newest update: the current state of the session, or a reason to query
   * it.
   */
  readonly update: (update: SessionUpdate) => void
  /** For the observation itself, which must not wait for its own mailbox. */
  readonly reply: (message: Message) => void
  /** A producer is broken: the observation fails after the messages in the mailbox. */
  readonly die: (defect: unknown) => Effect.Effect<void>
  readonly next: Effect.Effect<Message & Omit<Moment, "watched">>
}

/** One message from the queue, and the capacity that it releases. */
interface Taken {
  readonly message: Message
  readonly bytes: number
  readonly others: number
}

export interface MailboxOptions {
  readonly budget: BudgetShare
  readonly delay: Pick<BatchDelay["Service"], "come" | "due">
  /** Most bytes of a batch. */
  readonly appendBytes: number
}

export const makeMailbox = Effect.fnUntraced(function* ({
  appendBytes,
  budget,
  delay
}: MailboxOptions): Effect.fn.Return<Mailbox> {
  const others = new Permits(OTHER_MESSAGES)
  const queue = yield* Queue.unbounded<Frame | Message>()
  const replies: Array<Message> = []
  const taken: Array<Taken> = []
  let current: Taken | undefined
  /** The newest update that did not fit. */
  let missed: SessionUpdate | undefined

  const update = (next: SessionUpdate) => {
    missed = others.tryTake(1) ? undefined : next
    if (missed === undefined) Queue.offerUnsafe(queue, next)
  }

  const take = Effect.gen(function* () {
    if (current !== undefined) {
      budget.release(current.bytes)
      others.release(current.others)
      current = undefined
      if (missed !== undefined) update(missed)
    }
    while (true) {
      const reply = replies.shift()
      if (reply !== undefined) return reply
      current = taken.shift()
      if (current !== undefined) return current.message
      const arrived = yield* Queue.takeBetween(queue, 1, FRAMES_PER_APPEND)
      if (arrived.some(({ _tag }) => _tag === "Frame")) {
        yield* delay.due
        const further = Math.min(Queue.sizeUnsafe(queue), FRAMES_PER_APPEND - arrived.length)
        if (further > 0) arrived.push(...(yield* Queue.takeN(queue, further)))
      }
      taken.push(...inBatches(arrived, appendBytes))
    }
  })

  return {
    put: (message) =>
      Effect.uninterruptibleMask((interruptible) =>
        Effect.map(interruptible(others.take(1)), () => void Queue.offerUnsafe(queue, message))
      ),
    putFrames: (subscription, frames) =>
      Effect.forEach(
        partsOfBytes(frames, appendBytes),
        (part) =>
          budget.acquire(totalBytes(part), () => {
            delay.come(part.length)
            for (const frame of part) Queue.offerUnsafe(queue, { _tag: "Frame", subscription, frame })
          }),
        { discard: true }
      ),
    update,
    reply: (message) => {
      replies.push(message)
    },
    die: (defect) => Effect.asVoid(Queue.failCause(queue, Cause.die(defect))),
    next: Effect.gen(function* () {
      const message = yield* take
      return { ...message, at: yield* Clock.currentTimeMillis, chance: yield* Random.next }
    })
  }
})

/** Consecutive frames of one subscription are a batch, up to its bound in bytes. */
const inBatches = (arrived: ReadonlyArray<Frame | Message>, mostBytes: number): ReadonlyArray<Taken> => {
  const taken: Array<Taken> = []
  let batch: { readonly subscription: number; readonly frames: Array<ObservedFrame> } | undefined
  const close = () => {
    if (batch === undefined) return
    const { subscription, frames } = batch
    for (const part of partsOfBytes(frames, mostBytes)) {
      const message: Message = { _tag: "Frames", subscription, frames: part }
      taken.push({ message, bytes: totalBytes(part), others: 0 })
    }
    batch = undefined
  }
  for (const item of arrived) {
    if (item._tag !== "Frame") {
      close()
      taken.push({ message: item, bytes: 0, others: 1 })
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

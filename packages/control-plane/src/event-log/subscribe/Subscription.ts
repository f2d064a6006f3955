import * as Effect from "effect/Effect"
import type { LiveBatch } from "./LiveBatch.ts"
import { Wakeup } from "./Wakeup.ts"

/** The subscriber fell behind, or another process wrote: read the database from the last seq received. */
export interface LiveGap {
  readonly _tag: "Gap"
}

/** Batches, and characters of their events, queued for one slow subscriber before they become a gap. */
export const SUBSCRIBER_CAPACITY = 64
export const SUBSCRIBER_CHARACTERS = 1024 * 1024

/**
 * The bounded queue of one subscriber of a run. When it is full, a gap replaces the next batches. A subscriber that
 * keeps up has an empty queue; a ring buffer, as the streams of the log share it, would keep the last batches of each
 * of thousands of runs.
 */
export class Subscription extends Wakeup<LiveBatch> {
  readonly #queue: Array<LiveBatch | LiveGap> = []
  /** Of the events in the queue. */
  #characters = 0
  #isLagging = false

  readonly #audience: { readonly size: number }
  /** The number of this subscriber, counted from 0 when it subscribed. */
  readonly position: number

  /** `audience` are all subscribers of the run, without this one. */
  constructor(audience: { readonly size: number } = { size: 1 }) {
    super()
    this.#audience = audience
    this.position = audience.size
  }

  /** The number of subscribers of the run. */
  get audience(): number {
    return this.#audience.size
  }

  put(item: LiveBatch | LiveGap): void {
    if (this.#isLagging) return
    if (item._tag === "Batch" && this.offer(item)) return
    // The last slot is reserved for the gap, and an empty queue takes a batch of any size.
    if (item._tag === "Batch" && this.#hasCapacityFor(item)) {
      this.#characters += item.characters
      this.#queue.push(item)
    } else {
      this.#isLagging = true
      this.#queue.push({ _tag: "Gap" })
    }
    this.wake()
  }

  #hasCapacityFor(batch: LiveBatch): boolean {
    const count = this.#queue.length
    if (count >= SUBSCRIBER_CAPACITY) return false
    return count === 0 || this.#characters + batch.characters <= SUBSCRIBER_CHARACTERS
  }

  /** The next item; undefined when the queue is empty. */
  poll(): LiveBatch | LiveGap | undefined {
    const item = this.#queue.shift()
    if (item?._tag === "Gap") this.#isLagging = false
    else if (item !== undefined) this.#characters -= item.characters
    return item
  }

  /** Waits for the next item. */
  readonly take: Effect.Effect<LiveBatch | LiveGap> = Effect.suspend(() => {
    const item = this.poll()
    return item === undefined ? Effect.andThen(this.wait(), this.take) : Effect.succeed(item)
  })
}

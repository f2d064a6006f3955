import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type { LiveBatch } from "./LiveBatch.ts"

/** The subscriber fell behind, or another instance wrote: read the database from the last seq seen. */
export interface LiveGap {
  readonly _tag: "Gap"
}

/** Does at once what a waiting subscriber would do with a batch; false leaves it to the subscriber. */
export type HandOn = (batch: LiveBatch) => boolean

/** Batches, and characters of their events, held for one slow subscriber before it is sent back to the database. */
export const SUBSCRIBER_CAPACITY = 64
export const SUBSCRIBER_CHARACTERS = 1024 * 1024

/** The pending batches of one subscriber of a run: bounded, and then a gap. */
export class Subscription {
  readonly #held: Array<LiveBatch | LiveGap> = []
  readonly #news = Latch.makeUnsafe(false)
  #tryDeliver: HandOn | undefined
  /** Of the events that are held. */
  #characters = 0
  #isLagging = false

  readonly #audience: { readonly size: number }
  /** Its index among the subscribers. */
  readonly place: number

  /** `audience` are the subscribers of the run before this one. */
  constructor(audience: { readonly size: number } = { size: 1 }) {
    this.#audience = audience
    this.place = audience.size
  }

  /** The number of subscribers of the run. */
  get audience(): number {
    return this.#audience.size
  }

  put(item: LiveBatch | LiveGap): void {
    if (this.#isLagging) return
    if (item._tag === "Batch" && this.#tryDeliver?.(item) === true) return
    // One slot stays free for the gap itself, and a batch of any size is accepted alone.
    if (item._tag === "Batch" && this.#hasCapacityFor(item)) {
      this.#characters += item.characters
      this.#held.push(item)
    } else {
      this.#isLagging = true
      this.#held.push({ _tag: "Gap" })
    }
    this.wake()
  }

  #hasCapacityFor(batch: LiveBatch): boolean {
    const count = this.#held.length
    if (count >= SUBSCRIBER_CAPACITY) return false
    return count === 0 || this.#characters + batch.characters <= SUBSCRIBER_CHARACTERS
  }

  /** The next item; undefined when there is none. */
  takeNow(): LiveBatch | LiveGap | undefined {
    const item = this.#held.shift()
    if (item?._tag === "Gap") this.#isLagging = false
    else if (item !== undefined) this.#characters -= item.characters
    return item
  }

  /** Wakes the waiting, or the next, reader without an item. */
  wake(): void {
    this.#tryDeliver = undefined
    this.#news.openUnsafe()
  }

  /**
   * Waits for an item or for `wake`, which may have been called before; for one reader at a time. Batches that
   * `tryDeliver` accepts do not wake the reader.
   */
  waken(tryDeliver?: HandOn): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#held.length > 0) return Effect.void
      this.#tryDeliver = tryDeliver
      // A reader that is no longer waiting drains the queue itself, in its order.
      return Effect.andThen(Effect.ensuring(this.#news.await, this.#forgetHandOn), this.#news.close)
    })
  }

  readonly #forgetHandOn = Effect.sync(() => {
    this.#tryDeliver = undefined
  })

  /** Waits for the next item. */
  readonly take: Effect.Effect<LiveBatch | LiveGap> = Effect.suspend(() => {
    const item = this.takeNow()
    return item === undefined ? Effect.andThen(this.waken(), this.take) : Effect.succeed(item)
  })
}

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

/** What one subscriber of a run has been told and has not taken yet: so much at most, and then a gap. */
export class Subscription {
  readonly #held: Array<LiveBatch | LiveGap> = []
  readonly #news = Latch.makeUnsafe(false)
  #tryDeliver: HandOn | undefined
  /** Of the events that are held. */
  #characters = 0
  #isLagging = false

  readonly #audience: { readonly size: number }
  /** Which of the audience it is, counted when it came. */
  readonly place: number

  /** `audience` are all who are told of the run, this one not yet. */
  constructor(audience: { readonly size: number } = { size: 1 }) {
    this.#audience = audience
    this.place = audience.size
  }

  /** How many are told of the run. */
  get audience(): number {
    return this.#audience.size
  }

  put(item: LiveBatch | LiveGap): void {
    if (this.#isLagging) return
    if (item._tag === "Batch" && this.#tryDeliver?.(item) === true) return
    // One place is kept free for the gap itself, and a batch of any size is taken alone.
    if (item._tag === "Batch" && this.#hasRoomFor(item)) {
      this.#characters += item.characters
      this.#held.push(item)
    } else {
      this.#isLagging = true
      this.#held.push({ _tag: "Gap" })
    }
    this.wake()
  }

  #hasRoomFor(batch: LiveBatch): boolean {
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

  /** Makes whoever waits, or waits next, look again, although nothing may have come. */
  wake(): void {
    this.#tryDeliver = undefined
    this.#news.openUnsafe()
  }

  /**
   * Waits until something comes, or until it is woken, which may have been before; for one at a time. Batches that
   * `tryDeliver` takes meanwhile wake nobody.
   */
  waken(tryDeliver?: HandOn): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#held.length > 0) return Effect.void
      this.#tryDeliver = tryDeliver
      // Whoever does not wait any more brings what comes by itself, in its order.
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

import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"

/** What wakes the feed of one follower of the log, or is done in its place while it waits. */
export class LogWakeup {
  readonly #latch = Latch.makeUnsafe(false)
  #tryDeliver: (() => boolean) | undefined

  /** Something has come. */
  tell(): void {
    if (this.#tryDeliver?.() !== true) this.wake()
  }

  /** Makes whoever waits, or waits next, look again. */
  wake(): void {
    this.#tryDeliver = undefined
    this.#latch.openUnsafe()
  }

  /** Nothing has come that is not known. */
  clear(): void {
    this.#latch.closeUnsafe()
  }

  /** Waits for a wake-up, also an earlier one. While it waits, `tryDeliver` returns true for news that it delivered. */
  wait(tryDeliver: () => boolean): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#tryDeliver = tryDeliver
      // A reader that is no longer waiting drains the news itself, in order.
      return Effect.ensuring(this.#latch.await, this.#clearTryDeliver)
    })
  }

  readonly #clearTryDeliver = Effect.sync(() => {
    this.#tryDeliver = undefined
  })
}

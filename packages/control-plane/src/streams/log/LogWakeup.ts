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

  /** Waits until it is woken, which may have been before; `tryDeliver` answers whether what has come needs nobody woken. */
  wait(tryDeliver: () => boolean): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#tryDeliver = tryDeliver
      // Whoever does not wait any more brings what comes by itself, in its order.
      return Effect.ensuring(this.#latch.await, this.#forgetHandOn)
    })
  }

  readonly #forgetHandOn = Effect.sync(() => {
    this.#tryDeliver = undefined
  })
}

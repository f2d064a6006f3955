import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"

/** Wakes one waiting reader. While the reader waits, `tryDeliver` may deliver an item without waking it. */
export class Wakeup<Item = undefined> {
  readonly #latch = Latch.makeUnsafe(false)
  #tryDeliver: ((item: Item) => boolean) | undefined

  /** Whether a waiting reader delivered the item with its `tryDeliver`. */
  offer(item: Item): boolean {
    return this.#tryDeliver?.(item) === true
  }

  /** Wakes the reader, or ends its next wait at once. */
  wake(): void {
    this.#tryDeliver = undefined
    this.#latch.openUnsafe()
  }

  /** Waits for `wake`, which may have been called before; for one reader at a time. */
  wait(tryDeliver?: (item: Item) => boolean): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#tryDeliver = tryDeliver
      // A reader that is no longer waiting drains its items itself, in order.
      return Effect.andThen(Effect.ensuring(this.#latch.await, this.#clear), this.#latch.close)
    })
  }

  readonly #clear = Effect.sync(() => {
    this.#tryDeliver = undefined
  })
}

import * as Effect from "effect/Effect"

interface Waiting {
  readonly count: number
  readonly grant: () => void
}

/**
 * So many permits, handed out in the order in which they were asked for: who asks for many is not overtaken for ever by
 * those who ask for few. Who asks for more than there are gets all of them, alone.
 */
export class Permits {
  readonly #capacity: number
  readonly #waiting = new Set<Waiting>()
  #held = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get held(): number {
    return this.#held
  }

  take(asked: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      const count = Math.min(asked, this.#capacity)
      let granted = false
      return Effect.callback<void>((resume) => {
        const waiting: Waiting = {
          count,
          grant: () => {
            granted = true
            this.#held += count
            resume(Effect.void)
          }
        }
        this.#waiting.add(waiting)
        this.#serve()
        return Effect.sync(() => {
          this.#waiting.delete(waiting)
          this.#serve()
        })
      }).pipe(Effect.onInterrupt(() => Effect.sync(() => (granted ? this.give(count) : undefined))))
    })
  }

  give(given: number): void {
    this.#held -= Math.min(given, this.#capacity)
    this.#serve()
  }

  #serve(): void {
    for (const waiting of this.#waiting) {
      if (this.#held + waiting.count > this.#capacity) return
      this.#waiting.delete(waiting)
      waiting.grant()
    }
  }
}

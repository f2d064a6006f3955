import * as Effect from "effect/Effect"

interface Waiting {
  readonly count: number
  readonly grant: () => void
}

/**
 * A number of permits, granted in the order of the requests. A request for more than the capacity gets all permits,
 * alone. The `Semaphore` of effect grants a small request before a large one that waits, so a stream of small frames
 * would starve a large frame.
 */
export class Permits {
  readonly #capacity: number
  /** Made when the first request has to wait: most never do. */
  #waiting: Set<Waiting> | undefined
  #used = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get used(): number {
    return this.#used
  }

  /** Takes available permits when no request waits; false when it would have to wait. */
  tryTake(wanted: number): boolean {
    const count = Math.min(wanted, this.#capacity)
    if (!this.#isAvailable(count)) return false
    this.#used += count
    return true
  }

  take(wanted: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      const count = Math.min(wanted, this.#capacity)
      let granted = false
      const grant = () => {
        granted = true
        this.#used += count
      }
      return this.#whenAvailable(count, grant).pipe(
        Effect.onInterrupt(() => Effect.sync(() => (granted ? this.release(count) : undefined)))
      )
    })
  }

  #whenAvailable(count: number, grant: () => void): Effect.Effect<void> {
    return Effect.callback((resume) => {
      const waiting: Waiting = {
        count,
        grant: () => {
          grant()
          resume(Effect.void)
        }
      }
      if (this.#isAvailable(count)) return waiting.grant()
      this.#waiting ??= new Set()
      this.#waiting.add(waiting)
      return Effect.sync(() => {
        this.#waiting?.delete(waiting)
        this.#serve()
      })
    })
  }

  /** No request waits, and the permits are available. */
  #isAvailable(count: number): boolean {
    return (this.#waiting?.size ?? 0) === 0 && this.#used + count <= this.#capacity
  }

  release(count: number): void {
    this.#used -= Math.min(count, this.#capacity)
    this.#serve()
  }

  #serve(): void {
    for (const waiting of this.#waiting ?? []) {
      if (this.#used + waiting.count > this.#capacity) return
      this.#waiting?.delete(waiting)
      waiting.grant()
    }
  }
}

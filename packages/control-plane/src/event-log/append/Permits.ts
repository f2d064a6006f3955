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
  /** Made when somebody has to wait: nobody does for most of those who have permits. */
  #waiting: Set<Waiting> | undefined
  #held = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get held(): number {
    return this.#held
  }

  /** Takes permits that are there, with nobody waiting for them; false when it would have to wait. */
  tryTake(asked: number): boolean {
    const count = Math.min(asked, this.#capacity)
    if (!this.#isThere(count)) return false
    this.#held += count
    return true
  }

  take(asked: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      const count = Math.min(asked, this.#capacity)
      let granted = false
      const grant = () => {
        granted = true
        this.#held += count
      }
      return this.#whenThere(count, grant).pipe(
        Effect.onInterrupt(() => Effect.sync(() => (granted ? this.give(count) : undefined)))
      )
    })
  }

  #whenThere(count: number, grant: () => void): Effect.Effect<void> {
    return Effect.callback((resume) => {
      const waiting: Waiting = {
        count,
        grant: () => {
          grant()
          resume(Effect.void)
        }
      }
      if (this.#isThere(count)) return waiting.grant()
      this.#waiting ??= new Set()
      this.#waiting.add(waiting)
      return Effect.sync(() => {
        this.#waiting?.delete(waiting)
        this.#serve()
      })
    })
  }

  /** Nobody waits, and there are so many. */
  #isThere(count: number): boolean {
    return (this.#waiting?.size ?? 0) === 0 && this.#held + count <= this.#capacity
  }

  give(given: number): void {
    this.#held -= Math.min(given, this.#capacity)
    this.#serve()
  }

  #serve(): void {
    for (const waiting of this.#waiting ?? []) {
      if (this.#held + waiting.count > this.#capacity) return
      this.#waiting?.delete(waiting)
      waiting.grant()
    }
  }
}

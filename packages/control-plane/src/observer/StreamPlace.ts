import type { ObservedFrame } from "../events/AppendRequest.ts"

/**
 * Where a run's next subscription begins. Envelopes bear no number on the wire (runtime-wire section 3.4), so this is the number
 * of stored ones, but for two cases, in which the place is counted in what was delivered instead:
 *
 * - a subscription that brought only what the log has: envelopes were lost before, so the stored ones are fewer than the
 *   passed ones, and to begin at their number again could bring the same repetitions for ever;
 * - the history is being read again from its beginning.
 *
 * Both may count too little, which costs repetitions, and never too much: a repeated frame follows the one it repeats.
 */
export class StreamPlace {
  #after = 0
  #delivered = 0
  #lastId: string | undefined
  #stored = 0
  #reading: "on" | "again" = "on"
  #restart = false
  /** Undefined: behind what is stored. */
  #next: number | undefined

  /** The ordinal to subscribe after. `stored` is how many envelopes the log has. */
  open(stored: number): number {
    if (this.#restart) {
      this.#reading = "again"
      this.#next = 0
    } else if (this.#delivered > 0) {
      const fresh = this.#reading === "on" && stored > this.#stored
      this.#next = fresh ? undefined : this.#after + this.#delivered
    }
    this.#restart = false
    this.#after = this.#next ?? stored
    this.#delivered = 0
    this.#lastId = undefined
    this.#stored = stored
    return this.#after
  }

  /** Counts frames of the session that are in the log now, whether or not they were new to it. */
  passed(frames: ReadonlyArray<ObservedFrame>): void {
    for (const { frame } of frames) {
      if (frame.kind !== "stream-envelope" || frame.envelope.messageId === this.#lastId) continue
      this.#lastId = frame.envelope.messageId
      this.#delivered += 1
    }
  }

  /** The next subscription begins with the first envelope, whatever is stored, and those after it go on from there. */
  readAgain(): void {
    this.#restart = true
  }
}

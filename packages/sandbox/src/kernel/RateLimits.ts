import type { RateLimitOptions } from "../SandboxOptions.ts"

/** The window both limits count in, in milliseconds. */
const WINDOW_MS = 60_000

/** Sliding-minute limits per sender (docs/internals/runtime.md#runtime-limits). Without options everything passes. */
export class RateLimits {
  readonly #options: RateLimitOptions | undefined
  readonly #starts = new Map<string, Array<number>>()
  readonly #messages = new Map<string, Array<number>>()

  constructor(options: RateLimitOptions | undefined) {
    this.#options = options
  }

  /** Counts one envelope of `sender` at `now` (milliseconds); false when it is over the limit, which does not count. */
  admit(sender: string, isStart: boolean, now: number): boolean {
    if (this.#options === undefined) return true
    return isStart
      ? take(this.#starts, sender, this.#options.sessionStartsPerMinute, now)
      : take(this.#messages, sender, this.#options.messagesPerMinute, now)
  }

  /** Forgets senders whose window is empty. */
  prune(now: number): void {
    for (const table of [this.#starts, this.#messages]) {
      for (const [sender, times] of table) {
        if ((times.at(-1) ?? 0) <= now - WINDOW_MS) table.delete(sender)
      }
    }
  }
}

const take = (table: Map<string, Array<number>>, sender: string, limit: number, now: number): boolean => {
  const recent = (table.get(sender) ?? []).filter((time) => time > now - WINDOW_MS)
  table.set(sender, recent)
  if (recent.length >= limit) return false
  recent.push(now)
  return true
}

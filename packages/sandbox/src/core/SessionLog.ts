import type { Envelope } from "@runplane/runtime"

export interface AcceptedEnvelope {
  readonly envelope: Envelope
  /** Server clock at acceptance, Unix milliseconds. */
  readonly receivedAt: number
}

/**
 * The accepted envelopes of a session in acceptance order, and the subscribers that wait for the next one. The n-th
 * accepted envelope has ordinal n; `base` ordinals before the first entry were dropped by compaction
 * (docs/internals/runtime.md#ordinals).
 *
 * A subscriber reads the log by ordinal instead of keeping a copy of the unsent messages: replay and live are the same
 * read, so nothing can be lost or doubled between them.
 */
export class SessionLog {
  /** Ordinals before the first entry. */
  readonly #offset: number
  #hidden = 0
  readonly #entries: Array<AcceptedEnvelope> = []
  readonly #listeners = new Set<() => void>()
  #unannounced = false

  constructor(base: number) {
    this.#offset = base
  }

  /** Ordinals that can no longer be read. */
  get base(): number {
    return this.#offset + this.#hidden
  }

  /** The last ordinal. */
  get end(): number {
    return this.#offset + this.#entries.length
  }

  append(entry: AcceptedEnvelope): void {
    this.#entries.push(entry)
    this.#unannounced = true
  }

  at(ordinal: number): AcceptedEnvelope | undefined {
    return this.#entries[ordinal - this.#offset - 1]
  }

  entries(): ReadonlyArray<AcceptedEnvelope> {
    return this.#entries.slice(this.#hidden)
  }

  /** Refuses everything accepted so far to later subscribers, while those that are reading it read on. */
  hideHistory(): void {
    this.#hidden = this.#entries.length
  }

  /**
   * Wakes the listeners when something was appended since the last time. Separate from `append`, because WatchSessions
   * announces an ending before the stream does (docs/internals/runtime.md#stream-silence).
   */
  notify(): void {
    if (!this.#unannounced) return
    this.#unannounced = false
    for (const listener of this.#listeners) listener()
  }

  /** Calls `listener` when there is something new. The answer stops it. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

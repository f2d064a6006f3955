/** A receiver fell further behind than its buffer allows (docs/internals/runtime.md#stream-silence). */
export class ReceiverLagged extends Error {
  override readonly name = "ReceiverLagged"
}

/**
 * A bounded buffer between the kernel, which never waits, and one watcher, which reads at the speed of its connection.
 * A full buffer ends the watch instead of holding the kernel up or growing. It is read as an async iterable because
 * that is what the gRPC server consumes; a fiber per item would only add cost.
 */
export class Mailbox<A> {
  readonly #capacity: number
  readonly #onLag: "fail" | "end"
  #items: Array<A> = []
  #wake: (() => void) | undefined
  #ended = false
  #lagged = false

  /** `onLag` is how a slow receiver ends: with RESOURCE_EXHAUSTED, or silently. */
  constructor(capacity: number, onLag: "fail" | "end") {
    this.#capacity = capacity
    this.#onLag = onLag
  }

  offer(item: A): void {
    if (this.#ended) return
    if (this.#items.length >= this.#capacity) {
      this.#items = []
      this.#lagged = true
      this.#ended = true
    } else this.#items.push(item)
    this.#wake?.()
  }

  end(): void {
    this.#ended = true
    this.#wake?.()
  }

  async *read(): AsyncGenerator<A> {
    for (;;) {
      const batch = this.#items
      this.#items = []
      yield* batch
      if (this.#items.length > 0) continue
      if (this.#lagged && this.#onLag === "fail") throw new ReceiverLagged("receiver fell behind")
      if (this.#ended) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}

/** The watchers of one kind of event. */
export class Hub<A> {
  readonly #mailboxes = new Set<Mailbox<A>>()
  readonly #capacity: number
  readonly #onLag: "fail" | "end"

  constructor(capacity: number, onLag: "fail" | "end") {
    this.#capacity = capacity
    this.#onLag = onLag
  }

  publish(item: A): void {
    for (const mailbox of this.#mailboxes) mailbox.offer(item)
  }

  /** Nothing published after this call is missed. The watch ends when `signal` aborts. */
  subscribe(signal: AbortSignal): AsyncGenerator<A> {
    const mailbox = new Mailbox<A>(this.#capacity, this.#onLag)
    this.#mailboxes.add(mailbox)
    const leave = () => {
      this.#mailboxes.delete(mailbox)
      mailbox.end()
    }
    if (signal.aborted) leave()
    else signal.addEventListener("abort", leave, { once: true })
    return mailbox.read()
  }
}

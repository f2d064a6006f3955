/** How much of a shadow its server takes. Above any of them the server stops. */
export interface ShadowLimits {
  /** Messages of the session, the refused ones included. */
  readonly messages: number
  /** Signals and reports of progress. */
  readonly signals: number
  /** Calls, and requests inside of streams, within a window. */
  readonly steps: number
  readonly windowMs: number
  /** Bytes received over all connections. */
  readonly bytes: number
}

export const SHADOW_LIMITS: ShadowLimits = {
  messages: 500,
  signals: 2_000,
  steps: 2_000,
  windowMs: 10_000,
  bytes: 16 * 1024 * 1024
}

/** Counts what a shadow sends. Times are Unix milliseconds. */
export class ShadowMeter {
  readonly #limits: ShadowLimits
  readonly #onExceeded: (bound: string) => void
  #messages = 0
  #signals = 0
  #steps = 0
  #windowStart = 0
  #exceeded: string | undefined

  constructor(limits: ShadowLimits, onExceeded: (bound: string) => void) {
    this.#limits = limits
    this.#onExceeded = onExceeded
  }

  /** The bound that was exceeded first, in words. */
  get exceeded(): string | undefined {
    return this.#exceeded
  }

  step(now: number): void {
    const { steps, windowMs } = this.#limits
    if (now - this.#windowStart >= windowMs) {
      this.#windowStart = now
      this.#steps = 0
    }
    this.#steps += 1
    if (this.#steps > steps) this.#exceed(`more than ${steps} calls in ${windowMs / 1_000} s`)
  }

  message(): void {
    this.#messages += 1
    if (this.#messages > this.#limits.messages) this.#exceed(`more than ${this.#limits.messages} messages`)
  }

  signal(): void {
    this.#signals += 1
    if (this.#signals > this.#limits.signals) this.#exceed(`more than ${this.#limits.signals} signals`)
  }

  /** Bytes received so far. */
  received(bytes: number): void {
    if (bytes > this.#limits.bytes) this.#exceed(`more than ${this.#limits.bytes} bytes`)
  }

  #exceed(bound: string): void {
    if (this.#exceeded !== undefined) return
    this.#exceeded = bound
    this.#onExceeded(bound)
  }
}

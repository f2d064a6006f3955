import { create } from "@bufbuild/protobuf"
import { type Envelope, SessionMetadataSchema, SessionState } from "@runplane/runtime"
import {
  commitmentEnvelope,
  historyEnvelope,
  largeEnvelopes,
  largePayload,
  PARTICIPANTS,
  SCRIPTED_MODE,
  stampedEnvelope
} from "./History.ts"

/** Wakes everything that waits for a change. */
export class Changes {
  readonly #waiting = new Set<() => void>()

  readonly next = (): Promise<void> => new Promise((resolve) => this.#waiting.add(resolve))

  readonly announce = (): void => {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }
}

/** A session whose envelopes are made by the script; `accepted` of them are to be seen. */
export class ScriptedSession {
  readonly id: string
  readonly changes = new Changes()
  readonly #envelopes: Array<Envelope>
  #accepted = 0
  #resolved = false
  #subscribers = 0

  constructor(id: string, length: number, payloadBytes: number | undefined) {
    this.id = id
    const envelopeAt = payloadBytes === undefined ? historyEnvelope : largeEnvelopes(largePayload(payloadBytes))
    this.#envelopes = Array.from({ length }, (_, index) => envelopeAt(id, index + 1))
  }

  get accepted(): number {
    return this.#accepted
  }

  get subscribers(): number {
    return this.#subscribers
  }

  subscribed(): void {
    this.#subscribers += 1
    this.changes.announce()
  }

  forgetSubscribers(): void {
    this.#subscribers = 0
  }

  release(upTo = this.#envelopes.length): void {
    this.#accepted = Math.min(upTo, this.#envelopes.length)
    this.changes.announce()
  }

  addStamped(emittedMicros: number): void {
    this.#envelopes.push(stampedEnvelope(this.id, this.#envelopes.length + 1, emittedMicros))
    this.release()
  }

  commit(): void {
    this.#envelopes.push(commitmentEnvelope(this.id, this.#envelopes.length + 1))
    this.release()
  }

  resolve(): void {
    this.#resolved = true
  }

  envelope(ordinal: number): Envelope | undefined {
    return ordinal <= this.#accepted ? this.#envelopes[ordinal - 1] : undefined
  }

  metadata() {
    return create(SessionMetadataSchema, {
      sessionId: this.id,
      mode: SCRIPTED_MODE,
      state: this.#resolved ? SessionState.RESOLVED : SessionState.OPEN,
      startedAtUnixMs: 1_790_000_000_000n,
      expiresAtUnixMs: 4_000_000_000_000n,
      modeVersion: "1.0.0",
      configurationVersion: "config.default",
      policyVersion: "policy.default",
      participants: [...PARTICIPANTS],
      initiator: PARTICIPANTS[0] ?? "",
      // Activity does not count the SessionStart, which is the first envelope.
      participantActivity: [{ participantId: PARTICIPANTS[0] ?? "", messageCount: Math.max(0, this.#accepted - 1) }]
    })
  }
}

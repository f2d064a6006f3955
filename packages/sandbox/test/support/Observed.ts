import { hash } from "node:crypto"
import {
  type ActivePolicy,
  activePolicy,
  type CanonicalEvent,
  type Deliberation,
  decisionRecord,
  draftEvent,
  type EventDraft,
  makeNormaliser,
  noRedactor,
  PINNED_RELEASE,
  type Policy,
  type Release,
  RunId,
  recordEvent,
  specifiedPrices
} from "@runplane/domain"
import { decodePayload, type Envelope } from "@runplane/runtime"
import * as Result from "effect/Result"
import type { Session } from "../../src/core/Session.ts"
import { commitmentPayload, envelope, SESSION } from "./Envelopes.ts"
import { openSession, T0 } from "./Sessions.ts"

/** How an observed session is opened. */
export interface Observation {
  readonly mode: string
  readonly participants: ReadonlyArray<string>
  readonly initiator?: string
  readonly modeVersion?: string
  readonly configurationVersion?: string
  readonly policy?: Policy
  /** The policy's rules as they were registered. */
  readonly rules?: string
  readonly release?: Release
}

interface Message {
  readonly type: string
  readonly sender: string
  readonly payload: Uint8Array<ArrayBuffer>
}

const { normalise } = makeNormaliser({
  decode: decodePayload,
  redactor: noRedactor,
  prices: specifiedPrices,
  sha256: (...parts) => hash("sha256", Buffer.concat(parts), "buffer")
})

/** A session of the rules, and beside it the events that an observer has of it. */
export class Observed {
  readonly #opening: Observation
  readonly #session: Session
  readonly #accepted: Array<Message> = []
  readonly #drafts: Array<EventDraft>
  #sent = 0

  constructor(opening: Observation) {
    this.#opening = opening
    this.#session = this.#open()
    const { mode, participants, policy, rules = "{}" } = opening
    const head = { ts: new Date(T0).toISOString(), source: { kind: "control-plane", name: "run-executor" } } as const
    const policyVersion = policy?.policyId ?? "policy.default"
    const bound = { initiator: this.#initiator, modeName: mode, participants: [...participants], policyVersion }
    const descriptor = { policyId: policyVersion, mode, schemaVersion: policy?.schemaVersion ?? 1, rules }
    this.#drafts = [
      draftEvent("run.created", head, { modeName: mode, runtimeVersion: opening.release ?? PINNED_RELEASE }),
      draftEvent("session.bound", head, bound),
      ...(policy === undefined ? [] : [draftEvent("policy.resolved", head, { policyVersion, descriptor })])
    ]
  }

  /** Whether the session accepted the message. */
  say(type: string, sender: string, payload: Uint8Array<ArrayBuffer>): boolean {
    this.#sent += 1
    const message = { type, sender, payload }
    if (!this.#submit(this.#session, message, this.#sent)) return false
    this.#accepted.push(message)
    this.#observe(message)
    return true
  }

  /** Whether a commitment with this outcome would be accepted now. */
  wouldCommit(outcomePositive: boolean): boolean {
    const copy = this.#open()
    this.#accepted.forEach((message, at) => {
      this.#submit(copy, message, at)
    })
    const { policy } = this.#opening
    const authority = policy?.rules.commitment
    const sender = authority?.authority === "designated_role" ? authority.designated_roles[0] : undefined
    const payload = commitmentPayload({
      action: "custom.done",
      outcomePositive,
      policyVersion: policy?.policyId ?? "",
      ...this.#versions
    })
    return this.#submit(copy, { type: "Commitment", sender: sender ?? this.#initiator, payload }, this.#sent + 1)
  }

  get events(): ReadonlyArray<CanonicalEvent> {
    const runId = RunId.make("5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10")
    return this.#drafts.map((draft, at) => recordEvent(draft, { id: `event-${at}`, runId, seq: at + 1, index: at + 1 }))
  }

  get record(): { readonly run: Deliberation; readonly by: ActivePolicy } {
    const run = decisionRecord(this.events)
    return { run, by: activePolicy(run) }
  }

  get #initiator(): string {
    return this.#opening.initiator ?? "agent://lead"
  }

  get #versions() {
    const { configurationVersion = "config.default", modeVersion = "1.0.0" } = this.#opening
    return { configurationVersion, modeVersion }
  }

  #open(): Session {
    const { mode, participants, policy, release } = this.#opening
    return openSession({
      mode,
      payload: { participants: [...participants], policyVersion: policy?.policyId ?? "", ...this.#versions },
      initiator: this.#initiator,
      ...(policy !== undefined && { policy }),
      ...(release !== undefined && { release })
    })
  }

  #submit(session: Session, { payload, sender, type }: Message, number: number): boolean {
    const sent = envelope(type, `m${number}-${type}`, payload, { mode: this.#opening.mode })
    return Result.isSuccess(session.submit(sent, sender, T0 + 1).result)
  }

  #observe({ payload, sender, type }: Message): void {
    const sent: Envelope = envelope(type, `m${this.#sent}-${type}`, payload, { mode: this.#opening.mode, sender })
    const raw = { ...sent, sessionId: SESSION, timestampUnixMs: T0 }
    const known = new Set(this.#opening.participants)
    const frame = { kind: "stream-envelope", ambient: false, envelope: raw } as const
    this.#drafts.push(...normalise(known, frame, new Date(T0 + this.#sent).toISOString()).drafts)
  }
}

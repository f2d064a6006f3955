import type { DenialReason } from "@runplane/domain"
import * as Data from "effect/Data"

/** The runtime refused a message: the registry code of its answer. */
export class MessageRefused extends Data.TaggedError("MessageRefused")<{
  readonly messageType: string
  readonly code: string
  readonly detail: string
  /** Only for POLICY_DENIED. */
  readonly reasons: ReadonlyArray<string>
  /** The same with their codes, which runtimes send since 0.9. */
  readonly denials: ReadonlyArray<DenialReason>
}> {
  override get message() {
    const reasons = this.reasons.length === 0 ? "" : `: ${this.reasons.join("; ")}`
    return `${this.messageType} refused with ${this.code} (${this.detail})${reasons}`
  }
}

/** The call itself failed: connection, credential, unknown session, authority. `status` is the gRPC status name. */
export class RuntimeCallFailed extends Data.TaggedError("RuntimeCallFailed")<{
  readonly call: string
  readonly status: string
  readonly detail: string
}> {
  override get message() {
    return `${this.call} failed with ${this.status}: ${this.detail}`
  }

  /** Statuses of a broken or unreachable connection, worth another attempt (effect of a restart or a cut). */
  get isTransport(): boolean {
    return this.status === "unavailable" || this.status === "aborted" || this.status === "deadline_exceeded"
  }
}

export type AgentFailure = MessageRefused | RuntimeCallFailed

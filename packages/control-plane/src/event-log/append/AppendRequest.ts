import type { EventDraft, RunId, RunState, RunStatus } from "@runplane/domain"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { AppendFailed } from "../../platform/postgres/AppendFailed.ts"
import type { CommittedEvent } from "../CommittedEvent.ts"
import type { Projected } from "../projection/ReplayLog.ts"
import type { ObservedFrame } from "./PreparedFrame.ts"

export type { ObservedFrame }

/** What the log knows of a run while it holds the run's lock. */
export interface LockedRun {
  readonly id: RunId
  readonly status: RunStatus
  /** Number of its changes of status. */
  readonly statusRevision: number
  readonly modeName: string
  readonly runtimeKind: string
  readonly runtimeSessionId: string
  readonly traceId: string
  readonly spanId: string
  readonly createdAt: string
  readonly startedAt: string | undefined
  readonly endedAt: string | undefined
}

/**
 * Further rows of the same transaction (a session binding, an artifact, an audit entry). `at` is its time, ISO-8601.
 */
export type FurtherRows = (at: string) => Effect.Effect<void, SqlError>

/** Frames of a run's session. */
export interface ObserveRequest {
  readonly runId: RunId
  readonly frames: ReadonlyArray<ObservedFrame>
  /**
   * The ordinal of the last stored session envelope, as the caller knows it; undefined for signals, which have no
   * ordinal. Frames are refused when another writer has advanced it, and otherwise advance it by the number of new
   * session envelopes among them, so that only one observer of a run can write.
   */
  readonly cursor?: number
}

/** Events of the control plane. Without any, the run is locked while the further rows are written. */
export interface RecordRequest {
  readonly runId: RunId
  readonly events: ReadonlyArray<EventDraft>
  /**
   * Another end of a run that has ended. Where the run may not be corrected, it keeps its end, and the event of this
   * one is not stored.
   */
  readonly correction?: RunEnd
  readonly also?: FurtherRows
}

/** The end of a run whose event is the last one of the request. */
export interface RunEnd {
  readonly to: "completed" | "failed"
  /** ISO-8601. */
  readonly times: { readonly startedAt: string; readonly endedAt: string }
  readonly failure?: { readonly errorCode: string; readonly errorMessage: string }
}

/** A change of a run's status, decided by the transition table under the run's lock. */
export interface ChangeRequest {
  readonly runId: RunId
  readonly to: RunStatus
  /** The events of the change, called only when it is applied. `at` is the time of the change, ISO-8601. */
  readonly events: (run: LockedRun, at: string) => ReadonlyArray<EventDraft>
  /** The largest number of these events, where it can be more than three: their seqs are allocated with the lock. */
  readonly maxEvents?: number
  /** When the run began and ended, ISO-8601, where that is not when the change is stored. */
  readonly times?: { readonly startedAt: string; readonly endedAt: string }
  readonly failure?: { readonly errorCode: string; readonly errorMessage: string }
  /**
   * The status revision on which the change was decided. When the status has changed since, the change is `superseded`
   * by the newer one.
   */
  readonly revision?: number
  /** Skipped unless the change is applied. */
  readonly also?: FurtherRows
}

/** A new run with its first events. */
export interface CreateRequest extends RecordRequest {
  /** Inserts the run's row; false when another row already holds one of its unique keys. */
  readonly insert: Effect.Effect<boolean, SqlError>
  /** The end of a run that has ended before it is stored, as the run of telemetry has. */
  readonly end?: RunEnd
}

/** A new projection from the events, which replaces the stored one without reading it. */
export interface RebuildRequest {
  readonly runId: RunId
  /** The projection of the events up to this seq. Runs under the run's lock. */
  readonly refold: (lastSeq: number) => Effect.Effect<Projected, SqlError>
  readonly also?: FurtherRows
}

/** One atomic addition to a run's log. */
export type AppendRequest = Data.TaggedEnum<{
  Observe: ObserveRequest
  Record: RecordRequest
  Change: ChangeRequest
  Create: CreateRequest
  Rebuild: RebuildRequest
}>
export const AppendRequest = Data.taggedEnum<AppendRequest>()

export interface Appended {
  readonly runId: RunId
  readonly status: RunStatus
  readonly events: ReadonlyArray<CommittedEvent>
  readonly cursor: number
  readonly lastSeq: number
  readonly lastIndex: number
  readonly state: RunState
  /** Why frames were stored without their payloads, one reason each (docs/reference/events.md#refused-frames). */
  readonly refusals?: ReadonlyArray<string>
}

/**
 * What became of a change of status: `no-op` when the run has the status already, `rejected` when the transition table
 * does not allow it, `superseded` when the status is not the one any more on which the change was decided.
 */
export type ChangeOutcome = "applied" | "no-op" | "rejected" | "superseded"

/** A committed append, with the outcome of its change of status, if it has one. */
export interface Changed extends Appended {
  readonly change: ChangeOutcome
}

/** The run is not in the database. */
export class RunNotFound extends Data.TaggedError("RunNotFound")<{ readonly runId: string }> {
  override get message(): string {
    return `run ${this.runId} not found`
  }
}

/** Another observer has stored envelopes of this run: the caller lost the compare-and-set and must stop. */
export class StreamCursorMoved extends Data.TaggedError("StreamCursorMoved")<{
  readonly runId: string
  readonly expected: number
  readonly actual: number
}> {
  override get message(): string {
    return `the stream cursor of run ${this.runId} is ${this.actual}, not ${this.expected}`
  }
}

/** A unique key of the run to create (session id, idempotency key, id) is taken. */
export class RunAlreadyExists extends Data.TaggedError("RunAlreadyExists")<{ readonly runId: string }> {}

export type AppendRefusal = RunNotFound | StreamCursorMoved | RunAlreadyExists
export type AppendError = AppendRefusal | AppendFailed

import type { CanonicalEventType, EventDraft, RawFrame, RunId, RunState, RunStatus } from "@runplane/domain"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Projected } from "./EventFold.ts"

/** A frame as it came from the runtime, with the time at which this service received it (ISO-8601). */
export interface ObservedFrame {
  readonly frame: RawFrame
  readonly receivedAt: string
}

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

/** A change of a run's status, decided by the transition table under the run's lock (design rule 5). */
export interface StatusChange {
  readonly to: RunStatus
  /** The events of the change, asked for only when it is applied. `at` is the time of the change, ISO-8601. */
  readonly events: (run: LockedRun, at: string) => ReadonlyArray<EventDraft>
  readonly failure?: { readonly errorCode: string; readonly errorMessage: string }
  /**
   * The status revision on which the change was decided. When the status has changed since, the change is dropped: it comes out as
   * `rejected` and never as a failure, because whoever changed the status knew better.
   */
  readonly revision?: number
  /** What the table does not allow: a failure for callers, a logged no-op for races. */
  readonly whenRejected: "fail" | "ignore"
}

/** One atomic addition to a run's log: its frames in order, then its events, then its change of status. */
export interface AppendRequest {
  readonly runId: RunId
  /** Inserts the run's row in the same transaction; false when another row already holds one of its unique keys. */
  readonly create?: Effect.Effect<boolean, SqlError>
  readonly frames?: ReadonlyArray<ObservedFrame>
  /**
   * The ordinal of the last stored session envelope, as the caller believes. The append is refused when the log has moved on,
   * and advances it by the number of new session envelopes among `frames` (design rule 2).
   */
  readonly cursor?: number
  readonly events?: ReadonlyArray<EventDraft>
  readonly change?: StatusChange
  /**
   * Makes the projection anew, from the events up to this seq, instead of going on from the stored one, which is not even
   * looked at. Runs under the run's lock.
   */
  readonly refold?: (lastSeq: number) => Effect.Effect<Projected, SqlError>
  /** Further rows of the same transaction (a session binding, an artifact, an audit entry). Skipped when the change is not applied. */
  readonly also?: (at: string) => Effect.Effect<void, SqlError>
}

/** A committed event with the text under which it is stored, streamed and served. */
export interface CommittedEvent {
  readonly seq: number
  readonly index: number
  readonly type: CanonicalEventType
  readonly json: string
}

export interface Appended {
  readonly runId: RunId
  readonly status: RunStatus
  /** `none` when the request asked for no change. */
  readonly change: "none" | "applied" | "no-op" | "rejected"
  readonly events: ReadonlyArray<CommittedEvent>
  readonly cursor: number
  readonly lastSeq: number
  readonly lastIndex: number
  readonly state: RunState
}

/** The run is not in the database. */
export class RunNotFound extends Data.TaggedError("RunNotFound")<{ readonly runId: string }> {
  override get message(): string {
    return `run ${this.runId} not found`
  }
}

/** The transition table does not allow the change (409 `INVALID_STATE_TRANSITION`). */
export class InvalidStateTransition extends Data.TaggedError("InvalidStateTransition")<{
  readonly runId: string
  readonly from: RunStatus
  readonly to: RunStatus
}> {
  override get message(): string {
    return `cannot transition run ${this.runId} from '${this.from}' to '${this.to}'`
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

/**
 * The transaction did not commit, or nobody could be asked within `FATE_PATIENCE_MS` whether it did: read the cursor again before
 * going on. A change of status, a creation and frames may be tried again in any case, because the log knows them again.
 */
export class AppendFailed extends Data.TaggedError("AppendFailed")<{
  readonly runId: string
  readonly reason: string
  /** The database could not be used at all; the request itself may be right. */
  readonly outage: boolean
}> {
  override get message(): string {
    return `could not append to run ${this.runId}: ${this.reason}`
  }
}

export type AppendRefusal = RunNotFound | InvalidStateTransition | StreamCursorMoved | RunAlreadyExists
export type AppendError = AppendRefusal | AppendFailed

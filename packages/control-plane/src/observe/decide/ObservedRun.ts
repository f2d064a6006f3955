import type { RunId, RunStatus } from "@runplane/domain"

/** A cancel from before its session opened. */
export interface PendingCancel {
  /** The reason for the runtime. */
  readonly reason: string
  /** The end of the wait for the session, Unix milliseconds. */
  readonly untilUnixMs: number
}

/** The run as its observer reads it at the start. */
export interface ObservedRun {
  readonly id: RunId
  readonly status: RunStatus
  readonly sessionId: string
  readonly modeName: string
  readonly runtimeKind: string
  readonly runtimeVersion: string | undefined
  readonly traceId: string
  readonly cursor: number
  /** Deadline of the bound session as it was at binding, Unix milliseconds. */
  readonly expiresAtUnixMs: number | undefined
  readonly cancel: PendingCancel | undefined
  /** The declared participants, one of which opens the session, as a text; empty once the run is bound. */
  readonly awaited: string
}

/** The current status of a run. */
export interface RunSummary {
  readonly status: RunStatus
  /** Number of the changes of status so far. */
  readonly revision: number
  readonly cancel: PendingCancel | undefined
}

/** Messages that only a runtime writes into a session's history, when the session is paused or cancelled. */
export const ANNOTATIONS: ReadonlyArray<string> = ["SessionCancel", "SessionSuspend", "SessionResume"]

/** The runtime answers an unanswered offer in the target's name, under ids of its own. */
export const ANSWER = "HandoffAccept"
export const IMPLICIT_ANSWER = "implicit-accept:"

/** Whether the runtime itself wrote an envelope: it has an ordinal, but no activity counts it. */
export const isWrittenByRuntime = (envelope: { readonly messageId: string; readonly messageType: string }): boolean =>
  ANNOTATIONS.includes(envelope.messageType) ||
  (envelope.messageType === ANSWER && envelope.messageId.startsWith(IMPLICIT_ANSWER))

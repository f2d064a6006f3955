import type { RunId, RunStatus } from "@runplane/domain"

/** A cancel that came before its session opened. */
export interface LateCancel {
  /** What the runtime is told. */
  readonly reason: string
  /** How long the session is waited for, Unix milliseconds. */
  readonly untilUnixMs: number
}

/** What an observer needs to know of its run when it starts. */
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
  readonly cancel: LateCancel | undefined
  /** The declared participants, one of which opens the session, as a text; empty once the run is bound. */
  readonly awaited: string
}

export interface RunStanding {
  readonly status: RunStatus
  /** Number of the changes of status so far. */
  readonly revision: number
  readonly cancel: LateCancel | undefined
}

/** Messages that only a runtime writes into a session's history, when the session is paused or cancelled. */
export const ANNOTATIONS: ReadonlyArray<string> = ["SessionCancel", "SessionSuspend", "SessionResume"]

/** An unanswered offer is answered by the runtime in the target's name, under ids of its own. */
export const ANSWER = "HandoffAccept"
export const IMPLICIT_ANSWER = "implicit-accept:"

/** Whether the runtime itself wrote an envelope: it has an ordinal, but counts as nobody's activity. */
export const isWrittenByRuntime = (envelope: { readonly messageId: string; readonly messageType: string }): boolean =>
  ANNOTATIONS.includes(envelope.messageType) ||
  (envelope.messageType === ANSWER && envelope.messageId.startsWith(IMPLICIT_ANSWER))

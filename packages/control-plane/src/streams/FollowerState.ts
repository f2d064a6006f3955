import { isTerminal, type RunId } from "@runplane/domain"
import type { StoredEvent } from "../event-log/EventRepository.ts"
import type { CurrentState } from "../event-log/projection/RunStateReader.ts"
import type { RunGone } from "../event-log/runs/RunGone.ts"
import type { LiveBatch } from "../event-log/subscribe/LiveBatch.ts"
import type { Delivery } from "./Delivery.ts"
import type { SharedFrames } from "./SharedFrames.ts"

/** What a stream follows, and its options. */
export type Target = RunTarget | { readonly _tag: "Log" } | ReplayTarget

/** A run (docs/reference/streams.md#stream). */
export interface RunTarget {
  readonly _tag: "Run"
  readonly runId: RunId
  /** Whether snapshots follow the first one. */
  readonly snapshots: "all" | "first"
  /** Least time between two snapshots, milliseconds. */
  readonly snapshotIntervalMs: number
  /** The number of the client, counted from 0 among the clients of the run. */
  readonly position: number
}

/** The events of a run again (docs/reference/streams.md#replay). */
export interface ReplayTarget {
  readonly _tag: "Replay"
  readonly runId: RunId
  /** The last seq of the replay; the log has an event at or behind it. */
  readonly toSeq: number
  /** Divides the pauses between events; undefined: without pauses. */
  readonly speed: number | undefined
  /** Longest pause between two events, milliseconds. */
  readonly maxDelayMs: number
}

export interface Head {
  readonly lastSeq: number
  readonly lastIndex: number
}

export interface State {
  readonly target: Target
  readonly phase: Phase
  /** The client has every match up to this seq. */
  readonly seq: number
  /** The index of the event at `seq` in its run, without gaps; undefined while unknown. */
  readonly index: number | undefined
  readonly heartbeatMs: number
  readonly nextHeartbeat: number
  /** A due heartbeat waits until the client has everything up to the head, which is "unknown" until it is read. */
  readonly heartbeat: Head | "unknown" | undefined
  /** Consecutive failed reads, and the time of the next read. */
  readonly failures: number
  readonly retryAt: number
  /** Of a run: its last event when the stream opened or was reset, and whether it had ended by then. */
  readonly endSeq: number
  readonly wasTerminal: boolean
  /** Of a run: it has ended, so the stream ends after the last snapshot. */
  readonly isEnding: boolean
  /** Of a run: the last event in a snapshot that was sent, and the time of that snapshot. */
  readonly snapshotSeq: number
  readonly snapshotAt: number | undefined
  /** Of the log: how often it was restored from a backup. */
  readonly restores: number
  /** Of a replay: the time at which the last sent event was recorded. */
  readonly recordedAt: number | undefined
}

export type Phase =
  /** Sends the first snapshot, after a check that the log does not end before the cursor of the client. */
  | {
      readonly _tag: "Opening"
      readonly start: CurrentState
      readonly includeSnapshot: boolean
      readonly hasCursor: boolean
      readonly isChecked: boolean
    }
  /** The log ends before `seq`, because it was restored: starts over at its end (docs/reference/streams.md#reset). */
  | { readonly _tag: "Resetting"; readonly afterSeq: number }
  /** Reads pages behind `seq`, up to the end of a stored state that is ahead. */
  | { readonly _tag: "Reading"; readonly ahead?: CurrentState }
  /** Has read the last page, and compares with the head. */
  | { readonly _tag: "Settling"; readonly ahead?: CurrentState }
  /** Receives live events; the pending snapshot is that of the last batch, or the stored state. */
  | { readonly _tag: "Live"; readonly snapshot?: LiveBatch | "stored" | undefined }
  /** Sends the events of a page one by one; the next one is due at a time. */
  | {
      readonly _tag: "Playing"
      readonly events: ReadonlyArray<StoredEvent>
      readonly sent: number
      readonly due?: number
    }
  | { readonly _tag: "Ended" }

export type Input =
  /** The client has taken all frames; `audience` is the number of clients of the run. */
  | { readonly _tag: "Ready"; readonly now: number; readonly audience: number }
  | LiveInput
  | PageRead
  /** Of the log: the last seq up to which the client misses nothing. */
  | { readonly _tag: "Head"; readonly head: (Head & Partial<Pick<CurrentState, "status">>) | undefined }
  | { readonly _tag: "Current"; readonly current: CurrentState | undefined; readonly now: number }
  /** A read failed; `jitter` is at least 0 and less than 1. */
  | { readonly _tag: "Failed"; readonly now: number; readonly jitter: number }

/** Inputs from memory. */
export type LiveInput =
  | LiveBatch
  /** Memory misses events behind the position. */
  | { readonly _tag: "Gap" }
  /** All matches behind the position, up to `seq`. */
  | { readonly _tag: "Frames"; readonly frames: ReadonlyArray<SharedFrames>; readonly seq: number }
  /** The log was restored from a backup, and ends at `seq`. */
  | { readonly _tag: "Restored"; readonly seq: number; readonly restores: number }

export interface PageRead {
  readonly _tag: "Page"
  readonly deliveries: ReadonlyArray<Delivery>
  /** The events of a replay, which are sent one by one. */
  readonly events?: ReadonlyArray<StoredEvent>
  /** The position behind the page. */
  readonly seq: number
  readonly index: number | undefined
  readonly isLast: boolean
}

export type Action =
  | { readonly _tag: "Send"; readonly deliveries: ReadonlyArray<Delivery> }
  | Read
  /** Wait for an input from memory, or for a time. */
  | { readonly _tag: "Wait"; readonly until: number }
  | { readonly _tag: "Sleep"; readonly until: number }
  /** Continue with `Ready`. */
  | { readonly _tag: "Continue" }
  | { readonly _tag: "End" }
  | { readonly _tag: "Fail"; readonly error: RunGone }

export type Read =
  | { readonly _tag: "ReadPage"; readonly upToSeq: number | undefined }
  /** A head before `seq` is read twice: a shared read may have begun before the last event was committed. */
  | { readonly _tag: "ReadHead" }
  | { readonly _tag: "ReadCurrent" }

export interface RunOptions extends Omit<RunTarget, "_tag" | "runId" | "position"> {
  /** Events after this seq come first; undefined starts with the next event. */
  readonly afterSeq: number | undefined
  readonly includeSnapshot: boolean
  readonly heartbeatMs: number
}

const initial = {
  index: undefined,
  heartbeat: undefined,
  failures: 0,
  retryAt: 0,
  endSeq: 0,
  wasTerminal: false
} as const
const initialRun = {
  isEnding: false,
  snapshotSeq: 0,
  snapshotAt: undefined,
  restores: 0,
  recordedAt: undefined
} as const

/** The state of a stream of a run that opens; `start` was read after the subscription. */
export const openRun = (
  { afterSeq, heartbeatMs, includeSnapshot, snapshotIntervalMs, snapshots }: RunOptions,
  start: CurrentState,
  { now, position }: { readonly now: number; readonly position: number }
): State => {
  const seq = afterSeq ?? start.lastSeq
  return {
    ...initial,
    ...initialRun,
    target: { _tag: "Run", runId: start.runId, snapshots, snapshotIntervalMs, position },
    phase: {
      _tag: "Opening",
      start,
      includeSnapshot,
      hasCursor: afterSeq !== undefined,
      isChecked: seq <= start.lastSeq
    },
    seq,
    index: seq === start.lastSeq ? start.lastIndex : undefined,
    heartbeatMs,
    nextHeartbeat: now + heartbeatMs,
    endSeq: start.lastSeq,
    wasTerminal: isTerminal(start.status),
    snapshotSeq: start.lastSeq,
    // Without a first snapshot, the next one is due at once.
    snapshotAt: includeSnapshot ? now : undefined
  }
}

export interface LogOptions {
  readonly afterSeq: number
  /** The cursor of the client, when the log ends before it; the stream then starts over at `afterSeq`. */
  readonly resetFrom?: number
  readonly heartbeatMs: number
}

/** The state of a stream of the log that opens; its first frame is a heartbeat. */
export const openLog = ({ afterSeq, heartbeatMs, resetFrom }: LogOptions, now: number, restores: number): State => ({
  ...initial,
  ...initialRun,
  target: { _tag: "Log" },
  phase: resetFrom === undefined ? { _tag: "Live" } : { _tag: "Resetting", afterSeq: resetFrom },
  seq: afterSeq,
  heartbeatMs,
  nextHeartbeat: now,
  restores
})

/** The state of a replay that opens, without heartbeats. */
export const openReplay = (target: ReplayTarget, fromSeq: number): State => ({
  ...initial,
  ...initialRun,
  target,
  phase: { _tag: "Reading" },
  seq: fromSeq - 1,
  heartbeatMs: Number.POSITIVE_INFINITY,
  nextHeartbeat: Number.POSITIVE_INFINITY
})

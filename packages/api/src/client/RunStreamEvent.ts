import { CanonicalEvent, isTerminal, RunState } from "@runplane/domain"
import * as Schema from "effect/Schema"

/** The data of a heartbeat: the time, and the last event of the run (docs/reference/streams.md#stream). */
export const Heartbeat = Schema.Struct({ ts: Schema.String, seq: Schema.Int, index: Schema.Int })

/** A frame of the run stream, as text. The parser gives an inherited id to frames without one, so ids are not read. */
const SnapshotFrame = Schema.Struct({ event: Schema.Literal("snapshot"), data: Schema.fromJsonString(RunState) })
const EventFrame = Schema.Struct({
  event: Schema.Literal("canonical_event"),
  data: Schema.fromJsonString(CanonicalEvent)
})
const HeartbeatFrame = Schema.Struct({ event: Schema.Literal("heartbeat"), data: Schema.fromJsonString(Heartbeat) })

/**
 * The data of a reset: the log of the run, restored from a backup, ends with `seq`, before the cursor `afterSeq`
 * (docs/reference/streams.md#reset).
 */
export const Reset = Schema.Struct({ ...Heartbeat.fields, afterSeq: Schema.Int })
const ResetFrame = Schema.Struct({ event: Schema.Literal("reset"), data: Schema.fromJsonString(Reset) })

/** A decoded frame of `GET /runs/:id/stream`; the SSE id of a `canonical_event` is its `data.seq`. */
export const RunStreamEvent = Schema.Union([SnapshotFrame, EventFrame, HeartbeatFrame, ResetFrame])
export type RunStreamEvent = typeof RunStreamEvent.Type

export const isRunStreamEventName = (name: string): name is RunStreamEvent["event"] =>
  name === "snapshot" || name === "canonical_event" || name === "heartbeat" || name === "reset"

/** The position of a follower. */
export interface StreamPosition {
  /** The seq of the last received event, or `afterSeq`; undefined without both. */
  readonly lastSeq: number | undefined
  /** seq of the run's last event, once a snapshot showed the run ended. */
  readonly endSeq: number | undefined
}

/**
 * Whether a follower starts over after a reset, because events that it received behind `afterSeq` are void. A follower
 * whose `afterSeq` is beyond the end continues from the end.
 */
export const startsOver = (event: RunStreamEvent, afterSeq: number | undefined): boolean =>
  event.event === "reset" && afterSeq !== undefined && event.data.afterSeq > afterSeq

/** The position after a frame; `afterSeq` is the option of the follower. */
export const advance = (position: StreamPosition, event: RunStreamEvent, afterSeq?: number): StreamPosition => {
  switch (event.event) {
    case "reset":
      return { lastSeq: startsOver(event, afterSeq) ? afterSeq : event.data.seq, endSeq: undefined }
    case "canonical_event":
      return { ...position, lastSeq: event.data.seq }
    case "snapshot":
      return isTerminal(event.data.run.status) ? { ...position, endSeq: event.data.timeline.latestSeq } : position
    case "heartbeat":
      return position
  }
}

/** Whether the follower has received the event before, because a proxy repeats frames. */
export const isRepeated = ({ lastSeq }: StreamPosition, { data, event }: RunStreamEvent): boolean =>
  event === "canonical_event" && lastSeq !== undefined && data.seq <= lastSeq

/** Whether the event ends the run; a snapshot of the same end may follow. */
export const endsRun = (event: RunStreamEvent): boolean =>
  event.event === "canonical_event" && ENDS.has(event.data.type)

const ENDS: ReadonlySet<string> = new Set(["run.completed", "run.failed", "run.cancelled"])

/** Whether the run has ended and everything up to its end was received. */
export const isComplete = ({ lastSeq, endSeq }: StreamPosition): boolean =>
  endSeq !== undefined && (lastSeq === undefined || lastSeq >= endSeq)

import type { StoredEvent } from "../event-log/EventRepository.ts"
import type { LiveBatch } from "../event-log/subscribe/LiveBatch.ts"
import type { SharedFrames } from "./SharedFrames.ts"

/**
 * What an event stream sends, typed: encoders make the bytes of a protocol (`SseFrames`, `ag-ui/AgUiStream`). Equal
 * deliveries of several clients are one object, or have one list of events, so that an encoder encodes them once.
 */
export type Delivery =
  /** All events of a committed append, for every subscriber. */
  | LiveBatch
  | { readonly _tag: "Events"; readonly events: ReadonlyArray<StoredEvent> }
  /** Events that the log has encoded for all its subscribers. */
  | { readonly _tag: "Encoded"; readonly frames: SharedFrames }
  /** The JSON of a state, or that of a batch. */
  | { readonly _tag: "Snapshot"; readonly state: string | LiveBatch["state"] }
  /** `id` is the seq from which the client resumes. */
  | { readonly _tag: "Heartbeat" | "Reset"; readonly id: number | undefined; readonly data: Position }

/** Where a stream is, at a time. */
export interface Position {
  readonly ts: string
  readonly seq: number
  /** Of a run. */
  readonly index?: number
  /** The cursor that the log no longer has. */
  readonly afterSeq?: number
}

export const eventsDelivery = (events: ReadonlyArray<StoredEvent>): Delivery => ({ _tag: "Events", events })

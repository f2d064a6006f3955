import { encodeFrames } from "@runplane/server"
import type { StoredEvent } from "../event-log/EventRepository.ts"
import type { LiveBatch } from "../event-log/subscribe/LiveBatch.ts"
import type { Delivery, Position } from "./Delivery.ts"
import { memoized, SharedFrames } from "./SharedFrames.ts"

/** The frames of server-sent events (docs/reference/streams.md#stream). */

/** The bytes of a delivery, made once for all streams that share it. */
export const sseBytes = (delivery: Delivery): Uint8Array => {
  switch (delivery._tag) {
    case "Batch":
      return batchFrames(delivery).bytes
    case "Events":
      return listFrames(delivery.events)
    case "Encoded":
      return delivery.frames.bytes
    case "Snapshot":
      return typeof delivery.state === "string"
        ? encodeFrames(snapshotFrame(delivery.state))
        : stateFrame(delivery.state)
    case "Heartbeat":
      return encodeFrames(controlFrame("heartbeat", delivery.id, delivery.data))
    case "Reset":
      return encodeFrames(controlFrame("reset", delivery.id, delivery.data))
  }
}

/** The frames of a delivery that all subscribers receive; undefined for the others. */
export const sharedFrames = (delivery: Delivery): SharedFrames | undefined => {
  if (delivery._tag === "Batch") return batchFrames(delivery)
  return delivery._tag === "Encoded" ? delivery.frames : undefined
}

export const canonicalEventFrame = (event: { readonly seq: number; readonly json: string }): string =>
  `event: canonical_event\nid: ${event.seq}\ndata: ${event.json}\n\n`

const snapshotFrame = (state: string): string => `event: snapshot\ndata: ${state}\n\n`

/** A heartbeat or a reset; `id` becomes the Last-Event-ID of the client. */
const controlFrame = (event: "heartbeat" | "reset", id: number | undefined, data: Position): string =>
  `event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`

/** The frames of a page, made once for all streams that read it together. */
const listFrames = memoized((events: ReadonlyArray<StoredEvent>) => encodeFrames(...events.map(canonicalEventFrame)))

/** The frames of a batch, made once for all subscribers. */
export const batchFrames = memoized((batch: LiveBatch) => new SharedFrames(batch.events.map(canonicalEventFrame)))

/** The snapshot frame of the state after a batch, made once for all subscribers. */
const stateFrame = memoized((state: LiveBatch["state"]) => encodeFrames(snapshotFrame(state())))

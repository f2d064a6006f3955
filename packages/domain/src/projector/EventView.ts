import type { EventOf, KnownEvent } from "../events/CanonicalEvent.ts"
import { boundName } from "../values/Bounds.ts"

/** What several sections of the projection read of an event, whatever its type; bounded as the state keeps it. */
export interface EventView {
  readonly event: KnownEvent
  /** The runtime's message type; empty when the event has no message. */
  readonly messageType: string
  /** Empty when the event has no sender. */
  readonly sender: string
}

export const viewOf = (event: KnownEvent): EventView =>
  "sender" in event.data
    ? { event, messageType: boundName(event.data.messageType), sender: boundName(event.data.sender) }
    : { event, messageType: "", sender: "" }

/** A contribution to a decision. */
export type ContributionEvent = EventOf<"proposal.created" | "proposal.updated">

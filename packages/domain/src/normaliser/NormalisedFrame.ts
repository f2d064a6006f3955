import type { EventDraft } from "../events/CanonicalEvent.ts"
import type { OutboundMessageDraft } from "../events/OutboundMessage.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import { RUNTIME_SOURCE_NAME } from "./EnvelopeContext.ts"

/** A raw event before the store numbers it: the received frame after redaction. */
export interface RawEventDraft {
  readonly kind: string
  readonly sourceName: string
  readonly payload: JsonObject
}

/** What one runtime frame adds to the log of its run. */
export interface NormalisedFrame {
  /** Canonical events in emission order. */
  readonly drafts: ReadonlyArray<EventDraft>
  readonly raw: RawEventDraft
  /** The captured message, when the frame carries one with an id. */
  readonly message?: OutboundMessageDraft
  /** A sender that was neither declared nor seen before: to be added to the known participants. */
  readonly seenParticipant?: string
}

export const rawEvent = (kind: string, payload: JsonObject): RawEventDraft => ({
  kind,
  sourceName: RUNTIME_SOURCE_NAME,
  payload
})

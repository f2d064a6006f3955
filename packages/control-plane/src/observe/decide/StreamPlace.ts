import type { ObservedFrame } from "../../event-log/append/AppendRequest.ts"

/**
 * Where a run's next subscription begins. Envelopes bear no number on the wire, so this is the number of stored ones,
 * but for two cases (docs/internals/runtime.md#next-ordinal), in which the place is counted in what was delivered
 * instead:
 *
 * - a subscription that brought only what the log has: envelopes were lost before, so the stored ones are fewer than
 *   the passed ones, and to begin at their number again could bring the same repetitions for ever;
 * - the history is being read again from its beginning.
 *
 * Both may count too little, which costs repetitions, and never too much: a repeated frame follows the one it repeats.
 */
export interface StreamPlace {
  /** The ordinal that the current subscription follows. */
  readonly after: number
  /** Envelopes that the current subscription has brought into the log, new to it or not. */
  readonly delivered: number
  readonly lastId: string | undefined
  /** Envelopes in the log when the current subscription began. */
  readonly stored: number
  readonly reading: "on" | "again"
  readonly restart: boolean
  /** Undefined: after what is stored. */
  readonly next: number | undefined
}

export const streamPlace: StreamPlace = {
  after: 0,
  delivered: 0,
  lastId: undefined,
  stored: 0,
  reading: "on",
  restart: false,
  next: undefined
}

/** The place of a new subscription, which begins after its `after`. `stored` is how many envelopes the log has. */
export const open = (place: StreamPlace, stored: number): StreamPlace => {
  const next = nextOf(place, stored)
  return {
    after: next ?? stored,
    delivered: 0,
    lastId: undefined,
    stored,
    reading: place.restart ? "again" : place.reading,
    restart: false,
    next
  }
}

const nextOf = (place: StreamPlace, stored: number): number | undefined => {
  if (place.restart) return 0
  if (place.delivered === 0) return place.next
  const fresh = place.reading === "on" && stored > place.stored
  return fresh ? undefined : place.after + place.delivered
}

/** Counts frames of the current subscription that are in the log now, whether or not they were new to it. */
export const passed = (place: StreamPlace, frames: ReadonlyArray<ObservedFrame>): StreamPlace => {
  let { delivered, lastId } = place
  for (const { frame } of frames) {
    if (frame.kind !== "stream-envelope" || frame.envelope.messageId === lastId) continue
    lastId = frame.envelope.messageId
    delivered += 1
  }
  return { ...place, delivered, lastId }
}

/** The next subscription begins with the first envelope, whatever is stored, and those after it go on from there. */
export const readAgain = (place: StreamPlace): StreamPlace => ({ ...place, restart: true })

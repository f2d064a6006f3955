import type { ObservedFrame } from "../../event-log/append/AppendRequest.ts"

/**
 * Where a run's next subscription begins. Envelopes have no number on the wire, so this is the number of stored ones,
 * but for two cases (docs/internals/runtime.md#next-ordinal), in which it counts the delivered envelopes instead:
 *
 * - a subscription that delivered only stored envelopes: some were lost before, so fewer are stored than delivered, and
 *   a subscription after that number could deliver the same repetitions for ever;
 * - the history is read again from its beginning.
 *
 * Both may count too little, which costs repetitions, and never too much: a repeated frame follows its original.
 */
export interface StreamPosition {
  /** The ordinal that the current subscription follows. */
  readonly after: number
  /** Envelopes of the current subscription that the log has, new ones or not. */
  readonly delivered: number
  readonly lastId: string | undefined
  /** Envelopes in the log when the current subscription began. */
  readonly stored: number
  readonly reading: "on" | "again"
  readonly restart: boolean
  /** Undefined: after the stored envelopes. */
  readonly next: number | undefined
}

export const streamPosition: StreamPosition = {
  after: 0,
  delivered: 0,
  lastId: undefined,
  stored: 0,
  reading: "on",
  restart: false,
  next: undefined
}

/** The position of a new subscription, which begins after its `after`. `stored` is the envelopes of the log. */
export const open = (position: StreamPosition, stored: number): StreamPosition => {
  const next = nextOf(position, stored)
  return {
    after: next ?? stored,
    delivered: 0,
    lastId: undefined,
    stored,
    reading: position.restart ? "again" : position.reading,
    restart: false,
    next
  }
}

const nextOf = (position: StreamPosition, stored: number): number | undefined => {
  if (position.restart) return 0
  if (position.delivered === 0) return position.next
  const fresh = position.reading === "on" && stored > position.stored
  return fresh ? undefined : position.after + position.delivered
}

/** Counts the stored frames of the current subscription, whether or not they were new. */
export const passed = (position: StreamPosition, frames: ReadonlyArray<ObservedFrame>): StreamPosition => {
  let { delivered, lastId } = position
  for (const { frame } of frames) {
    if (frame.kind !== "stream-envelope" || frame.envelope.messageId === lastId) continue
    lastId = frame.envelope.messageId
    delivered += 1
  }
  return { ...position, delivered, lastId }
}

/** The next subscription begins with the first envelope, and those after it continue from there. */
export const readAgain = (position: StreamPosition): StreamPosition => ({ ...position, restart: true })

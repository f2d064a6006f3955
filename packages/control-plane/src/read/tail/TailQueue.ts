import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type { StoredEvent } from "../../log/EventRepository.ts"
import { canonicalEventFrame } from "../../log/LiveEvents.ts"

/** A stretch of the log with the events in it that the subscribers want: every one after `after`, up to `upTo`. */
export interface TailBatch {
  readonly _tag: "Batch"
  readonly after: number
  readonly upTo: number
  readonly events: ReadonlyArray<StoredEvent>
  /** Characters of the events. */
  readonly size: number
  /** The frames of the events: the same bytes for every subscriber, made once, on first use. */
  readonly frames: () => Uint8Array
}

/** The subscriber fell behind: it reads the database from the last seq that it has. */
export interface TailGap {
  readonly _tag: "Gap"
}

/** Batches, and characters of their events, held for one slow subscriber before it is sent back to the database. */
export const TAIL_CAPACITY = 64
export const TAIL_CHARACTERS = 1024 * 1024

const encoder = new TextEncoder()

export const tailBatch = (after: number, upTo: number, events: ReadonlyArray<StoredEvent>): TailBatch => {
  let bytes: Uint8Array | undefined
  return {
    _tag: "Batch",
    after,
    upTo,
    events,
    size: events.reduce((sum, { json }) => sum + json.length, 0),
    frames: () => {
      bytes ??= encoder.encode(events.map(canonicalEventFrame).join(""))
      return bytes
    }
  }
}

/**
 * What waits for one subscriber. Offering never waits: who does not keep up gets a gap, holds little and loses nothing.
 */
export const makeTailQueue = Effect.map(Queue.bounded<TailBatch | TailGap>(TAIL_CAPACITY + 1), (queue) => {
  let unhandled = 0
  let characters = 0
  let isLagging = false

  const offer = (batch: TailBatch) => {
    if (isLagging) return
    // One place is kept free for the gap itself, and a batch of any size is taken alone.
    isLagging = unhandled >= TAIL_CAPACITY || (unhandled > 0 && characters + batch.size > TAIL_CHARACTERS)
    unhandled += 1
    if (!isLagging) characters += batch.size
    Queue.offerUnsafe(queue, isLagging ? { _tag: "Gap" } : batch)
  }
  /** To be called with every item once nothing of it is owed any more. */
  const handled = (item: TailBatch | TailGap) => {
    unhandled -= 1
    if (item._tag === "Gap") isLagging = false
    else characters -= item.size
  }
  return { offer, take: Queue.take(queue), handled, isEmpty: () => unhandled === 0 }
})

export type TailQueue = Effect.Success<typeof makeTailQueue>

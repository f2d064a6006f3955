import { isTerminal, type RunId, type RunStatus } from "@runplane/domain"
import { SharedFrames } from "../../platform/http/SharedFrames.ts"
import type { CommittedEvent } from "../CommittedEvent.ts"

/** The message of a committed append to the subscribers of its run. */
export interface LiveBatch {
  readonly _tag: "Batch"
  readonly runId: RunId
  readonly status: RunStatus
  /** The change of status this append made, if any. */
  readonly changed: boolean
  readonly events: ReadonlyArray<CommittedEvent>
  readonly lastSeq: number
  readonly lastIndex: number
  /** Of the texts of the events. */
  readonly characters: number
  /** The frames of the events: the same bytes for every subscriber, made once, on first use. */
  readonly frames: () => SharedFrames
  /** The frame of the state after these events, made in the same way. */
  readonly snapshot: () => Uint8Array
}

const encoder = new TextEncoder()

export const canonicalEventFrame = (event: { readonly seq: number; readonly json: string }): string =>
  `event: canonical_event\nid: ${event.seq}\ndata: ${event.json}\n\n`

export const snapshotFrame = (snapshot: string): string => `event: snapshot\ndata: ${snapshot}\n\n`

/** A batch; `state` is the JSON text of the projected state after it, called at most once. */
export const makeLiveBatch = ({
  state,
  ...batch
}: Omit<LiveBatch, "_tag" | "characters" | "frames" | "snapshot"> & { readonly state: () => string }): LiveBatch => ({
  _tag: "Batch",
  ...batch,
  characters: batch.events.reduce((sum, { json }) => sum + json.length, 0),
  frames: once(() => framesOf(batch.events)),
  snapshot: once(() => encoder.encode(snapshotFrame(state())))
})

/** Consecutive batches as one. */
export const together = (batches: readonly [LiveBatch, ...ReadonlyArray<LiveBatch>]): LiveBatch => {
  const last = batches.at(-1) ?? batches[0]
  if (batches.length === 1) return last
  const events = batches.flatMap((batch) => batch.events)
  return {
    ...last,
    changed: batches.some(({ changed }) => changed),
    events,
    characters: batches.reduce((sum, { characters }) => sum + characters, 0),
    frames: once(() => framesOf(events))
  }
}

const framesOf = (events: ReadonlyArray<CommittedEvent>): SharedFrames =>
  new SharedFrames([events.map(canonicalEventFrame).join("")])

const once = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

export const endsRun = (batch: LiveBatch): boolean => batch.changed && isTerminal(batch.status)

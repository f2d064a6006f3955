import { isTerminal, type RunId, type RunStatus } from "@runplane/domain"
import type { CommittedEvent } from "../CommittedEvent.ts"

/** A committed append, as the subscribers of its run receive it. */
export interface LiveBatch {
  readonly _tag: "Batch"
  readonly runId: RunId
  readonly status: RunStatus
  /** Whether this append changed the status. */
  readonly changed: boolean
  readonly events: ReadonlyArray<CommittedEvent>
  readonly lastSeq: number
  readonly lastIndex: number
  /** Length of the JSON of the events. */
  readonly characters: number
  /** The JSON of the projected state after these events. */
  readonly state: () => string
}

/** A batch; `state` is called at most once. */
export const makeLiveBatch = ({ state, ...batch }: Omit<LiveBatch, "_tag" | "characters">): LiveBatch => ({
  _tag: "Batch",
  ...batch,
  characters: batch.events.reduce((sum, { json }) => sum + json.length, 0),
  state: once(state)
})

/** Consecutive batches as one. */
export const together = (batches: readonly [LiveBatch, ...ReadonlyArray<LiveBatch>]): LiveBatch => {
  const last = batches.at(-1) ?? batches[0]
  if (batches.length === 1) return last
  return {
    ...last,
    changed: batches.some(({ changed }) => changed),
    events: batches.flatMap((batch) => batch.events),
    characters: batches.reduce((sum, { characters }) => sum + characters, 0)
  }
}

const once = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

export const endsRun = (batch: LiveBatch): boolean => batch.changed && isTerminal(batch.status)

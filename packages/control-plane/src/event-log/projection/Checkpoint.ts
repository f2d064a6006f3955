import { MAX_STATE_BYTES, RunMetrics, RunState } from "@runplane/domain"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** The position of the stored projection of a run, which may lag behind (docs/reference/events.md#checkpoint). */
export interface Checkpoint {
  /** Index of the last event that is in it. */
  readonly index: number
  /** When it was written. Unix milliseconds. */
  readonly at: number
}

/** The stored state is missing or unknown: the next append stores it. */
export const NO_CHECKPOINT: Checkpoint = { index: 0, at: Number.NEGATIVE_INFINITY }

/** Whether an append that brings the run to `lastIndex` at the time `now` stores the projection with it. */
export const isCheckpointDue = (
  checkpoint: Checkpoint,
  lastIndex: number,
  now: number,
  { lagEvents, lagMs }: { readonly lagEvents: number; readonly lagMs: number }
): boolean => {
  const behind = lastIndex - checkpoint.index
  return behind >= lagEvents || (behind > 0 && now - checkpoint.at >= lagMs)
}

const isState = Schema.is(RunState)
const isMetrics = Schema.is(RunMetrics)

/** Larger stored states are of a time without bounds; they are not read but folded anew. Bytes. */
export const MAX_CHECKPOINT_BYTES = MAX_STATE_BYTES

/**
 * A stored state with its keys in their stored order, so that a fold on top writes the same bytes as a rebuild;
 * decoding a struct would sort them. None when there is no text, or when it is not a state.
 */
export const readState = (text: string | null) => readAsStored(text, isState)

/** The same of stored counters. */
export const readMetrics = (text: string | null) => readAsStored(text, isMetrics)

const readAsStored = <A>(text: string | null, is: (value: unknown) => value is A): Option.Option<A> =>
  text === null ? Option.none() : Option.filter(Result.getSuccess(Result.try((): unknown => JSON.parse(text))), is)

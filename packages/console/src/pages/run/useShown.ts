import type { Run } from "@runplane/api"
import { useMemo } from "react"
import type { RunView } from "../../live/RunFollower.ts"
import type { RunLog } from "../../live/RunLog.ts"
import { useStretch } from "../../live/useStretch.ts"
import type { Shown } from "./Facts.ts"

/** The run at its place, and why that could not be read. */
export interface ShownPlace {
  /** Nothing as long as it is not known. */
  readonly shown: Shown | undefined
  /** The log that what is shown was taken from. */
  readonly log: RunLog | undefined
  readonly error: Error | null
  readonly retry: () => void
}

/**
 * The run as it is now, until more events are here than the service's own state knew; or as it was after event `at`,
 * which is read again when the browser has dropped it.
 */
export const useShown = (run: Run, whole: RunLog | undefined, view: RunView, at: number | undefined): ShownPlace => {
  const { count, snapshot } = view
  const stretch = useStretch(run.id, whole, at)
  const log = stretch.isWanted ? stretch.log : whole
  const isNow = at === undefined || at >= count
  const isBehind = snapshot !== undefined && count < snapshot.timeline.latestIndex
  const seen = isBehind ? doubled(count, isNow ? firstShown(whole, count) : at) : count
  const shown = useMemo((): Shown | undefined => {
    if (log === undefined) return undefined
    const state = isNow ? (isBehind ? snapshot : log.stateAt(seen)) : log.stateAt(at)
    const places = new Map(state.participants.map(({ participantId }, place) => [participantId, place]))
    const { start } = log
    // The list grows in place: the copy is of what there is now.
    const all = log.upTo(seen)
    return {
      run,
      state,
      start,
      all,
      events: isNow ? all : all.slice(0, Math.max(0, at - start)),
      isWhole: isNow ? !isBehind : at <= log.count,
      isNow,
      placeOf: (id) => places.get(id) ?? 0
    }
  }, [run, log, seen, isBehind, isNow, snapshot, at])
  return { shown, log, error: stretch.error, retry: () => void stretch.refetch() }
}

/** Views are drawn anew after so many events at least that were dropped in front of them. */
const DROPPED = 2_000

/** So many events at least, when the first of them are not here any more. */
const firstShown = (log: RunLog | undefined, count: number): number =>
  log === undefined || log.start === 0 ? 0 : Math.min(count, (Math.floor(log.start / DROPPED) + 1) * DROPPED)

/**
 * How many of so many events the views show while a long run comes in: a power of two, so that all that is drawn on the
 * way costs no more than the whole; at least up to the place that is shown.
 */
const doubled = (count: number, least: number): number =>
  count === 0 ? 0 : Math.max(2 ** Math.floor(Math.log2(count)), least)

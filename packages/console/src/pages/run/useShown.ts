import type { Run } from "@runplane/api"
import type { CanonicalEvent, RunState } from "@runplane/domain"
import { useMemo } from "react"
import type { RunView } from "../../live/RunFollower.ts"
import type { RunLog } from "../../live/RunLog.ts"
import { useStretch } from "../../live/useStretch.ts"
import type { RunPageState, SetRunPage } from "./RunParams.ts"

/** The input of the views of a run: the run as it was at one index. */
export interface ShownRun {
  readonly run: Run
  readonly state: RunState
  /** Events of the run before the loaded ones; 0 when all are loaded. */
  readonly start: number
  /** The loaded events up to the index. */
  readonly events: ReadonlyArray<CanonicalEvent>
  /** All loaded events. */
  readonly all: ReadonlyArray<CanonicalEvent>
  /** Whether all events up to the index are loaded; those of a long run arrive after its state. */
  readonly isWhole: boolean
  /** Whether it is the latest index. */
  readonly isNow: boolean
  /** Index of a participant in the run, which determines its colour. */
  readonly participantIndex: (participantId: string) => number
}

/** The properties of every view of a run. */
export interface RunViewProps {
  readonly page: RunPageState
  readonly set: SetRunPage
  readonly shown: ShownRun
}

/** The run at an index, or the error of its read. */
export interface RunPosition {
  /** Undefined until it is loaded. */
  readonly shown: ShownRun | undefined
  /** The log behind `shown`. */
  readonly log: RunLog | undefined
  readonly error: Error | null
  readonly retry: () => void
}

/**
 * The run now, by the service's state until more events than that are loaded; or the run after event `at`, which is
 * read again when the browser has dropped it.
 */
export const useShown = (run: Run, whole: RunLog | undefined, view: RunView, at: number | undefined): RunPosition => {
  const { count, snapshot } = view
  const stretch = useStretch(run.id, whole, at)
  const log = stretch.isWanted ? stretch.log : whole
  const isNow = at === undefined || at >= count
  const isBehind = snapshot !== undefined && count < snapshot.timeline.latestIndex
  const seen = isBehind ? doubled(count, isNow ? firstShown(whole, count) : at) : count
  // The log changes its list: this is a copy, the same at each index.
  const all = useMemo(() => log?.upTo(seen), [log, seen])
  const shown = useMemo((): ShownRun | undefined => {
    if (log === undefined || all === undefined) return undefined
    const state = isNow ? (isBehind ? snapshot : log.stateAt(seen)) : log.stateAt(at)
    const indexes = new Map(state.participants.map(({ participantId }, index) => [participantId, index]))
    const { start } = log
    return {
      run,
      state,
      start,
      all,
      events: isNow ? all : all.slice(0, Math.max(0, at - start)),
      isWhole: isNow ? !isBehind : at <= log.count,
      isNow,
      participantIndex: (id) => indexes.get(id) ?? 0
    }
  }, [run, log, all, seen, isBehind, isNow, snapshot, at])
  return { shown, log, error: stretch.error, retry: () => void stretch.refetch() }
}

/** Views are drawn again after this many dropped events. */
const DROPPED = 2_000

/** The least number of events to show when the first events are dropped. */
const firstShown = (log: RunLog | undefined, count: number): number =>
  log === undefined || log.start === 0 ? 0 : Math.min(count, (Math.floor(log.start / DROPPED) + 1) * DROPPED)

/**
 * The number of events that the views show while a long run is loading: a power of two, so that all that is drawn on
 * the way costs no more than the whole; at least up to the index that is shown.
 */
const doubled = (count: number, least: number): number =>
  count === 0 ? 0 : Math.max(2 ** Math.floor(Math.log2(count)), least)

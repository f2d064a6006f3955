import {
  type CanonicalEvent,
  decodeEventText,
  emptyRunMetrics,
  emptyRunState,
  measure,
  project,
  type RunId,
  type RunMetrics,
  type RunState,
  type Sliced
} from "@runplane/domain"
import { inSlices } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import type { EventRepository, EventSlice, StoredEvent } from "../EventRepository.ts"

/** What the log folds of a run: its state and its counters. */
export interface Projected {
  readonly state: RunState
  readonly metrics: RunMetrics
}

/** Events read from the database and folded at a time; fewer when they are large (`EventRepository.slice`). */
export const EVENTS_PER_FOLD = 500

/** The fold of a prefix of a run's log. A prefix never changes, so its fold stays valid after further appends. */
export interface FoldedPrefix<A> {
  readonly lastSeq: number
  readonly lastIndex: number
  readonly folded: A
}

/** What a fold begins with at the first event. */
export const beginning = <A>(folded: A): FoldedPrefix<A> => ({ lastSeq: 0, lastIndex: 0, folded })

/** A state says itself how far it reaches. */
export const prefixOf = (state: RunState): FoldedPrefix<RunState> => ({
  lastSeq: state.timeline.latestSeq,
  lastIndex: state.timeline.latestIndex,
  folded: state
})

export const emptyProjected = (runId: RunId): Projected => ({
  state: emptyRunState(runId),
  metrics: emptyRunMetrics(runId)
})

/** One event into the state and the counters. */
export const projectAndMeasure = ({ metrics, state }: Projected, event: CanonicalEvent): Projected => ({
  state: project(state, event),
  metrics: measure(metrics, event)
})

/**
 * Folds the events behind a prefix, page by page, up to a seq or to the current end of the log. It is the fold of
 * the live path (docs/reference/events.md#fold), so the result equals the live projection byte for byte. The database
 * reads the next page while this one is folded, in slices (docs/reference/http.md#turns).
 */
export const foldOn = Effect.fnUntraced(function* <A>(
  events: Pick<EventRepository["Service"], "slice">,
  runId: RunId,
  from: FoldedPrefix<A>,
  step: (folded: A, event: CanonicalEvent) => A,
  upToSeq = Number.MAX_SAFE_INTEGER
): Effect.fn.Return<FoldedPrefix<A>, SqlError> {
  if (from.lastSeq >= upToSeq) return from
  const ask = (afterSeq: number) =>
    Effect.forkChild(events.slice(runId, { afterSeq, upToSeq }, EVENTS_PER_FOLD), { startImmediately: true })
  let prefix = from
  let pending: Fiber.Fiber<EventSlice, SqlError> | undefined = yield* ask(prefix.lastSeq)
  while (pending !== undefined) {
    const page: EventSlice = yield* Fiber.join(pending)
    const last = page.events.at(-1)
    pending = page.isLast || last === undefined ? undefined : yield* ask(last.seq)
    prefix = yield* inSlices(foldPage(prefix, page, step))
  }
  return prefix
})

function* foldPage<A>(
  from: FoldedPrefix<A>,
  { events }: EventSlice,
  step: (folded: A, event: CanonicalEvent) => A
): Sliced<FoldedPrefix<A>> {
  let prefix = from
  for (const stored of events) {
    prefix = foldOne(prefix, stored, step)
    yield
  }
  return prefix
}

const foldOne = <A>(
  { folded, lastIndex }: FoldedPrefix<A>,
  { index, json, seq }: StoredEvent,
  step: (folded: A, event: CanonicalEvent) => A
): FoldedPrefix<A> => {
  const event = Result.getOrThrow(decodeEventText(json))
  if (index !== lastIndex + 1) throw new Error(`event ${lastIndex + 1} is missing from the log before ${seq}`)
  return { lastSeq: seq, lastIndex: index, folded: step(folded, event) }
}

/**
 * Without this: the state near the end of a run of 20,000 events takes 1.4 s instead of 16 ms, because each request
 * folds from the first event (docs/internals/scale.md); costs 16 MiB at most.
 */
import { emptyRunState, project, type RunId, type RunState } from "@runplane/domain"
import { makeLongTurns, type TurnRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { EventRepository } from "../../event-log/EventRepository.ts"
import { makeByteCache } from "../../event-log/projection/ByteCache.ts"
import { beginning, type FoldedPrefix, foldOn } from "../../event-log/projection/ReplayLog.ts"
import { RunStateReader } from "../../event-log/projection/RunStateReader.ts"

/** Bytes of cached prefixes of all runs; a fold continues from the nearest one. */
const CACHED_PREFIX_BYTES = 16 * 1024 * 1024
/** A long fold caches a prefix after this many events. */
export const EVENTS_PER_PREFIX = 5_000

/** Concurrent folds of one caller (docs/reference/http.md#turns). */
const FOLDS_AT_ONCE = 2

interface CachedPrefix extends FoldedPrefix<RunState> {
  readonly runId: RunId
  /** The seq of the first event, which differs when a later run has the same id. */
  readonly firstSeq: number
  /** An erasure raises it: the texts of an earlier one are gone. */
  readonly revision: number
}

/** Which of the events of a run id a fold is of. */
type Origin = Pick<CachedPrefix, "firstSeq" | "revision">

/**
 * States of runs as of an event (docs/reference/streams.md#replay). The state at the end of the log is the stored state
 * of the run, which is the same fold; the states before are folded in pages from the nearest cached prefix.
 */
export class ReplayStates extends Context.Service<
  ReplayStates,
  {
    /** JSON text of the state after the last event up to `seq`, after all when absent; undefined for an unknown run. */
    readonly stateAt: (
      runId: RunId,
      seq: number | undefined
    ) => Effect.Effect<string | undefined, SqlError | TurnRefused>
  }
>()("runplane/control-plane/ReplayStates") {
  static readonly layer = Layer.effect(
    ReplayStates,
    Effect.gen(function* () {
      const events = yield* EventRepository
      const states = yield* RunStateReader
      const turns = makeLongTurns("replay", FOLDS_AT_ONCE)
      const cached = makeByteCache<string, CachedPrefix>(CACHED_PREFIX_BYTES)

      const cache = (prefix: CachedPrefix): string => {
        const text = JSON.stringify(prefix.folded)
        cached.put(`${prefix.firstSeq} ${prefix.revision} ${prefix.lastSeq}`, prefix, text.length)
        return text
      }
      const nearest = (runId: RunId, { firstSeq, revision }: Origin, seq: number): FoldedPrefix<RunState> => {
        let best: FoldedPrefix<RunState> = beginning(emptyRunState(runId))
        for (const prefix of cached.values()) {
          const isOfOrigin = prefix.firstSeq === firstSeq && prefix.revision === revision
          const isUsable = prefix.runId === runId && isOfOrigin && prefix.lastSeq <= seq
          if (isUsable && prefix.lastSeq > best.lastSeq) best = prefix
        }
        return best
      }

      /** The log as if it ended with this index. */
      const endingAt = (index: number): Pick<EventRepository["Service"], "slice"> => ({
        slice: (runId, between, limit) =>
          Effect.map(events.slice(runId, between, limit), (slice) => {
            const wanted = slice.events.filter((event) => event.index <= index)
            return { events: wanted, isLast: slice.isLast || wanted.length < slice.events.length }
          })
      })

      const fold = Effect.fnUntraced(function* (runId: RunId, origin: Origin, seq: number) {
        let prefix = nearest(runId, origin, seq)
        while (true) {
          const stop = prefix.lastIndex + EVENTS_PER_PREFIX
          const next = yield* foldOn(endingAt(stop), runId, prefix, project, seq)
          const text = next.lastIndex > 0 ? cache({ ...next, runId, ...origin }) : JSON.stringify(next.folded)
          if (next.lastIndex < stop) return text
          prefix = next
        }
      })

      const stateAt = Effect.fn("ReplayStates.stateAt")(function* (runId: RunId, seq: number | undefined) {
        const head = yield* states.head(runId)
        if (head === undefined) return undefined
        if (seq === undefined || seq >= head.lastSeq) return (yield* states.current(runId))?.state
        const firstSeq = yield* events.firstSeq(runId)
        const state = yield* turns.run(fold(runId, { firstSeq: firstSeq ?? 0, revision: head.revision ?? 0 }, seq))
        // The fold of a run that was deleted meanwhile is incomplete.
        if ((yield* states.head(runId)) === undefined) return undefined
        return (yield* events.firstSeq(runId)) === firstSeq ? state : undefined
      })
      return ReplayStates.of({ stateAt })
    })
  )
}

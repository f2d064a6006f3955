import * as PgClient from "@effect/sql-pg/PgClient"
import { emptyRunState, project, type RunId, type RunState } from "@runplane/domain"
import { makeFairTurns, type TurnRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { EventRepository } from "../../event-log/EventRepository.ts"
import { makeByteCache } from "../../event-log/projection/ByteCache.ts"
import { beginning, type FoldedPrefix, foldOn } from "../../event-log/projection/ReplayLog.ts"
import { RunStateReader } from "../../event-log/projection/RunStateReader.ts"

/** Prefixes that stay in memory, over all runs: scrubbing goes on from the nearest one. Bytes of their texts. */
export const KEPT_PREFIX_BYTES = 16 * 1024 * 1024
/** A long fold leaves a prefix behind after so many events. */
export const EVENTS_PER_PREFIX = 5_000

/** Folds at a time: they compute, in turns by caller (docs/reference/http.md#turns). */
const FOLDS_AT_ONCE = 2

interface KeptPrefix extends FoldedPrefix<RunState> {
  readonly runId: RunId
  /** Seq of the run's first event: another run that later has the same id has another one. */
  readonly firstSeq: number
}

/**
 * States of runs as of an event (docs/reference/http.md#replay). The end of the log is answered as the state of the
 * run, which is the same fold; any other place is folded in pages from the nearest prefix that is remembered.
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
      const sql = yield* PgClient.PgClient
      const events = yield* EventRepository
      const states = yield* RunStateReader
      const turns = makeFairTurns("replay", FOLDS_AT_ONCE)
      const kept = makeByteCache<string, KeptPrefix>(KEPT_PREFIX_BYTES)

      const keep = (prefix: KeptPrefix): string => {
        const text = JSON.stringify(prefix.folded)
        kept.put(`${prefix.firstSeq} ${prefix.lastSeq}`, prefix, text.length)
        return text
      }
      const nearest = (runId: RunId, firstSeq: number, seq: number): FoldedPrefix<RunState> => {
        let best: FoldedPrefix<RunState> = beginning(emptyRunState(runId))
        for (const prefix of kept.values()) {
          const isOnTheWay = prefix.runId === runId && prefix.firstSeq === firstSeq && prefix.lastSeq <= seq
          if (isOnTheWay && prefix.lastSeq > best.lastSeq) best = prefix
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

      const fold = Effect.fnUntraced(function* (runId: RunId, firstSeq: number, seq: number) {
        let prefix = nearest(runId, firstSeq, seq)
        while (true) {
          const stop = prefix.lastIndex + EVENTS_PER_PREFIX
          const next = yield* foldOn(endingAt(stop), runId, prefix, project, seq)
          const text = next.lastIndex > 0 ? keep({ ...next, runId, firstSeq }) : JSON.stringify(next.folded)
          if (next.lastIndex < stop) return text
          prefix = next
        }
      })

      const endsOf = (runId: RunId) =>
        Effect.map(
          sql<{ readonly first_seq: bigint | null; readonly last_seq: bigint }>`
            SELECT (SELECT e.seq FROM canonical_events e WHERE e.run_id = h.run_id ORDER BY e.seq LIMIT 1) AS first_seq,
                   h.last_seq
            FROM run_heads h
            WHERE h.run_id = ${runId}::uuid`,
          ([row]) => row
        )

      const stateAt = Effect.fn("ReplayStates.stateAt")(function* (runId: RunId, seq: number | undefined) {
        const row = yield* endsOf(runId)
        if (row === undefined) return undefined
        if (seq === undefined || seq >= Number(row.last_seq)) return (yield* states.current(runId))?.state
        const state = yield* turns.run(fold(runId, Number(row.first_seq ?? 0n), seq))
        // Of a run that is deleted while it is folded, no part is answered as its state.
        return (yield* endsOf(runId))?.first_seq === row.first_seq ? state : undefined
      })
      return ReplayStates.of({ stateAt })
    })
  )
}

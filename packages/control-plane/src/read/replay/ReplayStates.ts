import * as PgClient from "@effect/sql-pg/PgClient"
import { emptyRunState, type RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { EventRepository } from "../../log/EventRepository.ts"
import { emptyPrefix, type FoldedPrefix, foldOn } from "../insights/LogFold.ts"

/** Prefixes that stay in memory, over all runs: scrubbing goes on from the nearest one. */
export const KEPT_PREFIXES = 64
/** A long fold leaves a prefix behind after so many events. */
export const EVENTS_PER_PREFIX = 5_000

interface KeptPrefix extends FoldedPrefix {
  readonly runId: RunId
  /** Seq of the run's first event: another run that later has the same id has another one. */
  readonly firstSeq: number
}

/**
 * States of runs as of an event (docs/http.md#replay). The end of the log is answered from the stored projection, which
 * is the same fold; any other place is folded in pages from the nearest prefix that is remembered.
 */
export class ReplayStates extends Context.Service<
  ReplayStates,
  {
    /** JSON text of the state after the last event up to `seq`, after all when absent; undefined for an unknown run. */
    readonly stateAt: (runId: RunId, seq: number | undefined) => Effect.Effect<string | undefined, SqlError>
  }
>()("runplane/control-plane/ReplayStates") {
  static readonly layer = Layer.effect(
    ReplayStates,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const events = yield* EventRepository
      const kept: Array<KeptPrefix> = []

      const keep = (prefix: KeptPrefix) => {
        if (kept.some(({ firstSeq, lastSeq }) => firstSeq === prefix.firstSeq && lastSeq === prefix.lastSeq)) return
        kept.push(prefix)
        if (kept.length > KEPT_PREFIXES) kept.shift()
      }
      const nearest = (runId: RunId, firstSeq: number, seq: number): FoldedPrefix =>
        kept
          .filter((prefix) => prefix.runId === runId && prefix.firstSeq === firstSeq && prefix.lastSeq <= seq)
          .reduce<FoldedPrefix>((best, prefix) => (prefix.lastSeq > best.lastSeq ? prefix : best), emptyPrefix(runId))

      /** The log as if it ended at this seq, or with this index. */
      const endingAt = (seq: number, index: number): EventRepository["Service"] => ({
        ...events,
        page: (runId, filter, limit) =>
          Effect.map(events.page(runId, filter, limit), (page) =>
            page.filter((event) => event.seq <= seq && event.index <= index)
          )
      })

      const fold = Effect.fnUntraced(function* (runId: RunId, firstSeq: number, seq: number) {
        let prefix = nearest(runId, firstSeq, seq)
        while (true) {
          const stop = prefix.lastIndex + EVENTS_PER_PREFIX
          const next = yield* foldOn(endingAt(seq, stop), runId, prefix)
          if (next.lastIndex > prefix.lastIndex) keep({ ...next, runId, firstSeq })
          if (next.lastIndex < stop) return JSON.stringify(next.projected.state)
          prefix = next
        }
      })

      const stateAt = Effect.fn("ReplayStates.stateAt")(function* (runId: RunId, seq: number | undefined) {
        const [row] = yield* sql<{
          readonly first_seq: bigint | null
          readonly at_end: boolean
          readonly state: string | null
        }>`
          SELECT e.seq AS first_seq, place.at_end, CASE WHEN place.at_end THEN p.state::text END AS state
          FROM run_heads h
          CROSS JOIN LATERAL (SELECT coalesce(${seq === undefined ? null : BigInt(seq)}::bigint >= h.last_seq, true) AS at_end) AS place
          LEFT JOIN canonical_events e ON e.run_id = h.run_id AND e.index = 1
          LEFT JOIN projections p ON p.run_id = h.run_id
          WHERE h.run_id = ${runId}::uuid`
        if (row === undefined) return undefined
        if (seq === undefined || row.at_end) return row.state ?? JSON.stringify(emptyRunState(runId))
        return yield* fold(runId, Number(row.first_seq ?? 0n), seq)
      })
      return ReplayStates.of({ stateAt })
    })
  )
}

import * as PgClient from "@effect/sql-pg/PgClient"
import type { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import {
  type EventFilter,
  type EventPageOfRuns,
  readEvents,
  type StoredEvent
} from "../../event-log/EventRepository.ts"
import { Watermark } from "../../event-log/subscribe/Watermark.ts"
import { scenarioFilter } from "../runs/RunSearch.ts"
import { CrossRunEventBlocks, type SeqRange } from "./CrossRunEventBlocks.ts"

export interface CrossRunFilter extends EventFilter {
  readonly runId?: RunId
  /** Equal to a run's sourceRef, or part of its metadata.scenarioRef, case ignored. */
  readonly scenarioRef?: string
}

/**
 * Reads of the canonical log across runs, ascending by seq (docs/reference/streams.md#cross-run-events).
 *
 * Transactions commit in another order than their seqs are allocated, so a page ends at the watermark of the log
 * (docs/reference/events.md#watermark), and a page that is not full does not prove the end. The watermark never
 * decreases, so a page below the last known one does not read it.
 *
 * `total` counts every match after `afterSeq` without a scan of the log: blocks have counts over all runs
 * (`CrossRunEventBlocks`), and the dense index of a run's events is the count within a run.
 */
export class CrossRunEvents extends Context.Service<
  CrossRunEvents,
  {
    readonly page: (filter: CrossRunFilter, limit: number) => Effect.Effect<EventPageOfRuns, SqlError>
    readonly count: (filter: CrossRunFilter) => Effect.Effect<number, SqlError>
    /** One of these runs that was deleted. */
    readonly gone: (runIds: ReadonlyArray<RunId>) => Effect.Effect<RunId | undefined, SqlError>
  }
>()("runplane/control-plane/CrossRunEvents") {
  static readonly layer = Layer.effect(
    CrossRunEvents,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const blocks = yield* CrossRunEventBlocks
      const watermark = yield* Watermark

      const inTime = ({ afterTs, beforeTs }: CrossRunFilter) => [
        ...(afterTs === undefined ? [] : [sql`e.ts >= ${afterTs}::timestamptz`]),
        ...(beforeTs === undefined ? [] : [sql`e.ts < ${beforeTs}::timestamptz`])
      ]
      const ofTypes = ({ types }: CrossRunFilter) => (types.length === 0 ? [] : [sql`e.type = ANY(${types}::text[])`])

      /**
       * One range of the log. With types, each type has its own index scan, so that a rare type does not scan the
       * others.
       */
      const readRange = (filter: CrossRunFilter, { after, upTo }: SeqRange, limit: bigint) => {
        const inRange = sql.and([sql`e.seq > ${BigInt(after)}`, sql`e.seq <= ${BigInt(upTo)}`, ...inTime(filter)])
        if (filter.types.length === 0) {
          return sql`SELECT e.seq FROM canonical_events e WHERE ${inRange} ORDER BY e.seq LIMIT ${limit}`
        }
        return sql`
          SELECT found.seq FROM unnest(${[...new Set(filter.types)]}::text[]) AS wanted (type)
          CROSS JOIN LATERAL (
            SELECT e.seq FROM canonical_events e WHERE e.type = wanted.type AND ${inRange} ORDER BY e.seq LIMIT ${limit}
          ) AS found
          ORDER BY found.seq LIMIT ${limit}`
      }

      const readLog = Effect.fnUntraced(function* (filter: CrossRunFilter, upTo: number, limit: number) {
        const whole = { after: filter.afterSeq, upTo }
        const events: Array<StoredEvent> = []
        const runIds: Array<RunId> = []
        for (const range of inTime(filter).length === 0 ? [whole] : yield* blocks.ranges(filter)) {
          const part = { after: Math.max(range.after, filter.afterSeq), upTo: Math.min(range.upTo, upTo) }
          if (part.after >= part.upTo) continue
          const page = yield* readEvents(sql, readRange(filter, part, BigInt(limit - events.length)))
          events.push(...page.events)
          runIds.push(...page.runIds)
          if (page.isCut) return { events, isCut: true, runIds }
          if (events.length === limit) break
        }
        return { events, isCut: false, runIds }
      })

      const theRuns = (filter: CrossRunFilter) => ofRuns(sql, filter)

      /**
       * The events of some runs. A page of n events comes from at most n runs, those with the earliest next events;
       * with n such runs it ends before the last of these events.
       */
      const readRuns = Effect.fnUntraced(function* (filter: CrossRunFilter, upTo: bigint, limit: number) {
        const matches = sql.and([
          sql`e.run_id = r.id`,
          sql`e.seq > ${BigInt(filter.afterSeq)}`,
          ...inTime(filter),
          ...ofTypes(filter)
        ])
        return yield* readEvents(
          sql,
          sql`
          WITH soonest AS (
            SELECT r.id, next.seq FROM runs r
            JOIN run_heads h ON h.run_id = r.id AND h.last_seq > ${BigInt(filter.afterSeq)}
            CROSS JOIN LATERAL (SELECT e.seq FROM canonical_events e WHERE ${matches} ORDER BY e.seq LIMIT 1) AS next
            WHERE ${theRuns(filter)} ORDER BY next.seq LIMIT ${BigInt(limit)}
          ), bound AS (
            SELECT CASE WHEN count(*) = ${BigInt(limit)} THEN max(seq) ELSE ${upTo} END AS seq FROM soonest
          )
          SELECT found.seq FROM bound CROSS JOIN soonest r
          CROSS JOIN LATERAL (
            SELECT e.seq FROM canonical_events e WHERE ${matches} AND e.seq <= bound.seq ORDER BY e.seq LIMIT ${BigInt(limit)}
          ) AS found
          ORDER BY found.seq LIMIT ${BigInt(limit)}`
        )
      })

      /** Without other conditions, the count is the difference of two indexes of the run. */
      const countRuns = (filter: CrossRunFilter) => {
        const after = sql`e.run_id = r.id AND e.seq > ${BigInt(filter.afterSeq)}`
        const conditions = [...inTime(filter), ...ofTypes(filter)]
        const counted =
          conditions.length === 0
            ? sql`SELECT h.last_index - e.index + 1 AS count FROM canonical_events e WHERE ${after} ORDER BY e.seq LIMIT 1`
            : sql`SELECT count(*) AS count FROM canonical_events e WHERE ${after} AND ${sql.and(conditions)}`
        return Effect.map(
          sql<{ readonly total: string }>`
            SELECT coalesce(sum(part.count), 0)::text AS total
            FROM runs r JOIN run_heads h ON h.run_id = r.id AND h.last_seq > ${BigInt(filter.afterSeq)}
            CROSS JOIN LATERAL (${counted}) AS part
            WHERE ${theRuns(filter)}`,
          ([row]) => Number(row?.total ?? 0)
        )
      }

      const isOfRuns = ({ runId, scenarioRef }: CrossRunFilter) => runId !== undefined || scenarioRef !== undefined

      const readUpTo = (filter: CrossRunFilter, upTo: number, limit: number) =>
        isOfRuns(filter) ? readRuns(filter, BigInt(upTo), limit) : readLog(filter, upTo, limit)

      const page = Effect.fn("CrossRunEvents.page")(function* (filter: CrossRunFilter, limit: number) {
        // The events of one run commit in the order of their seqs, because each append locks the run.
        if (filter.runId !== undefined) return yield* readRuns(filter, LAST_SEQ, limit)
        const known = yield* watermark.known
        const first = filter.afterSeq < known ? yield* readUpTo(filter, known, limit) : NO_EVENTS
        if (first.isCut || first.events.length === limit) return first
        const now = yield* watermark.now
        const afterSeq = Math.max(filter.afterSeq, known)
        if (now <= afterSeq) return first
        const others = yield* readUpTo({ ...filter, afterSeq }, now, limit - first.events.length)
        return {
          events: [...first.events, ...others.events],
          isCut: others.isCut,
          runIds: [...first.runIds, ...others.runIds]
        }
      })
      const count = Effect.fn("CrossRunEvents.count")((filter: CrossRunFilter) =>
        isOfRuns(filter) ? countRuns(filter) : blocks.count(filter)
      )
      const gone = Effect.fn("CrossRunEvents.gone")((runIds: ReadonlyArray<RunId>) =>
        Effect.map(
          sql<{ readonly id: RunId }>`
            SELECT sent.id::text AS id FROM unnest(${runIds}::text[]::uuid[]) AS sent (id)
            WHERE NOT EXISTS (SELECT FROM runs r WHERE r.id = sent.id) LIMIT 1`,
          ([row]) => row?.id
        )
      )
      return CrossRunEvents.of({ page, count, gone })
    })
  )
}

const NO_EVENTS: EventPageOfRuns = { events: [], isCut: false, runIds: [] }

/** The condition on a row of `runs` with the name `r`. */
export const ofRuns = (sql: PgClient.PgClient, { runId, scenarioRef }: CrossRunFilter) =>
  sql.and([
    ...(runId === undefined ? [] : [sql`r.id = ${runId}::uuid`]),
    ...(scenarioRef === undefined ? [] : [scenarioFilter(sql, scenarioRef, "events")])
  ])

/** The greatest value of the column. */
const LAST_SEQ = 9_223_372_036_854_775_807n

import * as PgClient from "@effect/sql-pg/PgClient"
import { type MemberSalts, RunId, storedSalts } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { type BoundedRows, mostBytesOf, READ_BYTES, readBounded } from "../platform/postgres/BoundedRows.ts"
import { type SaltsRow, saltsColumn } from "./StoredSalts.ts"

/** A stored event as text, with its seq and index. */
export interface StoredEvent {
  readonly seq: number
  readonly index: number
  readonly json: string
}

/** A stored event with its salts; undefined in version 1 of the chain. */
export interface SaltedEvent extends StoredEvent {
  readonly salts: MemberSalts | undefined
}

/** Events of a run in their order with what proves them, as many as fit in memory. */
export interface SaltedSlice {
  readonly events: ReadonlyArray<SaltedEvent>
  /** Whether there were no further ones when it was read. */
  readonly isLast: boolean
}

export interface EventFilter {
  readonly afterSeq: number
  /** Inclusive lower bound, ISO-8601. */
  readonly afterTs?: string
  /** Exclusive upper bound, ISO-8601. */
  readonly beforeTs?: string
  /** Empty: every type. Unknown types match nothing. */
  readonly types: ReadonlyArray<string>
}

/** Matching events in their order, as many as fit in memory (docs/reference/http.md#page-bytes). */
export interface EventPage {
  readonly events: ReadonlyArray<StoredEvent>
  /** Whether the page ends early, because its events are large. */
  readonly isCut: boolean
}

/** Events of a run in their order, as many as fit in memory. */
export interface EventSlice {
  readonly events: ReadonlyArray<StoredEvent>
  /** Whether there were no further ones when it was read. */
  readonly isLast: boolean
}

/** Events of several runs. */
export interface EventPageOfRuns extends EventPage {
  /** The runs of the events, each once. */
  readonly runIds: ReadonlyArray<RunId>
}

/** A page as one text. */
export interface EventText extends Pick<EventPageOfRuns, "isCut" | "runIds"> {
  /** The JSON of the events, separated by commas. */
  readonly text: string
  readonly count: number
  /** The seq of the last one; undefined when there is none. */
  readonly lastSeq: number | undefined
}

export const eventText = ({ events, isCut, runIds }: EventPageOfRuns): EventText => ({
  text: events.map(({ json }) => json).join(","),
  count: events.length,
  lastSeq: events.at(-1)?.seq,
  isCut,
  runIds
})

interface Row {
  readonly seq: bigint
  readonly index: number
  readonly run_id: string
  readonly json: string
}

interface TextRow {
  /** Whether the text is that of the page; otherwise it is empty. */
  readonly is_small: boolean
  readonly count: number
  readonly last_seq: bigint | null
  readonly text: string
}

const toStored = (row: Row): StoredEvent => ({ seq: Number(row.seq), index: row.index, json: row.json })

const toPage = ({ isCut, rows }: BoundedRows<Row>): EventPageOfRuns => ({
  events: rows.map(toStored),
  isCut,
  runIds: [...new Set(rows.map((row) => row.run_id))].map((id) => RunId.make(id))
})

/** The page of the events whose seqs a statement selects, in their order. */
export const readEvents = (
  sql: PgClient.PgClient,
  seqs: Fragment,
  mostBytes?: number
): Effect.Effect<EventPageOfRuns, SqlError> =>
  Effect.map(
    readBounded<Row>(sql, {
      keys: sql`ARRAY(${seqs})`,
      from: sql`canonical_events AS event`,
      isOf: (seq) => sql`event.seq = ${seq}`,
      columns: sql`event.seq, event.index, event.run_id::text AS run_id, event.event::text AS json`,
      large: ["event.event"],
      mostBytes
    }),
    toPage
  )

/** Reads of the canonical log by run, ascending by seq (docs/reference/streams.md#list-events). */
export class EventRepository extends Context.Service<
  EventRepository,
  {
    readonly page: (runId: RunId, filter: EventFilter, limit: number) => Effect.Effect<EventPageOfRuns, SqlError>
    /** The same page; the database joins the events, which is cheaper than rows of their own. */
    readonly text: (runId: RunId, filter: EventFilter, limit: number) => Effect.Effect<EventText, SqlError>
    /**
     * The next events of a run, bounded in number and in bytes, whatever their size: a reader of the whole log has
     * one slice at a time, of about `mostBytes`, `READ_BYTES` by default.
     */
    readonly slice: (
      runId: RunId,
      between: { readonly afterSeq: number; readonly upToSeq?: number },
      limit: number,
      mostBytes?: number
    ) => Effect.Effect<EventSlice, SqlError>
    /** The next events of a run with their salts, bounded in number and in bytes. */
    readonly salted: (runId: RunId, afterSeq: number, limit: number) => Effect.Effect<SaltedSlice, SqlError>
    /** How many events match, `afterSeq` included in the match. */
    readonly count: (runId: RunId, filter: EventFilter) => Effect.Effect<number, SqlError>
    /** Seq and index of the run's last event; zeros when it has none, undefined when the run is unknown. */
    readonly head: (
      runId: RunId
    ) => Effect.Effect<
      { readonly lastSeq: number; readonly lastIndex: number; readonly cursor: number } | undefined,
      SqlError
    >
    /** Seq of the run's first event; undefined without one. */
    readonly firstSeq: (runId: RunId) => Effect.Effect<number | undefined, SqlError>
  }
>()("runplane/control-plane/EventRepository") {
  static readonly layer = Layer.effect(
    EventRepository,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const matches = (runId: RunId, filter: EventFilter) =>
        sql.and([
          sql`run_id = ${runId}::uuid`,
          sql`seq > ${BigInt(filter.afterSeq)}`,
          ...(filter.afterTs === undefined ? [] : [sql`ts >= ${filter.afterTs}::timestamptz`]),
          ...(filter.beforeTs === undefined ? [] : [sql`ts < ${filter.beforeTs}::timestamptz`]),
          ...(filter.types.length === 0 ? [] : [sql`type = ANY(${filter.types}::text[])`])
        ])

      const page = Effect.fn("EventRepository.page")((runId: RunId, filter: EventFilter, limit: number) =>
        readEvents(
          sql,
          sql`SELECT seq FROM canonical_events WHERE ${matches(runId, filter)} ORDER BY seq LIMIT ${BigInt(limit)}`
        )
      )
      const text = Effect.fn("EventRepository.text")(function* (runId: RunId, filter: EventFilter, limit: number) {
        // PostgreSQL stores a large event apart from its row, so the page reads no event before it knows their sizes.
        const [row] = yield* sql<TextRow>`
          WITH page AS MATERIALIZED (
            SELECT seq, event FROM canonical_events WHERE ${matches(runId, filter)} ORDER BY seq LIMIT ${BigInt(limit)}
          ), size AS MATERIALIZED (
            SELECT coalesce(sum(${sql.literal(mostBytesOf(["event"]))}), 0) < ${READ_BYTES} AS is_small FROM page
          )
          SELECT size.is_small, count(page.seq)::int AS count, max(page.seq) AS last_seq,
                 coalesce(string_agg(page.event::text, ',' ORDER BY page.seq), '') AS text
          FROM size LEFT JOIN page ON size.is_small GROUP BY size.is_small`
        if (row?.is_small !== true) return eventText(yield* page(runId, filter, limit))
        return {
          text: row.text,
          count: row.count,
          lastSeq: row.last_seq === null ? undefined : Number(row.last_seq),
          isCut: false,
          runIds: row.count === 0 ? [] : [runId]
        }
      })
      const slice = Effect.fn("EventRepository.slice")(function* (
        runId: RunId,
        { afterSeq, upToSeq = Number.MAX_SAFE_INTEGER }: { readonly afterSeq: number; readonly upToSeq?: number },
        limit: number,
        mostBytes?: number
      ) {
        const { events, isCut } = yield* readEvents(
          sql,
          sql`
            SELECT seq FROM canonical_events
            WHERE run_id = ${runId}::uuid AND seq > ${BigInt(afterSeq)} AND seq <= ${BigInt(upToSeq)}
            ORDER BY seq LIMIT ${BigInt(limit)}`,
          mostBytes
        )
        const last = events.at(-1)
        const isFull = last !== undefined && (isCut || events.length >= limit)
        return { events, isLast: !isFull || last.seq >= upToSeq }
      })
      const salted = Effect.fn("EventRepository.salted")(function* (runId: RunId, afterSeq: number, limit: number) {
        const { isCut, rows } = yield* readBounded<Row & SaltsRow>(sql, {
          keys: sql`ARRAY(
            SELECT seq FROM canonical_events WHERE run_id = ${runId}::uuid AND seq > ${BigInt(afterSeq)}
            ORDER BY seq LIMIT ${BigInt(limit)})`,
          from: sql`canonical_events AS event`,
          isOf: (seq) => sql`event.seq = ${seq}`,
          columns: sql`
            event.seq, event.index, event.run_id::text AS run_id, event.event::text AS json, ${saltsColumn(sql, "event")}`,
          large: ["event.event"]
        })
        const events = rows.map((row) => ({ ...toStored(row), salts: storedSalts(row.salts) }))
        return { events, isLast: !isCut && events.length < limit }
      })
      const count = Effect.fn("EventRepository.count")((runId: RunId, filter: EventFilter) =>
        Effect.map(
          sql<{ readonly total: number }>`
            SELECT count(*)::int AS total FROM canonical_events WHERE ${matches(runId, filter)}`,
          (rows) => rows[0]?.total ?? 0
        )
      )
      const head = Effect.fn("EventRepository.head")((runId: RunId) =>
        Effect.map(
          sql<{ readonly last_seq: bigint; readonly last_index: number; readonly stream_cursor: bigint }>`
            SELECT last_seq, last_index, stream_cursor FROM run_heads WHERE run_id = ${runId}::uuid`,
          ([row]) =>
            row && { lastSeq: Number(row.last_seq), lastIndex: row.last_index, cursor: Number(row.stream_cursor) }
        )
      )
      const firstSeq = Effect.fn("EventRepository.firstSeq")((runId: RunId) =>
        Effect.map(
          sql<{ readonly seq: bigint }>`
            SELECT seq FROM canonical_events WHERE run_id = ${runId}::uuid ORDER BY seq LIMIT 1`,
          ([row]) => row && Number(row.seq)
        )
      )
      return EventRepository.of({ page, text, slice, salted, count, head, firstSeq })
    })
  )
}

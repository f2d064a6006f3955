import * as PgClient from "@effect/sql-pg/PgClient"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import type { StoredEvent } from "../../event-log/EventRepository.ts"
import { Watermark } from "../../event-log/subscribe/Watermark.ts"
import { READ_BYTES } from "../../platform/postgres/BoundedRows.ts"
import { conditionOf } from "../../platform/postgres/search/QueryConditions.ts"
import { SearchBudget, type SearchFailure, SearchTooSlow } from "../../platform/postgres/search/SearchBudget.ts"
import { ofRuns } from "../events/CrossRunEvents.ts"
import { eventMeaning } from "./EventMeaning.ts"
import type { EventQuery } from "./EventQuery.ts"

/** How many seqs are looked at with the first statement; more or fewer with the next, by the time it takes. */
const FIRST_WINDOW = 2_000
const LARGEST_WINDOW = 2 ** 22
/** A window that takes less is made larger, one that takes more smaller. Milliseconds. */
const QUICK_MS = 50
const LONG_MS = 400
/** After this time a page ends where it is. Milliseconds. */
const PAGE_MS = 1_000

/** What a search has found so far. */
export interface FoundEvents {
  readonly events: ReadonlyArray<StoredEvent>
  /** Every match up to this seq is among the events. */
  readonly upTo: number
  /** Whether there was nothing behind it to be looked at. */
  readonly isEnd: boolean
}

/**
 * Searches over the log for what no index finds: stretch by stretch, for about a second, and then the page ends where
 * the search has come to. However large the log and however rare the match, a request takes no longer
 * (docs/reference/http.md#search-events).
 */
export class EventSearch extends Context.Service<
  EventSearch,
  {
    /** At most `limit` matches, and about `mostBytes`, in the order of the log, up to its watermark. */
    readonly page: (
      search: EventQuery,
      limit: number,
      mostBytes?: number
    ) => Effect.Effect<FoundEvents, SqlError | SearchFailure>
    /** The same for all events behind a seq; with one exchange. */
    readonly endOfLog: (afterSeq: number, limit: number) => Effect.Effect<FoundEvents, SqlError>
    /** Whether there are events behind a seq, be they below the watermark or not. */
    readonly isBeyond: (seq: number) => Effect.Effect<boolean, SqlError>
  }
>()("runplane/control-plane/EventSearch") {
  static readonly layer = Layer.effect(
    EventSearch,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const budget = yield* SearchBudget
      const watermark = yield* Watermark
      const meaning = eventMeaning(sql)

      const conditions = ({ filter, rest }: EventQuery) => [
        ...(filter.afterTs === undefined ? [] : [sql`e.ts >= ${filter.afterTs}::timestamptz`]),
        ...(filter.beforeTs === undefined ? [] : [sql`e.ts < ${filter.beforeTs}::timestamptz`]),
        ...(filter.types.length === 0 ? [] : [sql`e.type = ANY(${filter.types}::text[])`]),
        ...(filter.runId === undefined ? [] : [sql`e.run_id = ${filter.runId}::uuid`]),
        ...(filter.scenarioRef === undefined
          ? []
          : [sql`EXISTS (SELECT FROM runs r WHERE r.id = e.run_id AND ${ofRuns(sql, filter)})`]),
        ...(rest === undefined ? [] : [conditionOf(sql, rest, meaning)])
      ]

      const stretch = (search: EventQuery, after: number, upTo: number, limit: number, mostBytes: number) =>
        sql<Row>`
          SELECT seq, index, json, bytes
          FROM (SELECT seq, index, json, sum(octet_length(json)) OVER (ORDER BY seq) AS bytes
                FROM (SELECT e.seq, e.index, e.event::text AS json FROM canonical_events e
                      WHERE ${sql.and([sql`e.seq > ${BigInt(after)}`, sql`e.seq <= ${BigInt(upTo)}`, ...conditions(search)])}
                      ORDER BY e.seq LIMIT ${BigInt(limit)}) AS next) AS measured
          WHERE bytes - octet_length(json) < ${mostBytes} ORDER BY seq`

      const readPage = Effect.fnUntraced(function* (search: EventQuery, limit: number, mostBytes: number) {
        const bound = search.upToSeq ?? Number.MAX_SAFE_INTEGER
        const known = yield* watermark.known
        const end = bound <= known ? bound : Math.min(yield* watermark.now, bound)
        const startedAt = yield* Clock.currentTimeMillis
        const events: Array<StoredEvent> = []
        let bytes = 0
        let window = FIRST_WINDOW
        let at = search.filter.afterSeq
        let now = startedAt
        let failure: SearchFailure = new SearchTooSlow()
        while (at < end && events.length < limit && bytes < mostBytes && now - startedAt < PAGE_MS) {
          const upTo = Math.min(at + window, end)
          const wanted = limit - events.length
          const statement = stretch(search, at, upTo, wanted, mostBytes)
          const read = search.rest === undefined ? statement : budget.limited(statement)
          const tooMany = (error: SearchFailure) => {
            failure = error
            return Effect.undefined
          }
          const rows = yield* window === 1
            ? read
            : Effect.catchTags(read, { SearchTooSlow: tooMany, TurnRefused: tooMany })
          const readAt = yield* Clock.currentTimeMillis
          if (rows === undefined) {
            window = Math.max(1, window >> 4)
          } else {
            const last = rows.at(-1)
            events.push(...rows.map(({ index, json, seq }) => ({ seq: Number(seq), index, json })))
            bytes += Number(last?.bytes ?? 0)
            const isCut = last !== undefined && (rows.length >= wanted || Number(last.bytes) >= mostBytes)
            at = isCut ? Number(last.seq) : upTo
            if (readAt - now < QUICK_MS) window = Math.min(window * 4, LARGEST_WINDOW)
            else if (readAt - now > LONG_MS) window = Math.max(1, window >> 2)
          }
          now = readAt
        }
        if (at === search.filter.afterSeq && at < end) return yield* failure
        return { events, upTo: Math.max(at, search.filter.afterSeq), isEnd: at >= end }
      })
      const page = Effect.fn("EventSearch.page")((search: EventQuery, limit: number, mostBytes = READ_BYTES) => {
        const read = readPage(search, limit, mostBytes)
        return search.rest === undefined ? read : budget.inTurn(read)
      })
      const endOfLog = Effect.fn("EventSearch.endOfLog")(function* (afterSeq: number, limit: number) {
        const rows = yield* sql<{ readonly mark: bigint } & (Row | { readonly seq: null })>`
          SELECT mark, seq, index, event AS json, bytes FROM end_of_log(${BigInt(afterSeq)}, ${limit}, ${BigInt(READ_BYTES)})`
        const mark = Number(rows[0]?.mark ?? 0)
        const found = rows.flatMap((row) => (row.seq === null ? [] : [row]))
        const last = found.at(-1)
        const isCut = last !== undefined && (found.length >= limit || Number(last.bytes) >= READ_BYTES)
        return {
          events: found.map(({ index, json, seq }) => ({ seq: Number(seq), index, json })),
          upTo: isCut ? Number(last.seq) : Math.max(mark, afterSeq),
          isEnd: !isCut
        }
      })
      const isBeyond = Effect.fn("EventSearch.isBeyond")((seq: number) =>
        Effect.map(
          sql`SELECT FROM canonical_events WHERE seq > ${BigInt(seq)} ORDER BY seq LIMIT 1`,
          (rows) => rows.length > 0
        )
      )
      return EventSearch.of({ page, endOfLog, isBeyond })
    })
  )
}

interface Row {
  readonly seq: bigint
  readonly index: number
  readonly json: string
  readonly bytes: bigint
}

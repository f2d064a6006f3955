import * as PgClient from "@effect/sql-pg/PgClient"
import { eventQueryFields } from "@runplane/api"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { readEndOfLog } from "../../event-log/consume/EndOfLog.ts"
import type { StoredEvent } from "../../event-log/EventRepository.ts"
import { SCENARIO } from "../../event-log/runs/RunColumns.ts"
import { Watermark } from "../../event-log/subscribe/Watermark.ts"
import { READ_BYTES } from "../../platform/postgres/BoundedRows.ts"
import { conditionOf, type QueryColumn, type QueryMeaning } from "../../platform/postgres/search/QueryConditions.ts"
import { SearchBudget, type SearchFailure, SearchTooSlow } from "../../platform/postgres/search/SearchBudget.ts"
import { meaningOf, type PlainColumns, type SearchField } from "../../platform/postgres/search/SearchFields.ts"
import { ofRuns } from "../events/CrossRunEvents.ts"
import type { EventQuery } from "./EventQuery.ts"

const COLUMNS: PlainColumns = {
  seq: ["integer", "e.seq"],
  runId: ["uuid", "e.run_id"],
  type: ["text", "e.type"],
  ts: ["time", "e.ts"],
  index: ["integer", "e.index"],
  subjectKind: ["text", "(e.event #>> '{subject,kind}')"],
  subjectId: ["text", "(e.event #>> '{subject,id}')"],
  sourceKind: ["text", "(e.event #>> '{source,kind}')"],
  sourceName: ["text", "(e.event #>> '{source,name}')"],
  sender: ["text", "(e.event #>> '{data,sender}')"],
  messageType: ["text", "(e.event #>> '{data,messageType}')"]
}

const ASCII = /^[\u0000-\u007f]*$/

const OF_RUN: PlainColumns = {
  scenario: ["text", SCENARIO],
  scenarioRef: ["folded", "r.scenario_ref"],
  sourceRef: ["text", "r.source_ref"],
  environment: ["text", "r.environment"],
  tags: ["among", "r.tags"]
}

/** What the fields `eventQueryFields` mean for a row of `canonical_events` with the name `e`. */
const eventMeaning = (sql: PgClient.PgClient, added: ReadonlyArray<SearchField>): QueryMeaning => {
  const ofRun = Object.entries(OF_RUN).map(([name, [type, column]]) => {
    const where: QueryColumn["where"] = (test) =>
      sql`EXISTS (SELECT FROM runs r WHERE r.id = e.run_id AND ${test(sql.literal(column))})`
    const has: QueryColumn["has"] = (tags) => sql`cardinality(${tags}) > 0`
    return [name, (): QueryColumn => ({ type, where, ...(type === "among" && { has }) })] as const
  })
  return meaningOf(sql, {
    declared: eventQueryFields,
    plain: COLUMNS,
    others: {
      data: (path) => ({
        type: "text",
        where: (test) => test(sql`(e.event #>> ${["data", ...path.split(".")]}::text[])`)
      }),
      ...Object.fromEntries(ofRun)
    },
    added,
    // The text is searched in the JSON of the event. For ASCII, lower() is enough and much faster.
    search: (text) => {
      const part = sql`${JSON.stringify(text).slice(1, -1)}::text`
      return ASCII.test(text)
        ? sql`strpos(lower(e.event::text), lower(${part})) > 0`
        : sql`strpos(fold_text(e.event::text), fold_text(${part})) > 0`
    }
  })
}

/** The meaning of searches over events, with the fields that features add. */
export class EventMeaning extends Context.Service<EventMeaning, QueryMeaning>()("runplane/control-plane/EventMeaning") {
  static readonly layer = (added: ReadonlyArray<SearchField>) =>
    Layer.effect(
      EventMeaning,
      Effect.map(PgClient.PgClient, (sql) => eventMeaning(sql, added))
    )
}

/** Seqs that the first statement reads; the next window depends on the time it takes. */
const FIRST_WINDOW = 2_000
const LARGEST_WINDOW = 2 ** 22
/** A faster window grows, a slower one shrinks. Milliseconds. */
const QUICK_MS = 50
const LONG_MS = 400
/** After this time a page ends at its position. Milliseconds. */
const PAGE_MS = 1_000

/** A page of a search. */
export interface FoundEvents {
  readonly events: ReadonlyArray<StoredEvent>
  /** The page has every match up to this seq. */
  readonly upTo: number
  /** Whether the page reaches the end of the log. */
  readonly isEnd: boolean
}

/**
 * Searches over the log without an index: window by window, for about a second, then the page ends at its position. So
 * the time of a request does not depend on the size of the log (docs/reference/streams.md#search-events).
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
    /** The page of all events behind a seq, in one statement. */
    readonly endOfLog: (afterSeq: number, limit: number) => Effect.Effect<FoundEvents, SqlError>
    /** Whether there are events behind a seq, also above the watermark. */
    readonly isBeyond: (seq: number) => Effect.Effect<boolean, SqlError>
  }
>()("runplane/control-plane/EventSearch") {
  static readonly layer = Layer.effect(
    EventSearch,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const budget = yield* SearchBudget
      const watermark = yield* Watermark
      const meaning = yield* EventMeaning

      const conditions = ({ conditions: others, filter }: EventQuery) => [
        ...(filter.afterTs === undefined ? [] : [sql`e.ts >= ${filter.afterTs}::timestamptz`]),
        ...(filter.beforeTs === undefined ? [] : [sql`e.ts < ${filter.beforeTs}::timestamptz`]),
        ...(filter.types.length === 0 ? [] : [sql`e.type = ANY(${filter.types}::text[])`]),
        ...(filter.runId === undefined ? [] : [sql`e.run_id = ${filter.runId}::uuid`]),
        ...(filter.scenarioRef === undefined
          ? []
          : [sql`EXISTS (SELECT FROM runs r WHERE r.id = e.run_id AND ${ofRuns(sql, filter)})`]),
        ...(others === undefined ? [] : [conditionOf(sql, others, meaning)])
      ]

      const readWindow = (search: EventQuery, after: number, upTo: number, limit: number, mostBytes: number) =>
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
          const statement = readWindow(search, at, upTo, wanted, mostBytes)
          const read = search.conditions === undefined ? statement : budget.limited(statement)
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
        return search.conditions === undefined ? read : budget.inTurn(read)
      })
      const endOfLog = Effect.fn("EventSearch.endOfLog")((afterSeq: number, limit: number) =>
        readEndOfLog(sql, afterSeq, limit)
      )
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

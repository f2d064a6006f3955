import { ControlPlaneApi, type CrossRunEventsQuery, eventQueryFields } from "@runplane/api"
import { parseQuery, RunId } from "@runplane/domain"
import { sseResponse } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import type { SqlError } from "effect/sql/SqlError"
import { eventText } from "../../event-log/EventRepository.ts"
import { RunGone } from "../../event-log/runs/RunGone.ts"
import { jsonPages, jsonText, type TextPage } from "../../platform/http/JsonAnswer.ts"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { orSearchRefused } from "../../platform/http/SearchAnswers.ts"
import { shareReads } from "../../platform/postgres/SharedRead.ts"
import { CrossRunEvents, type CrossRunFilter } from "../../queries/events/CrossRunEvents.ts"
import { EVENTS_PER_READ, eventAnswer, eventEnvelope } from "../../queries/events/EventsHttp.ts"
import { type EventQuery, eventQueryOf } from "../../queries/query/EventQuery.ts"
import { EventSearch } from "../../queries/query/EventSearch.ts"
import { currentConnection, lastEventSeq } from "../SseConnection.ts"
import { StreamSlots } from "../StreamSlots.ts"
import { LogStream } from "./LogStream.ts"

/**
 * `GET /events` (docs/reference/streams.md#cross-run-events) always returns the envelope, with the stored JSON of the
 * events. A search that is equal to filters is read as filters (docs/reference/streams.md#search-events).
 * `GET /events/stream` is docs/reference/streams.md#log-stream.
 */
export const CrossRunEventsHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "crossRunEvents",
  Effect.fnUntraced(function* (handlers) {
    const events = yield* CrossRunEvents
    const searches = yield* EventSearch
    const streams = yield* LogStream
    const slots = yield* StreamSlots

    const read = Effect.fnUntraced(function* (
      { filter, limit }: Filtered,
      triesLeft = MOST_TRIES
    ): Effect.fn.Return<TextPage<SqlError | RunGone>, SqlError> {
      const wanted = Math.min(limit, EVENTS_PER_READ)
      const first = yield* events.page(filter, wanted)
      // A page that is not full contains all matches.
      const isAll = !first.isCut && first.events.length < wanted
      const counted = isAll ? first.events.length : yield* events.count(filter)
      // A run was deleted between the two reads.
      if (counted < first.events.length && triesLeft > 0) return yield* read({ filter, limit }, triesLeft - 1)
      const total = Math.max(counted, first.events.length)
      const whole = Effect.fnUntraced(function* (runIds: ReadonlyArray<RunId>, count: number) {
        const gone = yield* events.gone(runIds)
        if (gone !== undefined) return yield* new RunGone({ runId: gone })
        // The count includes events above the watermark, so only a smaller count proves that a run was deleted.
        if (count < Math.min(total, limit) && (yield* events.count(filter)) < total) {
          return yield* new RunGone({ runId: undefined })
        }
      })
      const readText = (from: CrossRunFilter, most: number) => Effect.map(events.page(from, most), eventText)
      return eventAnswer(eventEnvelope(total, limit), filter, limit, eventText(first), readText, whole)
    })
    const shared = yield* shareReads(
      (query: Filtered) => read(query),
      (query) => JSON.stringify(query)
    )
    const filtered = (filter: CrossRunFilter, limit: number) => Effect.map(shared({ filter, limit }), jsonPages)

    const searched = Effect.fnUntraced(function* (search: EventQuery, limit: number) {
      const { events: found, isEnd, upTo } = yield* searches.page(search, Math.min(limit, EVENTS_PER_READ))
      const cursor = isEnd ? "" : `,"nextCursor":${upTo}`
      return jsonText(`{"data":[${found.map(({ json }) => json).join(",")}],"limit":${limit}${cursor}}`)
    }, orSearchRefused(eventQueryFields))

    const list = Effect.fnUntraced(function* (query: CrossRunEventsQuery) {
      const filter = filterOf(query)
      if (query.q === undefined) return yield* filtered(filter, query.limit)
      // The request was validated, so the query parses.
      const parsed = yield* Effect.orDie(Effect.fromResult(parseQuery(query.q, eventQueryFields)))
      const search = eventQueryOf(filter, parsed, yield* Clock.currentTimeMillis)
      const isFilter = search.conditions === undefined && search.upToSeq === undefined
      return yield* isFilter ? filtered(search.filter, query.limit) : searched(search, query.limit)
    })

    return handlers.handleAll({
      list: ({ query }) => orUnavailable(list(query)),
      stream: Effect.fnUntraced(function* ({ headers, query }) {
        const rejection = yield* slots.take
        if (rejection !== undefined) return rejection
        const connection = yield* currentConnection
        const afterSeq = query.afterSeq ?? lastEventSeq(headers["last-event-id"])
        return sseResponse(streams.open(query, afterSeq, connection), "a stream of the log")
      })
    })
  })
)

/** Reads of a page whose total is too small for it, before the page itself is believed. */
const MOST_TRIES = 5

interface Filtered {
  readonly filter: CrossRunFilter
  readonly limit: number
}

const filterOf = ({ afterSeq, afterTs, beforeTs, runId, scenarioRef, type }: CrossRunEventsQuery): CrossRunFilter => ({
  afterSeq,
  ...(afterTs !== undefined && { afterTs }),
  ...(beforeTs !== undefined && { beforeTs }),
  ...(runId !== undefined && { runId: RunId.make(runId) }),
  ...(scenarioRef !== undefined && { scenarioRef }),
  types: type ?? []
})

import { ControlPlaneApi, type CrossRunEventsQuery, eventQueryFields } from "@runplane/api"
import { parseQuery, RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
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
import { currentClient } from "../run/StreamClient.ts"
import { seqOf, sse } from "../run/StreamHttp.ts"
import { StreamSlots } from "../run/StreamSlots.ts"
import { LogStream } from "./LogStream.ts"

/**
 * `GET /events` (docs/reference/http.md#cross-run-events): always the envelope; the stored texts go out as they are. A
 * search that filters can say is one of them (docs/reference/http.md#search-events). `GET /events/stream` is
 * docs/reference/http.md#log-stream.
 */
export const CrossRunEventsHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "crossRunEvents",
  Effect.fn(function* (handlers) {
    const events = yield* CrossRunEvents
    const searches = yield* EventSearch
    const streams = yield* LogStream
    const slots = yield* StreamSlots

    const read = Effect.fnUntraced(function* ({
      filter,
      limit
    }: Filtered): Effect.fn.Return<TextPage<SqlError | RunGone>, SqlError> {
      const wanted = Math.min(limit, EVENTS_PER_READ)
      const first = yield* events.page(filter, wanted)
      // A page that is not full holds all that there is to be read.
      const isAll = !first.isCut && first.events.length < wanted
      const total = isAll ? first.events.length : yield* events.count(filter)
      // A run was deleted between the two reads.
      if (total < first.events.length) return yield* read({ filter, limit })
      const whole = Effect.fnUntraced(function* (runIds: ReadonlyArray<RunId>, count: number) {
        const gone = yield* events.gone(runIds)
        if (gone !== undefined) return yield* new RunGone({ runId: gone })
        // What is above the watermark is counted and not read, so fewer events prove nothing; a smaller total does.
        if (count < Math.min(total, limit) && (yield* events.count(filter)) < total) {
          return yield* new RunGone({ runId: undefined })
        }
      })
      const readText = (from: CrossRunFilter, most: number) => Effect.map(events.page(from, most), eventText)
      return eventAnswer(eventEnvelope(total, limit), filter, limit, eventText(first), readText, whole)
    })
    const shared = yield* shareReads(read, (query) => JSON.stringify(query))
    const filtered = (filter: CrossRunFilter, limit: number) => Effect.map(shared({ filter, limit }), jsonPages)

    const searched = Effect.fnUntraced(function* (search: EventQuery, limit: number) {
      const { events: found, isEnd, upTo } = yield* searches.page(search, Math.min(limit, EVENTS_PER_READ))
      const cursor = isEnd ? "" : `,"nextCursor":${upTo}`
      return jsonText(`{"data":[${found.map(({ json }) => json).join(",")}],"limit":${limit}${cursor}}`)
    }, orSearchRefused(eventQueryFields))

    const list = Effect.fnUntraced(function* (query: CrossRunEventsQuery) {
      const filter = filterOf(query)
      if (query.q === undefined) return yield* filtered(filter, query.limit)
      // The contract has read it once.
      const parsed = yield* Effect.orDie(Effect.fromResult(parseQuery(query.q, eventQueryFields)))
      const search = eventQueryOf(filter, parsed)
      const isFilter = search.rest === undefined && search.upToSeq === undefined
      return yield* isFilter ? filtered(search.filter, query.limit) : searched(search, query.limit)
    })

    return handlers.handleAll({
      list: ({ query }) => orUnavailable(list(query)),
      stream: Effect.fnUntraced(function* ({ headers, query }) {
        const refusal = yield* slots.take
        if (refusal !== undefined) return refusal
        const client = yield* currentClient
        const afterSeq = query.afterSeq ?? seqOf(headers["last-event-id"])
        return HttpServerResponse.stream(streams.open(query, afterSeq, client), sse)
      })
    })
  })
)

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

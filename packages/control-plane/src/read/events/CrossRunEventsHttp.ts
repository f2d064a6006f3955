import { ControlPlaneApi, type CrossRunEventsQuery } from "@runplane/api"
import { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { jsonPages } from "../../edge/JsonAnswer.ts"
import { orUnavailable } from "../../edge/OutageAnswers.ts"
import { CrossRunEvents, type CrossRunFilter } from "./CrossRunEvents.ts"
import { EVENTS_PER_READ, eventAnswer, eventEnvelope } from "./EventsHttp.ts"

/** `GET /events` (docs/http.md#cross-run-events): always the envelope; the stored texts go out as they are. */
export const CrossRunEventsHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "crossRunEvents",
  Effect.fn(function* (handlers) {
    const events = yield* CrossRunEvents

    const list = Effect.fnUntraced(function* (query: CrossRunEventsQuery) {
      const filter = filterOf(query)
      const wanted = Math.min(query.limit, EVENTS_PER_READ)
      const first = yield* events.page(filter, wanted)
      // A page that is not full holds all that there is to be read.
      const total = first.length < wanted ? first.length : yield* events.count(filter)
      return jsonPages(eventAnswer(eventEnvelope(total, query.limit), filter, query.limit, first, events.page))
    })

    return handlers.handle("list", ({ query }) => orUnavailable(list(query)))
  })
)

const filterOf = ({ afterSeq, afterTs, beforeTs, runId, scenarioRef, type }: CrossRunEventsQuery): CrossRunFilter => ({
  afterSeq,
  ...(afterTs !== undefined && { afterTs }),
  ...(beforeTs !== undefined && { beforeTs }),
  ...(runId !== undefined && { runId: RunId.make(runId) }),
  ...(scenarioRef !== undefined && { scenarioRef }),
  types: type ?? []
})

import { ControlPlaneApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { ReceivedSpans } from "./ReceivedSpans.ts"
import { TraceReports } from "./TraceReports.ts"

/** The `traces` group. */
export const TracesHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "traces",
  Effect.fnUntraced(function* (handlers) {
    const reports = yield* TraceReports
    const spans = yield* ReceivedSpans
    return handlers.handleAll({
      traces: ({ params }) => orUnavailable(reports.traces(params.id)),
      spans: ({ params, query }) => orUnavailable(spans.page(params.id, query))
    })
  })
)

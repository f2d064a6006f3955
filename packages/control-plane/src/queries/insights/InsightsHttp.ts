import { ControlPlaneApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { HttpApiBuilder } from "effect/http-api"
import * as Stream from "effect/Stream"
import { asCaller, currentCaller } from "../../platform/http/CurrentCaller.ts"
import { cutOnFailure, jsonText } from "../../platform/http/JsonAnswer.ts"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { type ExportText, exportTexts } from "./ExportText.ts"
import { Insights, ProjectionRebuild } from "./Insights.ts"
import { ReceivedSpans } from "./ReceivedSpans.ts"
import { RunExports } from "./RunExports.ts"

/** A response that is made as the client receives it; an error cuts the connection. */
export const exportAnswer = (text: ExportText, contentType: string, status = 200) =>
  HttpServerResponse.stream(Stream.encodeText(cutOnFailure("an export")(text)), { contentType, status })

/** The `insights` group. */
export const InsightsHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "insights",
  Effect.fnUntraced(function* (handlers) {
    const exports = yield* RunExports
    const insights = yield* Insights
    const spans = yield* ReceivedSpans
    const projections = yield* ProjectionRebuild
    return handlers.handleAll({
      traces: ({ params }) => orUnavailable(insights.traces(params.id)),
      spans: ({ params, query }) => orUnavailable(spans.page(params.id, query)),
      compare: ({ payload }) => orUnavailable(insights.compare(payload.leftRunId, payload.rightRunId)),
      rebuild: ({ params }) =>
        Effect.flatMap(currentCaller, (caller) => projections.rebuild(params.id, caller)).pipe(
          Effect.map(jsonText),
          Effect.map(HttpServerResponse.setStatus(201)),
          orUnavailable
        ),
      export: ({ params, query: { format, ...options } }) =>
        asCaller((caller) =>
          Effect.map(exports.one(params.id, format, options, caller), (text) =>
            exportAnswer(text, exportTexts[format].contentType)
          )
        )
    })
  })
)

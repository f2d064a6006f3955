import { ControlPlaneApi, markQueryFields, runQueryFields } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { jsonPages } from "../../platform/http/JsonAnswer.ts"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { orSearchRefused } from "../../platform/http/SearchAnswers.ts"
import { AgentRecords } from "./AgentRecords.ts"
import { MarkAgreementReport } from "./MarkAgreementReport.ts"
import { MarkSearch } from "./MarkSearch.ts"

/** The `markReports` group (docs/reference/marks.md). */
export const MarkReportsHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "markReports",
  Effect.fnUntraced(function* (handlers) {
    const agreement = yield* MarkAgreementReport
    const records = yield* AgentRecords
    const search = yield* MarkSearch
    return handlers.handleAll({
      list: ({ query }) =>
        Effect.map(search.list(query), jsonPages).pipe(orSearchRefused(markQueryFields), orUnavailable),
      agreement: ({ query }) => agreement.report(query).pipe(orSearchRefused(runQueryFields), orUnavailable),
      records: ({ query }) => records.records(query).pipe(orSearchRefused(runQueryFields), orUnavailable),
      record: ({ params, query }) =>
        records.record(params.participantId, query).pipe(orSearchRefused(runQueryFields), orUnavailable)
    })
  })
)

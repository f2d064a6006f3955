import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { RunReference } from "../../validation/Params.ts"
import { bodySchema } from "../../validation/RequestSchema.ts"
import { BacktestLine, BacktestRequest } from "./Backtest.ts"
import { divergenceQuery, forecastQuery, WhatIfRequest } from "./DecisionRequests.ts"
import { DecisionForecast, DecisionWhy, DivergenceAnswer, RunCard, WhatIfAnswer } from "./Decisions.ts"
import { StabilityAnswer, stabilityQuery } from "./Stability.ts"

const id = { id: RunReference }

export const MARKDOWN_CONTENT_TYPE = "text/markdown"
export const HTML_CONTENT_TYPE = "text/html"

const text = (contentType: string) => Schema.String.pipe(HttpApiSchema.asText({ contentType }))

/** What a run's history says about its decision (docs/reference/decisions.md). */
export class DecisionsGroup extends HttpApiGroup.make("decisions")
  .add(
    HttpApiEndpoint.get("forecast", "/runs/:id/forecast", {
      params: id,
      query: forecastQuery,
      success: DecisionForecast,
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "getForecast",
        access: "viewer",
        summary: "Forecast the outcomes of a decision",
        description:
          "For each outcome: whether a commitment would be accepted now, will be in any case, can be, or cannot be any " +
          "more; why the rules refuse it, and which acts would change that."
      })
    ),
    HttpApiEndpoint.get("why", "/runs/:id/decision/why", {
      params: id,
      success: [DecisionWhy, text(MARKDOWN_CONTENT_TYPE), text(HTML_CONTENT_TYPE)],
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "explainDecision",
        access: "viewer",
        summary: "Explain why a run was decided as it was",
        description:
          "The decision record: what was said, how each rule was met, which votes carried the outcome, and what it cost. " +
          "`Accept` chooses its form: JSON, Markdown, or one printable page. Of a run without decision it says what was missing."
      })
    ),
    HttpApiEndpoint.get("card", "/runs/:id/decision/card", {
      params: id,
      query: forecastQuery,
      success: RunCard,
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "getDecisionCard",
        access: "viewer",
        summary: "Show a decision as one picture",
        description:
          "The question, the verdict in one word, a ring of voters for each proposal with the rule that the votes have to " +
          "satisfy, and the reasons in sentences. An open run has what it waits for and what is still possible."
      })
    ),
    HttpApiEndpoint.post("whatIf", "/runs/:id/what-if", {
      params: id,
      payload: bodySchema(WhatIfRequest, { unknownKeys: "reject" }),
      success: WhatIfAnswer.pipe(HttpApiSchema.status(201)),
      error: [Failure.RunNotFound, Failure.InvalidPolicyDefinition, Failure.QuestionRefused, ...Failure.runtime]
    }).annotateMerge(
      operation({
        id: "askWhatIf",
        access: "viewer",
        summary: "Evaluate a run under other rules or votes",
        description: "Nothing is written, and no session is touched."
      })
    ),
    HttpApiEndpoint.get("divergence", "/runs/:id/divergence", {
      params: id,
      query: divergenceQuery,
      success: DivergenceAnswer,
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "getDivergence",
        access: "viewer",
        summary: "Find the first difference between two runs",
        description:
          "Runs are aligned by cause, not by clock: ids, times and the order among participants make no difference."
      })
    ),
    HttpApiEndpoint.post("backtest", "/policies/backtest", {
      payload: bodySchema(BacktestRequest, { unknownKeys: "reject" }),
      success: HttpApiSchema.StreamNdjson({ schema: BacktestLine }),
      error: [Failure.InvalidPolicyDefinition, Failure.NoPolicyToTry, ...Failure.runtime]
    }).annotateMerge(
      operation({
        id: "backtestPolicy",
        access: "viewer",
        summary: "List the runs that another policy would have ended differently",
        description:
          "Lines of JSON as they are found: progress, each run that flips, and at last a summary, without which the " +
          "answer is not whole. Nothing is written. The work ends when the client leaves."
      })
    ),
    HttpApiEndpoint.get("stability", "/stability", {
      query: stabilityQuery,
      success: StabilityAnswer,
      error: Failure.SearchTooSlow
    }).annotateMerge(
      operation({
        id: "getStability",
        access: "viewer",
        summary: "Describe how stable the decisions of runs are",
        description:
          "The outcomes of the latest 1,000 matching runs, their agreement with its interval, and for the runs with " +
          "another outcome the first difference from a typical run of the majority. Archived runs are among them."
      })
    )
  )
  .annotateMerge(tag("Decisions", "What a run's history says about its decision")) {}

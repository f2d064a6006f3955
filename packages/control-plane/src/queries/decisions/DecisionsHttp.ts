import { ControlPlaneApi, HTML_CONTENT_TYPE, MARKDOWN_CONTENT_TYPE } from "@runplane/api"
import { type Why, whyHtml, whyMarkdown } from "@runplane/domain"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { HttpApiBuilder } from "effect/http-api"
import * as Stream from "effect/Stream"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { Backtests } from "./Backtests.ts"
import { Decisions } from "./Decisions.ts"
import { preferred } from "./MediaTypes.ts"

/** The forms of the decision record, JSON first: what a caller who does not say gets. */
const FORMS = ["application/json", MARKDOWN_CONTENT_TYPE, HTML_CONTENT_TYPE] as const

/** Nothing is loaded and nothing runs, whatever participants wrote. */
const PAGE_HEADERS = {
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
  "x-content-type-options": "nosniff",
  vary: "accept"
}

const inForm = (answer: Why, accept: string | undefined) => {
  switch (preferred(FORMS, accept)) {
    case MARKDOWN_CONTENT_TYPE:
      return page(whyMarkdown(answer), MARKDOWN_CONTENT_TYPE)
    case HTML_CONTENT_TYPE:
      return page(whyHtml(answer), HTML_CONTENT_TYPE)
    default:
      return HttpServerResponse.jsonUnsafe(answer, { headers: { vary: "accept" } })
  }
}

const page = (text: string, contentType: string) =>
  HttpServerResponse.text(text, { contentType: `${contentType}; charset=utf-8`, headers: PAGE_HEADERS })

/** What fails on the way cuts the connection, so that a part cannot be taken for the whole. */
const toldOfCuts = <A, E>(lines: Stream.Stream<A, E>) =>
  Stream.tapCause(lines, (cause) =>
    Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logWarning("a backtest was cut", cause)
  )

/** The `decisions` group (docs/reference/decisions.md). */
export const DecisionsHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "decisions",
  Effect.fn(function* (handlers) {
    const backtests = yield* Backtests
    const decisions = yield* Decisions
    return handlers.handleAll({
      forecast: ({ params, query }) => orUnavailable(decisions.forecast(params.id, query.atSeq)),
      why: ({ params }) =>
        Effect.gen(function* () {
          const { headers } = yield* HttpServerRequest
          return inForm(yield* decisions.why(params.id), headers["accept"])
        }).pipe(orUnavailable),
      whatIf: ({ params, payload }) => orUnavailable(decisions.whatIf(params.id, payload)),
      divergence: ({ params, query }) => orUnavailable(decisions.divergence(params.id, query.with)),
      backtest: ({ payload }) => orUnavailable(Effect.map(backtests.open(payload), toldOfCuts))
    })
  })
)

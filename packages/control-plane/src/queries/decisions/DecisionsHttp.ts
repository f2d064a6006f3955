import { ControlPlaneApi, CurrentActor, HTML_CONTENT_TYPE, MARKDOWN_CONTENT_TYPE, runQueryFields } from "@runplane/api"
import { whyHtml, whyMarkdown } from "@runplane/domain"
import { cutOnFailure } from "@runplane/server"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { HttpApiBuilder } from "effect/http-api"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { orSearchRefused } from "../../platform/http/SearchAnswers.ts"
import { Backtests } from "./Backtests.ts"
import { type DecisionRecord, Decisions } from "./Decisions.ts"
import { Stabilities } from "./Stabilities.ts"

/** Limit of the parsed parts of an `Accept` header. */
const MAX_RANGES = 50

/** The preferred form by an `Accept` header; the first form when the header accepts no form. */
export const preferred = <F extends string>(
  forms: readonly [F, ...ReadonlyArray<F>],
  accept: string | undefined
): F => {
  const ranges = (accept ?? "").split(",", MAX_RANGES).map(readRange)
  let [best] = forms
  let most = 0
  for (const form of forms) {
    const quality = qualityOf(form, ranges)
    if (quality > most) [best, most] = [form, quality]
  }
  return best
}

interface MediaRange {
  readonly type: string
  readonly quality: number
}

const readRange = (text: string): MediaRange => {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase())
  const stated = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2)
  const quality = stated === undefined ? 1 : Number(stated)
  return { type, quality: quality >= 0 && quality <= 1 ? quality : 0 }
}

/** The quality of a form in its most specific range. */
const qualityOf = (form: string, ranges: ReadonlyArray<MediaRange>): number => {
  const [kind = ""] = form.split("/")
  for (const type of [form, `${kind}/*`, "*/*"]) {
    const range = ranges.find((one) => one.type === type)
    if (range !== undefined) return range.quality
  }
  return 0
}

/** The forms of the decision record; JSON is the default. */
const FORMS = ["application/json", MARKDOWN_CONTENT_TYPE, HTML_CONTENT_TYPE] as const

/** The page loads no resources and runs no scripts of participants. */
const PAGE_HEADERS = {
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
  "x-content-type-options": "nosniff",
  vary: "accept"
}

/** The subject of a record that is made now, for the caller. */
const printed = Effect.fnUntraced(function* (subject: DecisionRecord["subject"]) {
  const { actorId, name } = yield* CurrentActor
  return { ...subject, printed: { at: DateTime.formatIso(yield* DateTime.now), by: name ?? actorId } }
})

const page = (text: string, contentType: string) =>
  HttpServerResponse.text(text, { contentType: `${contentType}; charset=utf-8`, headers: PAGE_HEADERS })

/** The `decisions` group (docs/reference/decisions.md). */
export const DecisionsHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "decisions",
  Effect.fnUntraced(function* (handlers) {
    const backtests = yield* Backtests
    const decisions = yield* Decisions
    const stabilities = yield* Stabilities
    return handlers.handleAll({
      forecast: ({ params, query }) => orUnavailable(decisions.forecast(params.id, query.atSeq)),
      why: ({ params }) =>
        Effect.gen(function* () {
          const { headers } = yield* HttpServerRequest
          const form = preferred(FORMS, headers["accept"])
          if (form === "application/json") {
            return HttpServerResponse.jsonUnsafe(yield* decisions.why(params.id), { headers: { vary: "accept" } })
          }
          const { subject, ...record } = yield* decisions.record(params.id)
          const write = form === HTML_CONTENT_TYPE ? whyHtml : whyMarkdown
          return page(write(record, yield* printed(subject)), form)
        }).pipe(orUnavailable),
      card: ({ params, query }) => orUnavailable(decisions.card(params.id, query.atSeq)),
      whatIf: ({ params, payload }) => orUnavailable(decisions.whatIf(params.id, payload)),
      divergence: ({ params, query }) => orUnavailable(decisions.divergence(params.id, query.with)),
      backtest: ({ payload }) => orUnavailable(Effect.map(backtests.open(payload), cutOnFailure("a backtest"))),
      stability: ({ query }) => orUnavailable(orSearchRefused(runQueryFields)(stabilities.stability(query)))
    })
  })
)

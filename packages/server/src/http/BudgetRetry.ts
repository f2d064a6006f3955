import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** The part of a refusal by a budget from which the time of a retry follows; amounts are US dollars. */
const Exhausted = Schema.Struct({
  errorCode: Schema.Literal("BUDGET_EXHAUSTED"),
  metadata: Schema.Struct({ endsAt: Schema.String, expectedUsd: Schema.Finite, limitUsd: Schema.Finite })
})
const decode = Schema.decodeUnknownOption(Exhausted)

/**
 * Adds `Retry-After` to the 409 of a budget: the seconds until its period ends (docs/reference/alerts.md#admission). A
 * run whose expected cost alone reaches the limit is refused in every period, so its answer has none.
 */
export const withBudgetRetry = <A, E, R>(handler: Effect.Effect<A, E, R>) =>
  Effect.tapError(handler, (error) =>
    Option.match(decode(error), {
      onNone: () => Effect.void,
      onSome: ({ metadata: { endsAt, expectedUsd, limitUsd } }) => {
        const end = Date.parse(endsAt)
        if (!Number.isFinite(end) || expectedUsd >= limitUsd) return Effect.void
        return Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const seconds = Math.max(1, Math.ceil((end - now) / 1_000))
          return HttpEffect.appendPreResponseHandler((_request, response) =>
            Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", String(seconds)))
          )
        })
      }
    })
  )

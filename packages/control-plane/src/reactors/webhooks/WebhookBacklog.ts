import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Counting stops here: what is beyond is too many anyway. */
const COUNTED = 10_000
/** Scrapes of all kinds cause one count in this time, and no scrape waits longer. Milliseconds. */
const COUNT_TTL_MS = 5_000
const COUNT_TIMEOUT_MS = 1_000

/** Deliveries that are not settled yet, for the metrics; undefined while they cannot be counted. */
export class WebhookBacklog extends Context.Service<
  WebhookBacklog,
  { readonly count: Effect.Effect<number | undefined> }
>()("runplane/control-plane/WebhookBacklog") {
  static readonly layer = Layer.effect(
    WebhookBacklog,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const count = yield* sql<{ readonly pending: number }>`
        SELECT count(*)::int AS pending
        FROM (SELECT 1 FROM webhook_deliveries WHERE status = 'pending' LIMIT ${COUNTED}) counted`.pipe(
        Effect.map(([row]) => row?.pending),
        Effect.catch(() => Effect.succeed(undefined)),
        Effect.timeoutOrElse({ duration: COUNT_TIMEOUT_MS, orElse: () => Effect.succeed(undefined) }),
        Effect.cachedWithTTL(COUNT_TTL_MS)
      )
      return WebhookBacklog.of({ count })
    })
  )
}

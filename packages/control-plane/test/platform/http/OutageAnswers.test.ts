import { assert, describe, it } from "@effect/vitest"
import { TurnRefused } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { ConnectionError, LockTimeoutError, SqlError, StatementTimeoutError, UnknownError } from "effect/sql/SqlError"
import { orUnavailable } from "../../../src/platform/http/OutageAnswers.ts"
import { AppendFailed } from "../../../src/platform/postgres/AppendFailed.ts"

const cause = new Error("the words of the server")
const statusOf = Effect.fnUntraced(function* (failure: SqlError | AppendFailed) {
  const answer = yield* orUnavailable(Effect.fail(failure))
  return HttpServerResponse.isHttpServerResponse(answer) ? answer.status : undefined
})

describe("a failure of the database", () => {
  it.effect("is answered with 503 when the same request may do well later", () =>
    Effect.gen(function* () {
      for (const failure of [
        new SqlError({ reason: new ConnectionError({ cause }) }),
        new SqlError({ reason: new LockTimeoutError({ cause }) }),
        new SqlError({ reason: new StatementTimeoutError({ cause }) }),
        new AppendFailed({ runId: "r", reason: "away", outage: true })
      ]) {
        assert.strictEqual(yield* statusOf(failure), 503)
      }
    })
  )

  it.effect("has the same form of answer as a turn that does not come: 503, or 429 for the share of the caller", () =>
    Effect.gen(function* () {
      for (const [reason, status] of [
        ["wait", 503],
        ["busy", 503],
        ["total", 503],
        ["caller", 429]
      ] as const) {
        const answer = yield* orUnavailable(Effect.fail(new TurnRefused({ lane: "search", reason })))
        assert.isTrue(HttpServerResponse.isHttpServerResponse(answer))
        if (!HttpServerResponse.isHttpServerResponse(answer)) return
        assert.deepStrictEqual([answer.status, answer.headers["retry-after"]], [status, "5"])
      }
    })
  )

  it.effect("is a fault of the service when the database has refused the request", () =>
    Effect.gen(function* () {
      for (const failure of [
        new SqlError({ reason: new UnknownError({ cause }) }),
        new AppendFailed({ runId: "r", reason: "refused", outage: false })
      ]) {
        assert.isTrue(Exit.hasDies(yield* Effect.exit(statusOf(failure))))
      }
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { ConnectionError, LockTimeoutError, SqlError, StatementTimeoutError, UnknownError } from "effect/sql/SqlError"
import { orUnavailable } from "../../src/edge/OutageAnswers.ts"
import { AppendFailed } from "../../src/log/AppendRequest.ts"

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

import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { startService } from "./support/ServiceProcess.ts"

describe("a service that is started without its database", () => {
  it.live("ends with 1 and one line that says why, without the password", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const service = yield* startService({
          DATABASE_URL: "postgresql://postgres:geheim@127.0.0.1:1/runplane",
          RUNTIME_ADDRESS: "127.0.0.1:1"
        })
        assert.strictEqual((yield* service.ended).code, 1)
        assert.deepStrictEqual(service.output().match(/ERROR.*/g), [
          service
            .output()
            .match(
              /ERROR .*: the service did not start: database unavailable: connect ECONNREFUSED 127\.0\.0\.1:1$/m
            )?.[0]
        ])
        assert.notInclude(service.output(), "geheim")
      })
    )
  )
})

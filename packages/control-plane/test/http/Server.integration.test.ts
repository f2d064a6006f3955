import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call, descriptor, layerTestService } from "../support/HttpService.ts"

layer(layerTestService(), { excludeTestServices: true })("the service on a port", (it) => {
  it.effect("answers the probe", () =>
    Effect.gen(function* () {
      const answer = yield* call("GET", "/healthz")
      assert.strictEqual(answer.status, 200)
      assert.deepStrictEqual(answer.body, { status: "ok" })
    })
  )
  it.effect("creates a run and shows it", () =>
    Effect.gen(function* () {
      const created = yield* call("POST", "/runs", { body: descriptor() })
      assert.strictEqual(created.status, 202, created.text)
      const shown = yield* call("GET", `/runs/${created.body.runId}`)
      assert.strictEqual(shown.status, 200, shown.text)
      console.log(shown.text)
    })
  )
})

import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { appendMessages } from "../support/Appends.ts"
import { call, layerTestService } from "../support/HttpService.ts"
import { createRun, readLog } from "../support/Runs.ts"

layer(layerTestService(), { excludeTestServices: true })("POST /runs/:id/projection/rebuild", (it) => {
  it.effect("rebuilds the projection and answers the state with its latest seq", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      yield* appendMessages(runId, 30, 10)
      const state = yield* call("GET", `/runs/${runId}/state`)
      const answer = yield* call("POST", `/runs/${runId}/projection/rebuild`)
      assert.strictEqual(answer.status, 201, answer.text)
      assert.deepStrictEqual(answer.body, {
        rebuilt: true,
        latestSeq: state.body.timeline.latestSeq,
        ...state.body
      })
      const { projection } = yield* readLog(runId)
      assert.strictEqual(projection?.state, state.text)
    })
  )
})

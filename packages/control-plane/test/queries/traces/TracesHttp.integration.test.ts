import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { followedRun } from "../../support/FollowedRun.ts"
import { call, descriptor, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"

layer(layerTestService(), { excludeTestServices: true })("GET /runs/:id/traces", (it) => {
  it.effect("shows the trace of a run with its artifacts and its scenario", () =>
    Effect.gen(function* () {
      const runId = yield* followedRun(["a"])
      const { body, status } = yield* call("GET", `/runs/${runId}/traces`)
      assert.strictEqual(status, 200)
      const run = yield* call("GET", `/runs/${runId}`)
      const state = yield* call("GET", `/runs/${runId}/state`)
      const artifacts = yield* call("GET", `/runs/${runId}/artifacts`)
      assert.deepStrictEqual(body, {
        traceId: run.body.traceId,
        spanCount: state.body.trace.spanCount,
        lastSpanId: state.body.trace.lastSpanId,
        linkedArtifacts: artifacts.body.map((artifact: { id: string }) => artifact.id),
        runStatus: "completed",
        scenarioRef: "loans/fast@1.0.0"
      })
    })
  )

  it.effect("leaves the scenario of a run without one away, and prefers the source's own reference", () =>
    Effect.gen(function* () {
      const bare = yield* call("GET", `/runs/${yield* createRun()}/traces`)
      assert.notProperty(bare.body, "scenarioRef")
      const { body } = yield* call("POST", "/runs", {
        body: descriptor({ session: { metadata: { scenarioRef: "a", sourceRef: "b" } } })
      })
      assert.strictEqual((yield* call("GET", `/runs/${body.runId}/traces`)).body.scenarioRef, "b")
    })
  )
})

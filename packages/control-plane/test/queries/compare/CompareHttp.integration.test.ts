import { randomUUID } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { endedRun } from "../../support/EndedRuns.ts"
import { followedRun } from "../../support/FollowedRun.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"

const compare = (body: unknown) => call("POST", "/runs/compare", { body })

layer(layerTestService(), { excludeTestServices: true })("POST /runs/compare", (it) => {
  it.effect("compares two runs", () =>
    Effect.gen(function* () {
      const left = yield* followedRun(["a", "b"])
      const right = yield* endedRun
      const { body, status, text } = yield* compare({ leftRunId: left.toUpperCase(), rightRunId: right })
      assert.strictEqual(status, 201, text)
      assert.strictEqual(body.left.runId, left)
      assert.strictEqual(body.left.status, "completed")
      assert.isAtLeast(body.left.durationMs, 0)
      assert.deepStrictEqual(body.right, {
        runId: right,
        status: "cancelled",
        modeName: "macp.mode.decision.v1"
      })
      assert.strictEqual(body.statusMatch, false)
      assert.notProperty(body, "durationDeltaMs")
      assert.deepStrictEqual(body.participantsDiff, { added: [], removed: ["a", "b"], common: [] })
      assert.deepStrictEqual(body.signalsDiff, { added: [], removed: [] })
    })
  )

  it.effect("compares only runs that exist", () =>
    Effect.gen(function* () {
      const [known, unknown] = [yield* createRun(), randomUUID()]
      for (const body of [
        { leftRunId: known, rightRunId: unknown },
        { leftRunId: unknown, rightRunId: known }
      ]) {
        const answer = yield* compare(body)
        assert.strictEqual(answer.status, 404)
        assert.strictEqual(answer.body.message, `run ${unknown} not found`)
      }
    })
  )

  for (const [body, message] of [
    [{}, ["leftRunId must be a UUID", "rightRunId must be a UUID"]],
    [
      { leftRunId: "x", rightRunId: 7, other: 1 },
      ["property other should not exist", "leftRunId must be a UUID", "rightRunId must be a UUID"]
    ]
  ] as const) {
    it.effect(`refuses to compare ${JSON.stringify(body)}`, () =>
      Effect.gen(function* () {
        const answer = yield* compare(body)
        assert.strictEqual(answer.status, 400)
        assert.deepStrictEqual(answer.body.message, message)
      })
    )
  }
})

import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { commits, opened, RISK, recorded, votes } from "../support/Committee.ts"
import { call, layerTestService } from "../support/HttpService.ts"

const decided = recorded(...opened, votes(RISK, "APPROVE"), commits, commits)
const add = (runId: string, body: unknown) => call("POST", `/runs/${runId}/marks`, { body })

layer(layerTestService(), { excludeTestServices: true })("marks", (it) => {
  it.effect("named correct judge a decision by a flag, or by the name of an action, option or output", () =>
    Effect.gen(function* () {
      const runId = yield* decided
      const correct = (value: unknown, kind = "decision") =>
        add(runId, { target: { kind }, name: "correct", value, source: "api" })
      assert.strictEqual((yield* correct(false)).status, 201)
      for (const [value, stored] of [
        ["true", true],
        ["True", true],
        ["yes", true],
        ["correct", true],
        ["No", false],
        ["decision.selected", "decision.selected"],
        ["selected", "selected"],
        ["go <b>now</b>", "go <b>now</b>"],
        ["rejected", "rejected"]
      ] as const) {
        const { body, status } = yield* correct(value)
        assert.deepStrictEqual([status, body.value], [201, stored], value)
      }
      const refused = yield* correct("looks good")
      assert.deepStrictEqual(
        [refused.status, refused.body.errorCode, refused.body.message],
        [
          400,
          "VALIDATION_ERROR",
          "value of correct must be true, false, or an action, option or output of the run (decision.selected, go <b>now</b>): looks good"
        ]
      )
      assert.strictEqual(
        (yield* correct(1)).body.message,
        "value of correct must be true, false, or the text of an action"
      )
      const sql = yield* PgClient.PgClient
      for (const metadata of [
        { launch: { expectedDecisionKinds: ["ship", "selected"] } },
        { expectedDecisionKinds: ["ship", "selected"] }
      ]) {
        yield* sql`UPDATE runs SET metadata = ${JSON.stringify(metadata)}::text::json WHERE id = ${runId}::uuid`
        assert.strictEqual((yield* correct("ship")).status, 201)
        assert.include((yield* correct("shp")).body.message, "(decision.selected, go <b>now</b>, ship, selected): shp")
      }
      yield* sql`UPDATE runs SET metadata = '{"launch": {"expectedDecisionKinds": "ship"}}' WHERE id = ${runId}::uuid`
      assert.strictEqual((yield* correct("ship")).status, 400)
      assert.strictEqual((yield* correct(true, "run")).body.message, "target.kind of correct must be decision")
    })
  )
})

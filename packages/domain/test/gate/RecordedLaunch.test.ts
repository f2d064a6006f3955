import { assert, describe, it } from "@effect/vitest"
import { caseOfRun, MAX_INPUT_BYTES, recordedLaunch, type Trial, uniqueName } from "@runplane/domain"
import * as Result from "effect/Result"

const trial: Trial = {
  runId: "r",
  outcome: { action: "decision.selected", positive: null },
  costUsd: 0,
  durationMs: 1,
  mindChanges: 0,
  models: []
}
const scenarioRef = "p/s@1.0.0"
const refused = (made: ReturnType<typeof caseOfRun>) => (Result.isFailure(made) ? made.failure : "")

describe("the recorded launch of a run", () => {
  it("has its template and its inputs, up to a size", () => {
    assert.deepStrictEqual(recordedLaunch({ a: 1 }, "t"), { templateId: "t", inputs: { a: 1 } })
    assert.deepStrictEqual(recordedLaunch({}, ""), { inputs: {} })
    assert.deepStrictEqual(recordedLaunch({}, "", ["go"]), { inputs: {}, expectedDecisionKinds: ["go"] })
    assert.deepStrictEqual(recordedLaunch({}, "", []), { inputs: {} })
    const most = { a: "x".repeat(MAX_INPUT_BYTES - '{"a":""}'.length) }
    assert.deepStrictEqual(recordedLaunch(most, undefined), { inputs: most })
    assert.deepStrictEqual(recordedLaunch({ a: `${most.a}x` }, "t"), { templateId: "t" })
    // Two bytes each.
    assert.deepStrictEqual(recordedLaunch({ a: "é".repeat(MAX_INPUT_BYTES / 2) }, undefined), {})
  })

  it("becomes a case with the outcome as its expectation", () => {
    const metadata = { scenarioRef, launch: { templateId: "t", inputs: { a: 1, b: 2 } }, gate: { model: "m", seed: 7 } }
    assert.deepStrictEqual(Result.getOrThrow(caseOfRun({ metadata, inputs: { b: 3 }, trial })), {
      scenarioRef,
      template: "t",
      inputs: { a: 1, b: 3 },
      vary: { model: ["m"] },
      expect: { action: "decision.selected", positive: null }
    })
    const plain = { scenarioRef, launch: { inputs: {} } }
    assert.deepStrictEqual(Result.getOrThrow(caseOfRun({ metadata: plain, inputs: {} })), { scenarioRef, inputs: {} })
  })

  it("cannot become a case without scenario, inputs or outcome", () => {
    assert.match(refused(caseOfRun({ metadata: { source: "otlp" }, inputs: { a: 1 } })), /^it has no scenario/)
    for (const launch of [{}, { launch: {} }, { launch: "by the pack" }]) {
      const metadata = { scenarioRef, ...launch }
      assert.match(refused(caseOfRun({ metadata, inputs: {} })), /^its inputs are not recorded; give them with --input/)
      assert.isTrue(Result.isSuccess(caseOfRun({ metadata, inputs: { a: 1 } })))
    }
    const metadata = { scenarioRef, launch: { inputs: {} } }
    assert.match(
      refused(caseOfRun({ metadata, inputs: {}, trial: { ...trial, excluded: "expired" } })),
      /no outcome to expect \(expired\)/
    )
  })

  it("gets a name that its file does not have", () => {
    assert.strictEqual(uniqueName("a", []), "a")
    assert.strictEqual(uniqueName("a", ["a", "a 2"]), "a 3")
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Run } from "@runplane/api"
import * as Schema from "effect/Schema"
import { runFacts } from "../../../src/view/run/RunFacts.ts"

const run = (over: Readonly<Record<string, unknown>> = {}) =>
  Schema.decodeUnknownSync(Run)({
    id: "82fd0968-6181-4782-a13c-c7033c2834f3",
    runId: "82fd0968-6181-4782-a13c-c7033c2834f3",
    status: "running",
    mode: "sandbox",
    runtimeKind: "rust",
    runtimeSessionId: "82fd0968-6181-4782-a13c-c7033c2834f3",
    traceId: "034924b97a84f4ff73d9698a36a5eba1",
    lastEventSeq: 98,
    lastEventIndex: 98,
    tags: [],
    metadata: {},
    createdAt: "2026-07-01T10:00:00.000Z",
    updatedAt: "2026-07-01T10:00:00.000Z",
    archivedAt: null,
    ...over
  })

describe("what a list shows of a run", () => {
  it("names an ingested run by its spans, not by its service", () => {
    const names = { sourceRef: "checkout-service", metadata: { scenarioRef: "refund-desk" } }
    assert.strictEqual(runFacts(run({ ...names, runtimeKind: "otlp" })).title, "refund-desk")
    assert.strictEqual(runFacts(run({ ...names, runtimeKind: "otlp", metadata: {} })).title, "checkout-service")
    assert.strictEqual(runFacts(run(names)).title, "checkout-service")
  })

  it("is taken from its record", () => {
    const facts = runFacts(
      run({
        sourceRef: "incident/region-failover@1.0.0",
        modeName: "macp.mode.decision.v1",
        policyVersion: "policy.x",
        metadata: {
          finalAction: "decision.selected",
          finalConfidence: 0.9,
          totalTokens: 3138,
          estimatedCostUsd: 0.0068
        }
      })
    )
    assert.include(facts, {
      title: "incident/region-failover@1.0.0",
      action: "decision.selected",
      confidence: 0.9,
      tokens: 3138,
      modeName: "macp.mode.decision.v1",
      policy: "policy.x"
    })
    assert.deepInclude(facts.cost, { costUsd: 0.0068 })
  })

  it("is absent where the record does not have it, and never 0 without a measurement", () => {
    const facts = runFacts(run())
    assert.strictEqual(facts.title, "82fd0968-6181-4782-a13c-c7033c2834f3")
    assert.isUndefined(facts.tokens)
  })

  it("has a name from the label, else what the session is for, else the scenario", () => {
    const intent = "pick a plan"
    assert.strictEqual(runFacts(run({ intent })).title, intent)
    assert.strictEqual(runFacts(run(), intent).title, intent)
    assert.strictEqual(runFacts(run({ metadata: { intent } })).title, intent)
    assert.deepInclude(runFacts(run({ sourceRef: "pack/scenario@1.0.0" })), {
      title: "pack/scenario@1.0.0",
      subtitle: undefined
    })
    assert.deepInclude(runFacts(run({ intent, sourceRef: "pack/scenario@1.0.0" })), {
      title: intent,
      subtitle: "pack/scenario@1.0.0"
    })
    assert.strictEqual(runFacts(run({ intent, metadata: { runLabel: "nightly" } })).title, "nightly")
    assert.strictEqual(runFacts(run({ intent, metadata: { intent: "of the descriptor" } })).intent, intent)
  })

  it("survives metadata of any form", () => {
    const metadata = { runLabel: 7, finalConfidence: "high", totalTokens: null }
    const facts = runFacts(run({ metadata }))
    assert.isUndefined(facts.confidence)
    assert.strictEqual(facts.title, "82fd0968-6181-4782-a13c-c7033c2834f3")
  })
})

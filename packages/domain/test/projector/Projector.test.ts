import { assert, describe, it } from "@effect/vitest"
import { CANONICAL_EVENT_TYPES, emptyRunState, project, RunState } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { draft, fold, given, received, running, seen, stored } from "../support/events.ts"

describe("the empty state", () => {
  it("has every section and satisfies its schema", () => {
    assert.strictEqual(
      JSON.stringify(emptyRunState("r")),
      '{"run":{"runId":"r","status":"queued"},"participants":[],"graph":{"nodes":[],"edges":[]},"decision":{},' +
        '"signals":{"signals":[]},"progress":{"entries":[]},' +
        '"timeline":{"latestSeq":0,"latestIndex":0,"totalEvents":0,"recent":[]},' +
        '"trace":{"spanCount":0,"linkedArtifacts":[]},' +
        '"outboundMessages":{"total":0,"queued":0,"accepted":0,"rejected":0},' +
        '"policy":{"policyVersion":"","commitmentEvaluations":[]},' +
        '"llm":{"calls":[],"totals":{"callCount":0,"promptTokens":0,"completionTokens":0,"totalTokens":0,"estimatedCostUsd":0}}}'
    )
    assert.isTrue(Schema.is(RunState)(emptyRunState("r")))
  })
})

describe("the fold", () => {
  it("keeps the sections that an event does not touch the same objects", () => {
    const before = given(...running, seen("a")).when(received("Proposal", "a"))
    const after = project(before, stored(draft("tool.called", {}), 7))
    assert.notStrictEqual(after.timeline, before.timeline)
    for (const section of Object.keys(before)) {
      if (section === "timeline") continue
      assert.strictEqual(Reflect.get(after, section), Reflect.get(before, section), section)
    }
  })

  it("folds events with missing or foreign data without failing", () => {
    for (const data of [{}, { messageType: 5, sender: [], decodedPayload: "x", payload: null, to: {} }]) {
      for (const type of CANONICAL_EVENT_TYPES) assert.strictEqual(fold([draft(type, data)]).timeline.totalEvents, 1)
    }
  })
})

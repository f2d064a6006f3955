import { create, toBinary } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import { DecisionMode, type Envelope, EnvelopeSchema } from "@runplane/runtime"
import { assessImpact, assessReplication, assessSecurity, voteFor } from "../../src/examples/Assessment.ts"
import { decide, hintsOf } from "../../src/examples/BridgeDecision.ts"
import { incidentOf } from "../../src/examples/IncidentContext.ts"
import { llmCallOf } from "../../src/examples/LlmCall.ts"
import { emptyRecord, record } from "../../src/examples/SessionRecord.ts"
import {
  balancedHints,
  coldStandby,
  degraded,
  fastTrackHints,
  fastTrackIncident,
  type Incident
} from "../support/Bridge.ts"

describe("the specialists", () => {
  const cases: ReadonlyArray<readonly [string, Partial<Incident>, string, string, string]> = [
    ["a degraded service with a healthy standby", {}, "APPROVE", "APPROVE", "APPROVE"],
    ["a cold and lagging standby", coldStandby, "BLOCK", "APPROVE", "BLOCK"],
    ["the fast track", fastTrackIncident, "APPROVE", "APPROVE", "APPROVE"],
    ["a doubtful lag", { replicationLagSeconds: 10 }, "REVIEW", "APPROVE", "APPROVE"],
    ["a high lag", { replicationLagSeconds: 30 }, "REJECT", "APPROVE", "APPROVE"],
    ["a cold standby without lag", { standby: { region: "x", warm: false } }, "REJECT", "APPROVE", "BLOCK"],
    ["few errors", { errorRatePercent: 5 }, "APPROVE", "REVIEW", "APPROVE"],
    ["hardly any errors", { errorRatePercent: 1 }, "APPROVE", "REJECT", "APPROVE"],
    ["a flood at a lesser severity", { errorRatePercent: 60 }, "APPROVE", "APPROVE", "REVIEW"]
  ]
  for (const [name, change, replication, impact, security] of cases) {
    it(`assess ${name}`, () => {
      const incident = incidentOf({ ...degraded, ...change })
      const assessed = [assessReplication, assessImpact, assessSecurity].map((assess) => assess(incident))
      assert.deepStrictEqual(
        assessed.map(({ recommendation }) => recommendation),
        [replication, impact, security]
      )
      assert.isTrue(assessed.every(({ confidence }) => confidence >= 0.55 && confidence <= 1))
    })
  }

  it("object critically only to a cold standby that is far behind", () => {
    const severity = (change: Partial<Incident>) =>
      assessReplication(incidentOf({ ...degraded, ...change })).objection?.severity
    assert.strictEqual(severity(coldStandby), "critical")
    assert.strictEqual(severity({ replicationLagSeconds: 95 }), "high")
    assert.isUndefined(severity({}))
  })

  it("vote for everything they do not refuse", () => {
    const votes = (["APPROVE", "REVIEW", "REJECT", "BLOCK"] as const).map((recommendation) =>
      voteFor({ recommendation, confidence: 1, reason: "", alerts: [] })
    )
    assert.deepStrictEqual(votes, ["APPROVE", "APPROVE", "REJECT", "REJECT"])
  })

  it("manage without a session context", () => {
    assert.strictEqual(incidentOf(undefined).severity, "sev2")
    assert.strictEqual(incidentOf({ standby: "nonsense" }).standby.warm, true)
  })
})

describe("the commander", () => {
  const specialists = ["a", "b", "c"]
  const call = (hints: object, votes: string, criticalObjections = 0) => {
    const cast = [...votes].map((letter, index): [string, string] => [
      specialists[index] ?? "",
      letter === "A" ? "APPROVE" : letter === "R" ? "REJECT" : "ABSTAIN"
    ])
    return decide(hintsOf(hints), { specialists, votes: new Map(cast), criticalObjections }).action
  }
  const cases: ReadonlyArray<readonly [string, object, string, number, string]> = [
    ["goes with a majority", balancedHints, "AAR", 0, "decision.selected"],
    ["stays without one", balancedHints, "ARR", 0, "decision.rejected"],
    ["stays on a veto", balancedHints, "AAA", 1, "decision.rejected"],
    ["ignores a veto that is off", fastTrackHints, "AAA", 2, "decision.selected"],
    ["stays below a supermajority", fastTrackHints, "AAR", 0, "decision.rejected"],
    ["stays when nobody decided", balancedHints, "--", 0, "decision.rejected"],
    ["needs everybody for unanimity", { type: "unanimous" }, "AA-", 0, "decision.rejected"],
    ["goes when all agree", { type: "unanimous" }, "AAA", 0, "decision.selected"],
    ["counts heads without an algorithm", {}, "AR", 0, "decision.rejected"]
  ]
  for (const [name, hints, votes, objections, expected] of cases) {
    it(name, () => assert.strictEqual(call(hints, votes, objections), expected))
  }
})

describe("the pretended model calls", () => {
  const model = { model: "vendor1-4o-mini", provider: "vendor1", baseLatencyMs: 200 }
  it("cost the same for the same inputs", () => {
    assert.deepStrictEqual(llmCallOf(model, "a", degraded, "yes"), llmCallOf(model, "a", degraded, "yes"))
  })
  it("add up, and repeat the usage where a reader looks for it", () => {
    const { completionTokens, promptTokens, tokenUsage, totalTokens } = llmCallOf(model, "a", degraded, "yes")
    assert.strictEqual(totalTokens, promptTokens + completionTokens)
    assert.deepStrictEqual(tokenUsage, { promptTokens, completionTokens, model: model.model })
  })
})

describe("what a participant has read", () => {
  const sent = (messageType: string, payload: Uint8Array<ArrayBuffer>, sender = "a"): Envelope =>
    create(EnvelopeSchema, { messageType, payload, sender })
  const vote = toBinary(
    DecisionMode.VotePayloadSchema,
    create(DecisionMode.VotePayloadSchema, { proposalId: "p", vote: "approve" })
  )

  it("reads values in any case", () => {
    assert.deepStrictEqual([...record(emptyRecord, sent("Vote", vote)).votes], [["a", "APPROVE"]])
  })
  it("is not changed by an unknown type or by unreadable bytes", () => {
    assert.strictEqual(record(emptyRecord, sent("Novelty", vote)), emptyRecord)
    assert.strictEqual(record(emptyRecord, sent("Vote", new Uint8Array([255]))), emptyRecord)
  })
})

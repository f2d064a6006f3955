import { assert, describe, it } from "@effect/vitest"
import { voteFor } from "../../../src/examples/decision/Assessment.ts"
import { assessImpact, assessReplication, assessSecurity } from "../../../src/examples/incident/IncidentAssessments.ts"
import { incidentOf } from "../../../src/examples/incident/IncidentContext.ts"
import { coldStandby, degraded, fastTrackIncident, type Incident } from "../../support/Bridge.ts"

const SEEDS = ["", "one", "two", "three", "0197f3a2-6b1e-7c44-9d1a-2f5c8e7b9a01"]

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
    it(`assess ${name} by the facts and not by the seed`, () => {
      const incident = incidentOf({ ...degraded, ...change })
      for (const seed of SEEDS) {
        const assessed = [assessReplication, assessImpact, assessSecurity].map((assess) => assess(incident, seed))
        assert.deepStrictEqual(
          assessed.map(({ recommendation }) => recommendation),
          [replication, impact, security]
        )
        assert.isTrue(assessed.every(({ confidence }) => confidence >= 0.55 && confidence <= 1))
      }
    })
  }

  it("object critically only to a cold standby that is far behind", () => {
    const severity = (change: Partial<Incident>) =>
      assessReplication(incidentOf({ ...degraded, ...change }), "").objection?.severity
    assert.strictEqual(severity(coldStandby), "critical")
    assert.strictEqual(severity({ replicationLagSeconds: 95 }), "high")
    assert.isUndefined(severity({}))
  })

  it("argue in more than one way", () => {
    const reasons = SEEDS.map((seed) => assessReplication(incidentOf(degraded), seed).reason)
    assert.isAbove(new Set(reasons).size, 1)
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

import { assert, describe, it } from "@effect/vitest"
import { releaseOf } from "../../../src/examples/release/ReleaseContext.ts"
import {
  type Examine,
  examineProduct,
  examineQuality,
  examineReliability,
  examineSecurity
} from "../../../src/examples/release/Review.ts"

describe("the approvers of a release", () => {
  it.each([
    ["quality", examineQuality, { testsPassedPercent: 97.9 }, "Reject"],
    ["quality", examineQuality, { testsPassedPercent: 98 }, "Abstain"],
    ["quality", examineQuality, { testsPassedPercent: 99.5 }, "Approve"],
    ["reliability", examineReliability, {}, "Approve"],
    ["reliability", examineReliability, { schemaMigration: true }, "Approve"],
    ["reliability", examineReliability, { schemaMigration: true, rollbackTested: false }, "Reject"],
    ["reliability", examineReliability, { errorBudgetLeftPercent: 9 }, "Reject"],
    ["reliability", examineReliability, { errorBudgetLeftPercent: 20 }, "Abstain"],
    ["reliability", examineReliability, { errorBudgetLeftPercent: 20, fixesLiveDefect: true }, "Approve"],
    ["reliability", examineReliability, { canary: { trafficPercent: 5, errorRatePercent: 1.1 } }, "Reject"],
    ["product", examineProduct, { freezeWeek: true }, "Reject"],
    ["product", examineProduct, { freezeWeek: true, fixesLiveDefect: true }, "Approve"],
    ["security", examineSecurity, { openCriticalVulnerabilities: 1 }, "Reject"],
    ["security", examineSecurity, { secretsFound: 1 }, "Reject"],
    ["security", examineSecurity, {}, "Approve"]
  ] satisfies ReadonlyArray<readonly [string, Examine, object, string]>)(
    "%s decides by the facts",
    (_, examine, facts, ballot) => {
      for (const seed of ["", "a", "b"]) {
        const review = examine(releaseOf(facts), seed)
        assert.strictEqual(review.ballot, ballot)
        assert.strictEqual(review.alerts.length, ballot === "Reject" ? 1 : 0)
      }
    }
  )
})

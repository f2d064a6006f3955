import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { recordsBySystem, refusal, reportOf } from "../../../src/examples/privacy/Erasure.ts"
import { erasureOf } from "../../../src/examples/privacy/ErasureContext.ts"

const context = erasureOf({ systems: ["a", "b", "c"], recordsEstimated: 1_000, backlogHours: { busy: 17, free: 16 } })

describe("an erasure", () => {
  it.prop("finds all of the records, spread over the systems", [Schema.String], ([seed]) => {
    for (const recordsEstimated of [0, 1, 2, 1_840]) {
      const counts = recordsBySystem({ ...context, recordsEstimated }, seed).map(({ records }) => records)
      assert.isTrue(counts.every((count) => count >= 0))
      assert.strictEqual(
        counts.reduce((sum, count) => sum + count, 0),
        recordsEstimated
      )
    }
  })

  it("is proved by a report, or by nothing when there was no log", () => {
    const report = JSON.parse(new TextDecoder().decode(reportOf(context, "me", "seed")))
    assert.deepInclude(report, { requestId: "ERA-0000", erasedBy: "me" })
    assert.lengthOf(report.erased, 3)
    assert.lengthOf(reportOf({ ...context, erasureLog: false }, "me", "seed"), 0)
  })

  it("is refused by a busy engineer", () => {
    assert.isDefined(refusal(context, "busy"))
    assert.isUndefined(refusal(context, "free"))
    assert.isUndefined(refusal(context, "unheard of"))
  })
})

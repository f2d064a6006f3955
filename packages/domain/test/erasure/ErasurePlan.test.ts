import { assert, describe, it } from "@effect/vitest"
import { isPlanText, type PlannedMember, planDifference, planText } from "@runplane/domain"
import { sha256 } from "../support/digests.ts"

const member = (index: number, pointer = "/data/reason"): PlannedMember => ({ target: "event", index, pointer })
const plan = (members: ReadonlyArray<PlannedMember>, kept: ReadonlyArray<PlannedMember> = [], runId = "r") =>
  planText(sha256, { runId, members, kept })

describe("a plan", () => {
  it("is the same for the same members of the same run, and for no others", () => {
    const one = plan([member(1), member(2)])
    assert.isTrue(isPlanText(one))
    assert.strictEqual(one, plan([member(1), member(2)]))
    for (const other of [
      plan([member(1)]),
      plan([member(1), member(3)]),
      plan([member(1), member(2, "/data/detail")]),
      plan([member(1), { ...member(2), target: "frame" }]),
      plan([member(1)], [member(2)]),
      plan([member(1), member(2)], [], "other")
    ]) {
      assert.notStrictEqual(one, other)
    }
  })

  it("differs from an earlier one in words", () => {
    const now = plan([member(1), member(2)], [member(3)])
    assert.isUndefined(planDifference(now, now))
    assert.strictEqual(
      planDifference(plan([member(1)], []), now),
      "it erased 1 member, now 2 members match; it kept 0 members, now 1 member stay"
    )
    assert.strictEqual(
      planDifference(plan([member(1), member(4)], [member(3)]), now),
      "as many members match, and not the same ones"
    )
    assert.strictEqual(planDifference("none", now), "the plan cannot be read")
  })
})

import { assert, describe, it } from "@effect/vitest"
import { subjectText } from "../../src/insight/RunCase.ts"
import { opened, proposes, recordOf } from "../support/deliberations.ts"

describe("what a run is about", () => {
  it("is equal for the same intent and the same first proposal, whatever their ids and the order of their members", () => {
    const one = subjectText("fail over?", { proposalId: "p1", option: "go", region: "north" })
    assert.strictEqual(subjectText("fail over?", { region: "north", option: "go", proposal_id: "p2" }), one)
    assert.notStrictEqual(subjectText("fail over?", { option: "go", region: "south" }), one)
    assert.notStrictEqual(subjectText(undefined, { option: "go", region: "north" }), one)
  })

  it("is unknown before the first proposal, and is that of the first one", () => {
    assert.isUndefined(recordOf(opened()).subject)
    const first = recordOf(opened(), proposes("a")).subject
    assert.isDefined(first)
    assert.strictEqual(recordOf(opened(), proposes("a"), proposes("b")).subject, first)
  })
})

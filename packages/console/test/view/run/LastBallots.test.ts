import { assert, describe, it } from "@effect/vitest"
import { lastBallots } from "../../../src/view/run/LastBallots.ts"
import { DECISION, eventsOf, said } from "../../support.ts"

describe("the last ballots", () => {
  it("are of those that cast one, and the latest of each", () => {
    const later = said("proposal.updated", "Vote", "ana", { proposalId: "p1", vote: "ABSTAIN" })
    assert.deepStrictEqual(
      lastBallots(eventsOf(DECISION)),
      new Map([
        ["ana", "allow"],
        ["bob", "allow"]
      ])
    )
    assert.strictEqual(lastBallots(eventsOf([...DECISION, later])).get("ana"), "abstained")
    assert.isFalse(lastBallots(eventsOf(DECISION)).has("lead"))
  })
})

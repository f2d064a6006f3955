import { assert, describe, it } from "@effect/vitest"
import { listedVotes } from "../../../src/view/decision/ListedVotes.ts"

const DECISION = "macp.mode.decision.v1"
const heads = { for: 3, against: 1, abstained: 0, none: 2 }

describe("the votes of a run in a list", () => {
  it("are the voters with their weights, and the figures for and against", () => {
    const voters = [["a", "for", 2] as const, ["b", "against", 1] as const]
    assert.deepStrictEqual(listedVotes({ seats: voters, heads }, DECISION), {
      voters: [
        ["for", 2],
        ["against", 1]
      ],
      votes: "3 : 1"
    })
  })

  it("of a large session are groups as wide as they are large", () => {
    assert.deepStrictEqual(listedVotes({ heads }, DECISION).voters, [
      ["for", 3],
      ["none", 2],
      ["against", 1]
    ])
  })

  it("are no figures without a ballot, with several open proposals, and for modes without votes", () => {
    assert.isUndefined(listedVotes({ heads: { ...heads, for: 0, against: 0 } }, DECISION).votes)
    assert.deepStrictEqual(listedVotes({}, DECISION), { voters: [["none", 1]], votes: undefined })
    assert.isUndefined(listedVotes({ heads }, "macp.mode.task.v1").votes)
  })
})

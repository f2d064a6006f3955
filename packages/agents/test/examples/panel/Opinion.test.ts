import { assert, describe, it } from "@effect/vitest"
import { opinionOf } from "../../../src/examples/panel/Opinion.ts"
import type { Brief } from "../../../src/examples/runner/Brief.ts"
import { linesOf, type Play, rehearse } from "../../support/PureStage.ts"

const panel: Play = {
  cast: [
    ["panel", "panel-agent"],
    ["panel-2", "panel-agent"],
    ["panel-lead", "panel-lead-agent"]
  ],
  kickoff: { proposal_id: "lunch-1", option: "adopt", rationale: "Adopt the proposal" },
  context: { topic: "Adopt the proposal", urgency: "normal" }
}

const brief = (seed: string): Brief => ({
  self: "panel",
  agentRef: "panel-agent",
  role: "panel",
  framework: "custom",
  participants: [],
  people: [],
  context: { topic: "lunch" },
  hints: {},
  seed,
  versions: { mode: "1.0.0", configuration: "config.default", policy: "" },
  opening: undefined
})

describe("a panel on any topic", () => {
  it("evaluates, votes and is committed", () => {
    const rehearsed = rehearse(panel)
    assert.isDefined(rehearsed.outcome)
    assert.includeMembers([...linesOf(rehearsed)], ["panel Evaluation", "panel-2 Vote", "panel-lead Vote"])
  })

  it("has opinions of every kind, the same for the same seed", () => {
    const opinions = Array.from({ length: 60 }, (_, n) => opinionOf(brief(`seed ${n}`)))
    assert.sameMembers(
      [...new Set(opinions.map(({ recommendation }) => recommendation))],
      ["APPROVE", "REVIEW", "REJECT"]
    )
    assert.deepStrictEqual(opinionOf(brief("a")), opinionOf(brief("a")))
  })
})

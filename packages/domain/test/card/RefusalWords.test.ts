import { assert, describe, it } from "@effect/vitest"
import { forecast, refusalWords } from "@runplane/domain"
import { governed, opened, proposes, says, votes } from "../support/deliberations.ts"

describe("the refusals of the rules for a reader", () => {
  const rules = {
    voting: { algorithm: "majority", quorum: { type: "percentage", value: 60 } },
    commitment: { require_vote_quorum: true },
    objection_handling: { critical_severity_vetoes: true, veto_threshold: 2 }
  }
  it("have no word of the rules' own language", () => {
    const { by, run } = governed(
      opened({ rules, participants: ["a", "b", "c"] }),
      proposes(),
      votes("a", "APPROVE"),
      says("a", "Objection", { severity: "critical" }),
      says("b", "Objection", { severity: "critical" })
    )
    const texts = forecast(run, by).outcomes.flatMap(({ blockers }) => blockers.map(({ text }) => refusalWords(text)))
    assert.include(texts, "1 of 3 voted, the quorum is 60 %")
    assert.include(texts, "2 critical objections are a veto (2 needed)")
  })

  it("say what a veto does", () => {
    assert.strictEqual(
      refusalWords("1 critical objection, 1 needed to veto (finalize_decline): the veto declines it"),
      "1 critical objection, 1 needed to veto, which ends it with a decline: the veto declines it"
    )
  })

  it("stay as they are where they are unknown", () => {
    assert.strictEqual(refusalWords("no votes cast"), "no votes cast")
  })
})

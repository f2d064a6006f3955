import { assert, describe, it } from "@effect/vitest"
import type { ShadowAct, ShadowFact } from "@runplane/domain"
import type { ProposalRow, Stance } from "../../../src/view/run/Decision.ts"
import { shadowRows, shadowStatus, shadowsOf } from "../../../src/view/run/ShadowRows.ts"
import { DECISION, eventsOf } from "../../support.ts"

const stance = (word: string, kind: Stance["kind"] = "vote"): Stance => ({
  ...{ index: 4, ts: "", kind, word, tone: "calm", confidence: undefined, reason: undefined, before: [] }
})
const proposal = (id: string, stances: Readonly<Record<string, Stance>>): ProposalRow => ({
  ...{ id, by: "lead", index: 2, ts: "", title: `title of ${id}`, text: undefined },
  ...{ stances: new Map(Object.entries(stances)), votesFor: 0, votesAgainst: 0, abstained: 0 }
})
const fact = (...acts: ReadonlyArray<ShadowAct>): ShadowFact => ({
  ...{ shadow: "b~new", as: "b", agent: "new", status: "acted", acts }
})
const cast = (vote: string, subject = "p1"): ShadowAct => ({ type: "Vote", subject, vote })

// docs/reference/shadows.md
describe("a shadow beside its participant", () => {
  it("has the last vote of both on each proposal, and whether it is another one", () => {
    const proposals = [
      proposal("p1", { a: stance("REJECT"), b: stance("APPROVE") }),
      proposal("p2", { a: stance("REJECT") })
    ]
    const evaluation: ShadowAct = { type: "Evaluation", subject: "p1", recommendation: "APPROVE", confidence: 0.7 }
    const [row, ...others] = shadowRows(fact(evaluation, cast("REJECT"), evaluation), proposals, [
      "one",
      "two",
      "three"
    ])
    assert.lengthOf(others, 0)
    assert.deepInclude(row, { id: "p1", title: "title of p1", isOther: true })
    assert.strictEqual(row?.participant?.word, "APPROVE")
    assert.deepInclude(row?.shadow, { kind: "vote", word: "REJECT", tone: "bad", reason: "two" })
    assert.strictEqual(shadowRows(fact(cast("APPROVE")), proposals)[0]?.isOther, false)
  })

  it("compares votes alone, and lists what one of the two did", () => {
    const proposals = [
      proposal("p1", { b: stance("APPROVE") }),
      proposal("p2", {}),
      proposal("p3", { b: stance("BLOCK", "opinion") })
    ]
    const rows = shadowRows(
      fact(cast("REJECT", "p2"), { type: "Objection", subject: "p3", severity: "critical" }),
      proposals
    )
    assert.deepStrictEqual(
      rows.map(({ id, isOther, participant, shadow }) => [id, participant?.word, shadow?.word, isOther]),
      [
        ["p1", "APPROVE", undefined, undefined],
        ["p2", undefined, "REJECT", undefined],
        ["p3", "BLOCK", "OBJECTS", undefined]
      ]
    )
    assert.lengthOf(shadowRows(fact(), [proposal("p1", {})]), 0)
  })

  it("is read from the log once, with its model calls apart", () => {
    const call = {
      type: "llm.call.completed",
      data: {
        sender: "b~new",
        decodedPayload: { calls: 0 },
        shadow: { calls: 1, totalTokens: 30, estimatedCostUsd: 0.25 }
      }
    }
    const added = (artifactId: string) => ({
      type: "artifact.created",
      data: { artifactId, kind: "shadow.acts", label: "b~new", shadow: { ...fact(cast("REJECT")) } }
    })
    const events = eventsOf([...DECISION, call, call, added("one"), added("two")])
    assert.deepStrictEqual(shadowsOf(events), [
      {
        ...{ fact: fact(cast("REJECT")), index: DECISION.length + 3, artifactId: "one" },
        spent: { calls: 2, totalTokens: 60, costUsd: 0.5 }
      }
    ])
    assert.deepStrictEqual(shadowsOf(eventsOf(DECISION)), [])
  })

  it("of a quorum votes by the type of its act", () => {
    const [row] = shadowRows(fact({ type: "Reject", subject: "r1" }), [proposal("r1", { b: stance("REJECT") })])
    assert.deepInclude(row, { isOther: false })
  })

  it.each([
    ["acted", "acted"],
    ["silent", "ended without an act"],
    ["failed", "failed"]
  ] as const)("that is %s says so", (status, text) => {
    assert.strictEqual(shadowStatus({ status }), text)
  })
})

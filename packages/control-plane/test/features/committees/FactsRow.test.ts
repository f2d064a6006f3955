import { assert, describe, it } from "@effect/vitest"
import { type CommitteeFacts, PINNED_RELEASE, type Recount, readPolicy } from "@runplane/domain"
import * as Result from "effect/Result"
import { caseFacts, storedFacts, voteLetters, votesAt } from "../../../src/features/committees/FactsRow.ts"
import { modelText, sharedModels } from "../../../src/features/committees/SharedModels.ts"
import { MAJORITY } from "../../support/Committee.ts"

const policy = Result.getOrThrow(readPolicy(MAJORITY, PINNED_RELEASE))

const facts: CommitteeFacts = {
  votes: ["for", "against", "abstain", undefined],
  outcome: "positive",
  notCounted: "no rules are known",
  pivotal: [true, false, undefined, undefined],
  costUsd: [0.5, 0, 0.25, 0],
  atMs: [10, undefined, 30, undefined]
}

describe("the facts of a run in its row", () => {
  it("are the same after their way through JSON, for some of the seats", () => {
    const row = {
      ...{ committee: "c", case_key: "k", outcome: "positive" as const, is_right: null },
      votes: voteLetters(facts.votes),
      facts: JSON.parse(JSON.stringify(storedFacts(facts, [0, 0, 0.1, 0])))
    }
    assert.strictEqual(row.votes, "fax-")
    assert.deepStrictEqual(caseFacts(row, [0, 1, 2, 3]), { ...facts, caseId: "k", isRight: undefined })
    assert.deepInclude(caseFacts({ ...row, is_right: false }, [2, 0]), {
      ...{ votes: ["abstain", "for"], costUsd: [0.25, 0.5], atMs: [30, 10], isRight: false }
    })
    assert.deepStrictEqual(votesAt("fa", [1, 7]), ["against", undefined])
  })

  it("have no recount of more acts than a row holds, and say so", () => {
    const recount: Recount = {
      ...{ mode: "decision", positive: true, decided: ["p1"] },
      terms: { initiator: "a", participants: ["a"], policy, release: PINNED_RELEASE },
      acts: Array.from({ length: 2_000 }, (_, at) => ({ by: `agent-${at}`, type: "Vote", proposalId: "p1" }))
    }
    const { notCounted: _, ...counted } = facts
    assert.deepInclude(storedFacts({ ...counted, recount }, []), { notCounted: "too many acts" })
    assert.property(storedFacts({ ...counted, recount: { ...recount, acts: [] } }, []), "recount")
  })
})

describe("seats that share a model", () => {
  const rows = [
    ["small", "small", "large", ""],
    ["small-2", "small-2", "large", ""],
    ["", "small", "small", ""]
  ]

  it("called the same ones in each run with a call of both", () => {
    assert.deepStrictEqual(sharedModels(["a", "b", "c", "d"], rows), [{ model: "small; small-2", seats: ["a", "b"] }])
    assert.deepStrictEqual(sharedModels(["d"], rows), [])
    assert.isUndefined(modelText(rows, 3))
  })
})

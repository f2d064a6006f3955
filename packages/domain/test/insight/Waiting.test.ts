import { assert, describe, it } from "@effect/vitest"
import { forecast, votingOf, why } from "@runplane/domain"
import { commits, type Drafts, governed, opened, proposes, says, votes } from "../support/deliberations.ts"
import { stateChanged } from "../support/events.ts"

const MAJORITY = { rules: { voting: { algorithm: "majority" } } }
const three = opened({ ...MAJORITY, participants: ["a", "b", "py-lead"] })

const textsOf = (...drafts: Drafts) => {
  const { by, run } = governed(...drafts)
  return votingOf(run, by).map(({ text }) => text)
}
const waits = (...drafts: Drafts) => {
  const { by, run } = governed(...drafts)
  return forecast(run, by).waitingFor
}

// docs/reference/decisions.md#votes
describe("who has voted", () => {
  const cases: ReadonlyArray<readonly [name: string, drafts: Drafts, texts: ReadonlyArray<string>]> = [
    [
      "one is missing",
      [three, proposes(), votes("a", "APPROVE"), votes("b", "REJECT")],
      ["1 of 3 has not voted: py-lead"]
    ],
    ["two are missing", [three, proposes(), votes("a", "APPROVE")], ["2 of 3 have not voted: b, py-lead"]],
    ["all are missing", [three, proposes()], ["3 of 3 have not voted: a, b, py-lead"]],
    [
      "a tie, and an abstention is a vote",
      [three, proposes(), votes("a", "APPROVE"), votes("b", "REJECT"), votes("py-lead", "ABSTAIN")],
      ["all 3 have voted"]
    ],
    ["nothing to vote on", [three], []],
    ["a stranger's vote", [three, proposes(), votes("x", "APPROVE")], ["3 of 3 have not voted: a, b, py-lead"]],
    [
      "two proposals",
      [three, proposes("a", "p1"), proposes("b", "p2"), votes("a", "APPROVE", "p2")],
      ["on option of p1: 3 of 3 have not voted: a, b, py-lead", "on option of p2: 2 of 3 have not voted: b, py-lead"]
    ],
    [
      "an initiator that need not vote",
      [opened({ ...MAJORITY, participants: ["a", "lead"] }), proposes(), votes("a", "APPROVE")],
      ["1 of 2 has not voted: lead (opened the session)"]
    ],
    [
      "a policy that counts no votes",
      [
        opened({ rules: { voting: { algorithm: "none" } }, participants: ["a", "b"] }),
        proposes(),
        votes("a", "APPROVE")
      ],
      ["1 of 2 has not voted: b (the policy counts no votes)"]
    ],
    [
      "after the commitment",
      [three, proposes(), votes("a", "APPROVE"), votes("b", "APPROVE"), commits(true)],
      ["1 of 3 had not voted: py-lead"]
    ],
    [
      "after an end without a decision",
      [three, proposes(), votes("a", "APPROVE"), stateChanged("EXPIRED")],
      ["2 of 3 had not voted: b, py-lead"]
    ],
    [
      "one participant",
      [opened({ ...MAJORITY, participants: ["a"] }), proposes(), votes("a", "APPROVE")],
      ["the only participant has voted"]
    ]
  ]
  it.each(cases)("is said for %s", (_, drafts, texts) => {
    assert.deepStrictEqual(textsOf(...drafts), texts)
    const { by, run } = governed(...drafts)
    assert.deepStrictEqual(why(run, by).voting?.map(({ text }) => text) ?? [], texts)
  })

  it("is not said while no event declares the participants", () => {
    assert.deepStrictEqual(textsOf(proposes(), votes("a", "APPROVE")), [])
  })

  it("names ten at most, and counts the others", () => {
    const participants = Array.from({ length: 40 }, (_, index) => `agent-${index}`)
    const [text = ""] = textsOf(opened({ ...MAJORITY, participants }), proposes("agent-0"))
    assert.match(text, /^40 of 40 have not voted: agent-0, .*agent-9 and 30 more$/)
  })
})

describe("what an open run waits for", () => {
  it.each<readonly [name: string, drafts: Drafts, expected: string | undefined]>([
    ["votes", [three, proposes(), votes("a", "APPROVE")], "2 of 3 have not voted: b, py-lead"],
    ["a proposal", [three], "nothing is proposed yet"],
    [
      "a commitment",
      [three, proposes(), votes("a", "APPROVE"), votes("b", "APPROVE"), votes("py-lead", "REJECT")],
      "all 3 have voted; no commitment is on record yet"
    ],
    ["a resume", [three, proposes(), stateChanged("SUSPENDED")], "the session is suspended"],
    ["nothing after a commitment", [three, proposes(), votes("a", "APPROVE"), commits(true)], undefined],
    ["nothing after its end", [three, proposes(), stateChanged("EXPIRED")], undefined],
    ["a session", [], "no message of its session is on record yet"],
    ["a request of approval", [opened({ mode: "quorum", participants: ["a", "b"] })], "no approval is requested yet"],
    [
      "ballots",
      [
        opened({ mode: "quorum", participants: ["a", "b"] }),
        says("lead", "ApprovalRequest", { requiredApprovals: 2 }, "r1"),
        says("a", "Abstain", {}, "r1")
      ],
      "1 of 2 has not voted: b"
    ],
    [
      "a worker",
      [
        opened({ mode: "task", participants: ["lead", "w"] }),
        says("lead", "TaskRequest", {}, "t1"),
        says("w", "TaskAccept", {}, "t1")
      ],
      "w can still send TaskComplete, TaskFail or TaskReject"
    ]
  ])("is %s", (_, drafts, expected) => {
    assert.strictEqual(waits(...drafts), expected)
  })
})

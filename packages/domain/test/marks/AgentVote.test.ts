import { assert, describe, it } from "@effect/vitest"
import { type AgentVote, activePolicy, addVote, agentRecord, agentVote, emptyTally, whatIf } from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { pick } from "../support/arbitraries.ts"
import { commits, type Drafts, governed, opened, proposes, says, votes } from "../support/deliberations.ts"
import { draft } from "../support/events.ts"

const voteOf = (participantId: string, ...drafts: Drafts): AgentVote | undefined => {
  const { by, run } = governed(...drafts)
  return agentVote(run, by, participantId)
}

const majority = { voting: { algorithm: "majority" } }
const unanimous = { voting: { algorithm: "unanimous" } }
const calls = (by: string, estimatedCostUsd: number, costBasis = "catalogue") =>
  draft("llm.call.completed", {
    sender: by,
    decodedPayload: { model: "m", promptTokens: 1, completionTokens: 1, totalTokens: 2, estimatedCostUsd, costBasis }
  })

describe("the vote of an agent", () => {
  const history = [
    opened({ rules: majority }),
    proposes("a"),
    votes("a", "APPROVE"),
    votes("b", "APPROVE"),
    votes("c", "REJECT"),
    commits(true)
  ]

  it("supports the outcome or does not, and is against the majority or is not", () => {
    assert.deepInclude(voteOf("a", ...history), { isForOutcome: true, isAgainstMajority: false })
    assert.deepInclude(voteOf("c", ...history), { isForOutcome: false, isAgainstMajority: true })
  })

  it("supports a negative outcome by a rejection", () => {
    const declined = [opened(), proposes("a"), votes("a", "APPROVE"), votes("b", "REJECT"), commits(false)]
    assert.deepInclude(voteOf("b", ...declined), { isForOutcome: true, isAgainstMajority: false })
    assert.deepInclude(voteOf("a", ...declined), { isForOutcome: false, isAgainstMajority: false })
  })

  it.each([
    ["without decision", [opened(), proposes("a"), votes("a", "APPROVE")]],
    ["without its vote", [opened(), proposes("a"), votes("b", "APPROVE"), commits(true)]],
    ["with an abstention", [opened(), proposes("a"), votes("a", "ABSTAIN"), commits(true)]],
    ["with a vote after the decision", [opened(), proposes("a"), commits(true), votes("a", "APPROVE")]],
    [
      "with an outcome that is not stated",
      [opened(), proposes("a"), votes("a", "APPROVE"), says("lead", "Commitment", { action: "step_up" })]
    ],
    ["of a mode without votes", [opened({ mode: "task" }), says("lead", "TaskRequest"), commits(true)]]
  ] as const)("does not exist in a run %s", (_, drafts) => {
    assert.isUndefined(voteOf("a", ...drafts))
  })

  it("is the last one before the decision", () => {
    const changed = [
      opened(),
      proposes("a"),
      votes("a", "REJECT"),
      votes("a", "APPROVE"),
      commits(true),
      votes("a", "REJECT")
    ]
    assert.deepInclude(voteOf("a", ...changed), { isForOutcome: true })
  })

  it("is a ballot in a quorum", () => {
    const quorum = [
      opened({ mode: "quorum" }),
      says("lead", "ApprovalRequest", { requiredApprovals: 2 }),
      says("a", "Approve"),
      says("b", "Approve"),
      says("c", "Reject"),
      commits(true)
    ]
    assert.deepInclude(voteOf("a", ...quorum), { isForOutcome: true, isPivotal: true })
    assert.deepInclude(voteOf("c", ...quorum), { isForOutcome: false, isPivotal: false })
    const missed = [...quorum.slice(0, 3), says("b", "Reject"), says("c", "Abstain"), commits(false)]
    assert.deepInclude(voteOf("b", ...missed), { isForOutcome: true, isPivotal: true })
    assert.deepInclude(voteOf("a", ...missed), { isForOutcome: false, isPivotal: false })
  })

  it("is pivotal when the policy would refuse the outcome with the opposite vote", () => {
    assert.isTrue(voteOf("a", ...history)?.isPivotal)
    assert.isFalse(voteOf("c", ...history)?.isPivotal)
    const three = [
      opened({ rules: majority }),
      proposes("a"),
      ...["a", "b", "c"].map((by) => votes(by, "APPROVE")),
      commits(true)
    ]
    assert.isFalse(voteOf("a", ...three)?.isPivotal)
    const all = [
      opened({ rules: unanimous }),
      proposes("a"),
      ...["a", "b", "c"].map((by) => votes(by, "APPROVE")),
      commits(true)
    ]
    assert.isTrue(voteOf("a", ...all)?.isPivotal)
  })

  it("is pivotal for a negative outcome when the opposite vote would allow a positive one", () => {
    const refused = [
      opened({ rules: unanimous }),
      proposes("a"),
      votes("a", "APPROVE"),
      votes("b", "APPROVE"),
      votes("c", "REJECT"),
      commits(false)
    ]
    assert.deepInclude(voteOf("c", ...refused), { isForOutcome: true, isAgainstMajority: true, isPivotal: true })
    assert.isFalse(voteOf("a", ...refused)?.isPivotal)
  })

  it.each([
    [["APPROVE", "APPROVE", "REJECT"], true],
    [["APPROVE", "APPROVE", "ABSTAIN"], true],
    [["APPROVE", "APPROVE", "APPROVE"], false],
    [["APPROVE", "REJECT", "REJECT"], false]
  ] as const)("without rules about votes is pivotal by the majority: %j is %s", ([first, second, third], isPivotal) => {
    const drafts = [opened(), proposes("a"), votes("a", first), votes("b", second), votes("c", third), commits(true)]
    assert.strictEqual(voteOf("a", ...drafts)?.isPivotal, isPivotal)
  })

  it("has the last confidence that it stated before the decision, and none out of 0 to 1", () => {
    const stated = (...confidences: ReadonlyArray<number>) =>
      voteOf(
        "a",
        opened(),
        proposes("a"),
        ...confidences.map((confidence) => says("a", "Evaluation", { recommendation: "APPROVE", confidence })),
        votes("a", "APPROVE"),
        commits(true),
        says("a", "Evaluation", { recommendation: "APPROVE", confidence: 0.1 })
      )?.confidence
    assert.strictEqual(stated(0.6, 0.9), 0.9)
    assert.strictEqual(stated(0.6, 7), 0.6)
    assert.isUndefined(stated())
  })

  it("has the cost of its calls up to the decision", () => {
    const drafts = [
      opened(),
      proposes("a"),
      calls("a", 0.01),
      calls("a", 0.02, "fallback"),
      calls("b", 5),
      votes("a", "APPROVE"),
      commits(true),
      calls("a", 9)
    ]
    assert.deepInclude(voteOf("a", ...drafts), { costUsd: 0.03, guessedCostUsd: 0.02 })
  })

  it.prop(
    "is pivotal as a what-if of the opposite vote says",
    [
      Arbitrary.array(pick(["APPROVE", "REJECT", "ABSTAIN"]), { minLength: 3, maxLength: 3 }),
      pick(["majority", "unanimous", "plurality"])
    ],
    ([ballots, algorithm]) => {
      const { by, run } = governed(
        opened({ rules: { voting: { algorithm } } }),
        proposes("a"),
        ...ballots.map((ballot, at) => votes(["a", "b", "c"][at] ?? "", ballot)),
        commits(true)
      )
      const vote = agentVote(run, by, "a")
      assert.strictEqual(vote === undefined, ballots[0] === "ABSTAIN")
      if (vote === undefined) return
      const opposite = ballots[0] === "APPROVE" ? "REJECT" : "APPROVE"
      const tried = Result.getOrThrow(whatIf(run, by, { votes: [{ participantId: "a", vote: opposite }] }))
      assert.strictEqual(vote.isPivotal, tried.before.allowed && !tried.after.allowed)
    }
  )

  it("of an unknown policy is compared with the majority", () => {
    const { run } = governed(...history)
    const unknown = activePolicy({ ...run, descriptor: undefined, policyVersion: undefined })
    assert.isTrue(agentVote(run, unknown, "a")?.isPivotal)
  })
})

const flag = Arbitrary.schema(Schema.Boolean)
const arbitraryVotes = Arbitrary.array(
  Arbitrary.all({
    vote: Arbitrary.all({
      isForOutcome: flag,
      isAgainstMajority: flag,
      isPivotal: flag,
      confidence: Arbitrary.map(pick([-1, 0.2, 0.55, 1]), (confidence) => (confidence < 0 ? undefined : confidence)),
      costUsd: pick([0, 0.01, 0.5]),
      guessedCostUsd: pick([0, 0.01])
    }),
    truth: Arbitrary.map(pick(["unknown", "right", "wrong"]), (truth) =>
      truth === "unknown" ? undefined : truth === "right"
    )
  }),
  { maxLength: 40 }
)

describe("the record of an agent", () => {
  it.prop("counts each vote where it belongs", [arbitraryVotes], ([given]) => {
    const record = agentRecord(given.reduce((so, { truth, vote }) => addVote(so, vote, truth), emptyTally))
    const judged = given.filter(({ truth }) => truth !== undefined)
    const right = judged.filter(({ truth, vote }) => vote.isForOutcome === truth)
    assert.strictEqual(record.runs, given.length)
    assert.strictEqual(record.judged, judged.length)
    assert.strictEqual(record.right, right.length)
    assert.strictEqual(record.againstMajority, judged.filter(({ vote }) => vote.isAgainstMajority).length)
    assert.strictEqual(record.rightAgainstMajority, right.filter(({ vote }) => vote.isAgainstMajority).length)
    assert.strictEqual(record.brier?.n ?? 0, judged.filter(({ vote }) => vote.confidence !== undefined).length)
    assert.strictEqual("rightShare" in record, judged.length > 0)
    assert.strictEqual("costPerRightUsd" in record, right.length > 0)
    const judgedCost = judged.reduce((sum, { vote }) => sum + vote.costUsd, 0)
    if (record.costPerRightUsd !== undefined)
      assert.approximately(record.costPerRightUsd * right.length, judgedCost, 1e-9)
    assert.isFalse("calibration" in record || "judgedCostUsd" in record)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { extractLlmUsage, type JsonObject } from "@runplane/domain"
import * as Schema from "effect/Schema"
import type { Action } from "../../src/examples/runner/Strategy.ts"
import { ALL_PLAYS, bridge, erasure, escalation, rollout, sourcing, withFacts } from "../support/Plays.ts"
import { linesOf, type Play, type Rehearsed, rehearse } from "../support/PureStage.ts"

/** How a rehearsal ended, as one text. */
const ending = ({ cancelled, outcome, unable }: Rehearsed): string =>
  unable ?? (outcome === undefined ? `cancelled: ${cancelled}` : outcome.action)

const signals = ({ beside }: Rehearsed) =>
  beside.flatMap(({ action, by }) => (action._tag === "Signal" ? [{ by, ...action }] : []))

describe("the agents of every mode", () => {
  it.each([
    ["bridge", bridge, "decision.selected", ["Proposal", "Evaluation", "Vote"]],
    ["rollout", rollout, "quorum.approved", ["ApprovalRequest", "Approve", "Abstain"]],
    ["sourcing", sourcing, "proposal.accepted", ["Proposal", "CounterProposal", "Accept", "Withdraw"]],
    ["erasure", erasure, "task.completed", ["TaskRequest", "TaskAccept", "TaskUpdate", "TaskComplete"]],
    ["escalation", escalation, "handoff.accepted", ["HandoffOffer", "HandoffContext", "HandoffAccept"]]
  ] as const)("come to a good end: %s", (_, play, action, types) => {
    const rehearsed = rehearse(play)
    assert.strictEqual(ending(rehearsed), action)
    assert.strictEqual(rehearsed.outcome?.positive, true)
    assert.includeMembers(
      rehearsed.session.map(({ messageType }) => messageType),
      [...types]
    )
  })

  it("say the same things for the same facts and seed, and put them differently for another one", () => {
    for (const play of Object.values(ALL_PLAYS)) {
      assert.deepStrictEqual(rehearse(play), rehearse({ ...play }))
      const others = ["a", "b", "c", "d"].map((seed) => rehearse({ ...play, seed }))
      assert.isAbove(
        new Set(others.map((other) => JSON.stringify(other.session.map(({ payload }) => [...payload])))).size,
        1
      )
      assert.deepStrictEqual([...new Set(others.map(ending))], [ending(rehearse(play))])
    }
  })

  it.prop("decide by the facts, not by the seed", [Schema.String], ([seed]) => {
    for (const play of Object.values(ALL_PLAYS)) {
      assert.strictEqual(ending(rehearse({ ...play, seed })), ending(rehearse(play)))
    }
  })

  it("report progress that grows from 0 to 1 and one model call or more for each participant", () => {
    for (const play of Object.values(ALL_PLAYS)) {
      const rehearsed = rehearse(play)
      for (const [participant] of play.cast) {
        if (!rehearsed.session.some(({ sender }) => sender === participant)) continue
        const done = rehearsed.beside.flatMap(({ action, by }) =>
          by === participant && action._tag === "Progress" ? [action.done] : []
        )
        assert.deepStrictEqual(
          done,
          done.toSorted((one, other) => one - other)
        )
        assert.isTrue(done.every((fraction) => fraction > 0 && fraction <= 1))
        const types = signals(rehearsed).flatMap(({ by, signalType }) => (by === participant ? [signalType] : []))
        assert.includeMembers(types, ["session.started", "llm.call.completed"])
      }
    }
  })

  it("report the usage of their models in the form that is counted", () => {
    for (const play of Object.values(ALL_PLAYS)) {
      for (const { data } of signals(rehearse(play)).filter(({ signalType }) => signalType === "llm.call.completed")) {
        const [usage] = extractLlmUsage("Signal", { signalType: "llm.call.completed", data: asJson(data) })
        assert.isAbove(usage?.promptTokens ?? 0, 100)
        assert.isAbove(usage?.completionTokens ?? 0, 10)
        assert.isAbove(usage?.latencyMs ?? 0, 100)
        assert.isDefined(usage?.model)
      }
    }
  })

  it("cannot lead with a kickoff of another mode, nor without one", () => {
    assert.strictEqual(
      rehearse({ ...bridge, kickoff: { proposal_id: 7 } }).unable,
      "the kickoff of the bootstrap file is not a Proposal"
    )
    const uninvited = rehearse({ ...bridge, cast: [["other", "buyer-agent"], ...bridge.cast] })
    assert.strictEqual(uninvited.unable, "the bootstrap file has no initiator block")
  })

  it("time out on silent participants", () => {
    const silenced = (play: Play) => ({
      ...play,
      cast: play.cast.map(([who, ref]) => [who, who === "lead" ? ref : ""] as const)
    })
    assert.deepStrictEqual(
      [rollout, sourcing, erasure, escalation].map((play) => ending(rehearse(silenced(play)))),
      [
        "cancelled: 0 of 3 approvals when the time was up",
        "cancelled: no answer at the table",
        "cancelled: no report on t1 in time",
        "cancelled: billing has not answered"
      ]
    )
    assert.strictEqual(ending(rehearse(silenced(bridge))), "decision.rejected")
  })
})

const asJson = (data: object): JsonObject => JSON.parse(JSON.stringify(data))

describe("the incident bridge", () => {
  it.each([
    ["stays when all agents want to stay", { standby: { region: "x", warm: false } }, "decision.rejected"],
    ["is let go when the region has recovered", { recoversMeanwhile: true }, /^cancelled: shop has recovered/]
  ] as const)("%s", (_, facts, expected) => {
    const text = ending(rehearse(withFacts(bridge, facts)))
    if (typeof expected === "string") assert.strictEqual(text, expected)
    else assert.match(text, expected)
  })

  it("objects before it evaluates, and evaluates before any vote", () => {
    const lines = linesOf(
      rehearse(withFacts(bridge, { replicationLagSeconds: 95, standby: { region: "x", warm: false } }))
    )
    assert.isBelow(lines.indexOf("data Objection"), lines.indexOf("data Evaluation"))
    const lastEvaluation = lines.findLastIndex((line) => line.endsWith("Evaluation"))
    assert.isBelow(
      lastEvaluation,
      lines.findIndex((line) => line.endsWith("Vote"))
    )
  })
})

describe("the release board", () => {
  it.each([
    [
      "does not ship failing tests and an untested way back",
      { testsPassedPercent: 90, schemaMigration: true, rollbackTested: false },
      "quorum.rejected"
    ],
    ["counts an abstention for neither side", { testsPassedPercent: 99 }, "quorum.approved"],
    [
      "does not ship in a freeze with a burnt budget",
      { freezeWeek: true, errorBudgetLeftPercent: 5 },
      "quorum.rejected"
    ],
    [
      "withdraws an artefact with a secret in it",
      { secretsFound: 1 },
      "cancelled: withdrawn: 1.2.3 has to be built again without the secrets in it"
    ]
  ])("%s", (_, facts, expected) => {
    assert.strictEqual(ending(rehearse(withFacts(rollout, facts))), expected)
  })

  it("receives all ballots, and the requester abstains", () => {
    const lines = linesOf(rehearse(rollout))
    assert.includeMembers([...lines], ["lead Abstain", "quality Approve", "security Approve"])
    assert.lengthOf(lines, 7)
  })
})

describe("the sourcing table", () => {
  const last = (rehearsed: Rehearsed) => linesOf(rehearsed).at(-1)

  it("ends without a contract when the limits do not overlap", () => {
    const apart = withFacts(sourcing, { supplier: { listPrice: 9_000, floorPrice: 8_000 } })
    const rehearsed = rehearse(apart)
    assert.strictEqual(ending(rehearsed), "proposal.rejected")
    assert.strictEqual(last(rehearsed), "seller Reject")
  })

  it("keeps to the rounds that the policy allows, and rejects nothing in passing where that is final", () => {
    const strict = withFacts(sourcing, { rules: { maxRounds: 3, rejectionIsFinal: true } })
    const lines = linesOf(rehearse(strict))
    assert.isAtMost(lines.filter((line) => line.endsWith("CounterProposal")).length, 3)
    assert.notInclude(lines, "lead Reject")
    assert.strictEqual(ending(rehearse(strict)), "proposal.accepted")
  })

  it("withdraws what a counter-offer replaces", () => {
    const lines = linesOf(rehearse(sourcing))
    assert.strictEqual(lines[lines.indexOf("lead CounterProposal") + 1], "lead Withdraw")
  })

  it("is signed by its proposer last, when all others have accepted", () => {
    const lines = linesOf(rehearse(sourcing)).filter((line) => line.endsWith("Accept"))
    assert.sameMembers([...lines], ["seller Accept", "counsel Accept", "lead Accept"])
  })

  it("listens to counsel", () => {
    const unsafe = withFacts(sourcing, { legal: { minimumLiabilityCap: 5 } })
    const rehearsed = rehearse(unsafe)
    assert.strictEqual(ending(rehearsed), "proposal.rejected")
    assert.strictEqual(last(rehearsed), "counsel Reject")
  })

  it("ends after the supplier's price without a budget", () => {
    const rehearsed = rehearse(withFacts(sourcing, { budgetReleased: false }))
    assert.match(ending(rehearsed), /^cancelled: the budget of RFQ-1 is not released/)
    assert.strictEqual(last(rehearsed), "seller CounterProposal")
  })
})

describe("the privacy desk", () => {
  it.each([
    ["offers the task to the next engineer when one has no time", { backlogHours: { first: 50 } }, "task.completed"],
    ["stops at a legal hold", { legalHold: true }, "task.failed"],
    [
      "ends when no engineer has time",
      { backlogHours: { first: 50, second: 50 } },
      "cancelled: no permitted engineer has time for t1: first, second"
    ],
    [
      "ends when the policy forbids a reassignment",
      { backlogHours: { first: 50 }, reassignable: false },
      "cancelled: no permitted engineer has time for t1: first"
    ]
  ])("%s", (_, facts, expected) => {
    assert.strictEqual(ending(rehearse(withFacts(erasure, facts))), expected)
  })

  it("gives a named task only to its assignee", () => {
    const named = { ...erasure, kickoff: { ...erasure.kickoff, requested_assignee: "second" } }
    assert.notInclude(linesOf(rehearse(named)), "first TaskAccept")
    assert.strictEqual(ending(rehearse(named)), "task.completed")
    const busy = withFacts(named, { backlogHours: { second: 50 } })
    assert.strictEqual(ending(rehearse(busy)), "cancelled: no permitted engineer has time for t1: second")
  })
})

describe("the support desk", () => {
  it.each([
    ["asks one after the other", { category: "outage" }, "handoff.accepted"],
    ["states that all declined", { category: "contract", queue: { duty: 20 } }, "handoff.declined"],
    [
      "is let go when the customer has solved it",
      { category: "outage", solvedMeanwhile: true },
      "cancelled: Ann writes that the problem is gone, SUP-1 needs no owner"
    ],
    [
      "takes silence for acceptance where the policy does",
      { away: ["billing"], silenceAcceptsAfterMs: 10 },
      "handoff.accepted"
    ],
    ["does not take it so elsewhere", { away: ["billing"] }, "cancelled: billing has not answered"]
  ])("%s", (_, facts, expected) => {
    assert.strictEqual(ending(rehearse(withFacts(escalation, facts))), expected)
  })

  it("sends the context after each offer", () => {
    const lines = linesOf(rehearse(withFacts(escalation, { category: "outage" })))
    assert.deepStrictEqual(
      lines.filter((line) => line !== "lead SessionStart"),
      [
        "lead HandoffOffer",
        "lead HandoffContext",
        "billing HandoffDecline",
        "lead HandoffOffer",
        "lead HandoffContext",
        "platform HandoffAccept"
      ]
    )
  })
})

describe("a strategy", () => {
  it("runs again after its turn and has nothing to add", () => {
    const said = (rehearsed: Rehearsed) => linesOf(rehearsed).filter((line) => line === "quality Approve")
    assert.lengthOf(said(rehearse(rollout)), 1)
  })

  it("sends an alarm with a severity", () => {
    const rehearsed = rehearse(withFacts(rollout, { secretsFound: 3 }))
    const alarm = signals(rehearsed).find(({ signalType }) => signalType === "secret_exposed")
    assert.deepInclude(alarm?.data, { participantId: "security", severity: "high" })
    const kinds = new Set(rehearsed.beside.map(({ action }): Action["_tag"] => action._tag))
    assert.sameMembers([...kinds], ["Signal", "Progress", "Think"])
  })
})

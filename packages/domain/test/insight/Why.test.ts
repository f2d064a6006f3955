import { assert, describe, it } from "@effect/vitest"
import {
  type Act,
  actionLog,
  activePolicy,
  decisionRecord,
  isAllowed,
  reasonedCard,
  type Why,
  why,
  whyHtml,
  whyInSlices,
  whyMarkdown
} from "@runplane/domain"
import { arbitraryDrafts } from "../support/arbitraries.ts"
import { activePolicyOf, arbitraryTalk, arbitraryTerms, placed, talkOf } from "../support/committees.ts"
import {
  commits,
  type Drafts,
  governed,
  modeName,
  opened,
  proposes,
  recordOf,
  says,
  votes
} from "../support/deliberations.ts"
import { derived, draft, number } from "../support/events.ts"

const whyOf = (...drafts: Drafts): Why => {
  const { by, run } = governed(...drafts)
  return why(run, by)
}

const pageOf = (...drafts: Drafts): string => {
  const { by, run } = governed(...drafts)
  return whyMarkdown(reasonedCard(run, by))
}

const rules = {
  voting: { algorithm: "majority", quorum: { type: "count", value: 2 } },
  commitment: { require_vote_quorum: true }
}
const four = { rules, participants: ["a", "b", "c", "d"] }

/** seq of the n-th event, as the tests number them. */
const seqOf = (index: number) => index * 10

describe("why", () => {
  it("names the agents that failed when the session was never opened, and no participants that are missing", () => {
    const error = "the session was not opened: agent lead (panel-lead-agent): process exited (code=1, signal=null)"
    const failed = (errorText: string) => [
      draft("run.created", { status: "queued", modeName: modeName("decision") }),
      draft("run.failed", { status: "failed", error: errorText, errorCode: "RUNTIME_TIMEOUT" })
    ]
    const explained = whyOf(...failed(error))
    assert.strictEqual(explained.summary, `nothing is decided; ${error}`)
    assert.deepStrictEqual(explained.missing, [])
    assert.include(explained.notes, error)
    assert.isFalse(explained.notes.some((note) => note.includes("declares the participants")))
    const late = whyOf(...opened(four), ...failed("the runtime does not know the session any more").slice(1))
    assert.notInclude(late.notes, "the runtime does not know the session any more")
  })

  it("says who carried the decision, which rules it met by which events, and what each vote was worth", () => {
    const explained = whyOf(
      opened(four),
      proposes("a"),
      says("b", "Evaluation", { recommendation: "APPROVE", confidence: 0.8 }),
      votes("a", "APPROVE"),
      votes("b", "APPROVE"),
      votes("c", "APPROVE"),
      votes("d", "REJECT"),
      commits(true)
    )
    assert.strictEqual(explained.summary, "carried by 3 of 4; without c it would still stand")
    assert.deepStrictEqual(explained.outcome, {
      action: "decision.selected",
      positive: true,
      by: "lead",
      reason: "counted",
      seq: seqOf(10),
      proposalId: "p1"
    })
    assert.deepStrictEqual(
      explained.rules.map(({ rule, satisfied, seqs }) => [rule, satisfied, seqs]),
      [
        ["mode.proposal", true, [seqOf(4)]],
        ["voting.quorum", true, [6, 7, 8, 9].map(seqOf)],
        ["voting.algorithm", true, [6, 7, 8, 9].map(seqOf)],
        ["commitment.authority", true, [seqOf(10)]]
      ]
    )
    assert.deepStrictEqual(explained.minimalSet, [4, 6].map(seqOf))
    assert.deepStrictEqual(
      explained.counterfactuals.map(({ participantId, stillAllowed }) => [participantId, stillAllowed]),
      [
        ["a", true],
        ["b", true],
        ["c", true],
        ["d", true]
      ]
    )
    assert.deepInclude(explained.decidedAt, { index: 7, msBeforeCommitment: 3_000 })
    assert.deepStrictEqual(
      explained.claims.map(({ kind }) => kind),
      ["proposal", "evaluation", "vote", "vote", "vote", "vote", "commitment"]
    )
    assert.strictEqual(explained.claims[1]?.text, "b evaluated p1: APPROVE, confidence 0.8")
  })

  it("does not call a veto met without a veto", () => {
    const rules = { objection_handling: { critical_severity_vetoes: true } }
    const explained = whyOf(opened({ rules }), proposes("a"), votes("a", "APPROVE"), commits(true))
    const veto = explained.rules.find(({ rule }) => rule === "objection_handling.critical_severity_vetoes")
    assert.deepInclude(veto, {
      satisfied: true,
      text: "0 critical objections, 1 needed to veto (deny)",
      have: 0,
      need: 1
    })
  })

  it("does not say that there was no veto where the outcome follows from one", () => {
    const objections = { critical_severity_vetoes: true, critical_objection_action: "finalize_decline" }
    const explained = whyOf(
      opened({ rules: { objection_handling: objections } }),
      proposes("a"),
      says("b", "Objection", { severity: "critical" }),
      commits(false)
    )
    const veto = explained.rules.find(({ rule }) => rule === "objection_handling.critical_severity_vetoes")
    const text = "1 critical objection, 1 needed to veto (finalize_decline): the veto declines it"
    assert.deepInclude(veto, { satisfied: true, text })
  })

  it("names whose vote it hangs on", () => {
    const explained = whyOf(opened(four), proposes("a"), votes("a", "APPROVE"), votes("d", "REJECT"), commits(true))
    assert.strictEqual(
      explained.summary,
      "a tie, 1 approve, 1 reject, which passes (majority 0.5); 2 of 4 did not vote; without any one of a, d it would not stand"
    )
    assert.deepStrictEqual(explained.counterfactuals[1]?.reasons, [
      "vote quorum not met: 1 voters of 4 participants (quorum: 2 count)"
    ])
  })

  it("names the rule by which an outcome stands when the policy counts no votes", () => {
    const explained = whyOf(
      opened({ rules: { voting: { algorithm: "none" } } }),
      proposes("a"),
      votes("a", "APPROVE"),
      votes("b", "REJECT"),
      commits(true)
    )
    assert.strictEqual(
      explained.summary,
      "the policy counts no votes; lead opened the session, and its initiator may commit"
    )
  })

  it("knows what a changed vote would have been without its last word", () => {
    const plain = { rules: { voting: { algorithm: "unanimous" } }, participants: ["a"] }
    const explained = whyOf(opened(plain), proposes("a"), votes("a", "REJECT"), votes("a", "APPROVE"), commits(true))
    assert.strictEqual(explained.claims[1]?.kind, "change-of-mind")
    assert.deepStrictEqual(explained.claims[1]?.seqs, [5, 6].map(seqOf))
    assert.match(explained.counterfactuals[0]?.reasons[0] ?? "", /0 approve, 1 reject/)
  })

  it("says what was missing in a run without decision", () => {
    const explained = whyOf(
      opened(four),
      proposes("a"),
      votes("a", "APPROVE"),
      draft("session.state.changed", { state: "EXPIRED" })
    )
    assert.isNull(explained.outcome)
    assert.strictEqual(
      explained.summary,
      "nothing is decided, and the session has expired; for a positive outcome: vote quorum not met: 1 voters of 4 participants (quorum: 2 count)"
    )
    assert.deepStrictEqual([explained.minimalSet, explained.counterfactuals], [[], []])
  })

  it("says when the rules on record do not explain the decision, and when there are none", () => {
    const odd = whyOf(opened(four), proposes("a"), commits(true))
    assert.include(odd.notes, "under these rules the acts on record do not allow the outcome")
    assert.isFalse(odd.rules.find(({ rule }) => rule === "voting.quorum")?.satisfied)
    const unknown = recordOf(
      opened(),
      draft("session.state.changed", { policyVersion: "policy.gone" }),
      proposes("a"),
      [commits(false)]
    )
    const explained = why(unknown, activePolicy(unknown))
    assert.deepInclude(explained, { policySource: "unknown", rules: [], minimalSet: [] })
    assert.match(explained.notes.join(), /policy.gone were not recorded/)
    const wordless = derived("decision.finalized", "Commitment", "lead", { action: "step_up" })
    assert.include(whyOf(opened(four), wordless).notes, "the commitment does not say whether it was a yes")
  })

  it("says how many calls the cost lacks", () => {
    const call = derived("llm.call.completed", "Signal", "a", { totalTokens: 100, estimatedCostUsd: 0.5 })
    const missing = derived("llm.call.completed", "Signal", "b", { usage: "missing" })
    const drafts = [opened(four), call, missing, missing, proposes("a")]
    const explained = whyOf(...drafts)
    assert.deepStrictEqual(explained.cost, {
      totalTokens: 100,
      costUsd: 0.5,
      callsWithoutUsage: 2,
      byParticipant: [
        { participantId: "a", calls: 1, totalTokens: 100, costUsd: 0.5 },
        { participantId: "b", calls: 2, totalTokens: 0, costUsd: 0, callsWithoutUsage: 2 }
      ]
    })
    assert.include(pageOf(...drafts), "b: 2 calls, 0 tokens, $0.0000 and 2 calls without usage")
  })

  it("says which part of the cost is a guess", () => {
    const call = (sender: string, estimatedCostUsd: number, costBasis: string) =>
      derived("llm.call.completed", "Signal", sender, { totalTokens: 1, estimatedCostUsd, costBasis })
    const calls = [call("a", 0.1, "fallback"), call("a", 0.2, "fallback"), call("a", 1, "catalogue")]
    const drafts = [opened(four), ...calls, call("b", 2, "override"), proposes("a")]
    const explained = whyOf(...drafts)
    assert.deepStrictEqual(explained.cost, {
      totalTokens: 4,
      costUsd: 3.3,
      guessedCostUsd: 0.3,
      byParticipant: [
        { participantId: "a", calls: 3, totalTokens: 3, costUsd: 1.3, guessedCostUsd: 0.3 },
        { participantId: "b", calls: 1, totalTokens: 1, costUsd: 2 }
      ]
    })
    assert.include(pageOf(...drafts), "a: 3 calls, 3 tokens, $1.3000, ≈ $0.3000 of it guessed")
  })

  it("adds up the cost, and keeps refusals of the policy", () => {
    const call = derived("llm.call.completed", "Signal", "a", { totalTokens: 100, estimatedCostUsd: 0.5 })
    const denied = derived("policy.denied", "PolicyDenied", "lead", { reasons: ["too early"] })
    const explained = whyOf(opened(four), call, call, proposes("a"), denied)
    assert.deepStrictEqual(explained.cost, {
      totalTokens: 200,
      costUsd: 1,
      byParticipant: [{ participantId: "a", calls: 2, totalTokens: 200, costUsd: 1 }]
    })
    assert.strictEqual(explained.claims.at(-1)?.text, "the policy refused a message of lead: too early")
  })

  it("explains the other modes", () => {
    const quorum = whyOf(
      opened({ mode: "quorum" }),
      says("lead", "ApprovalRequest", { required_approvals: 2 }, "q1"),
      says("a", "Approve", {}, "q1"),
      says("b", "Approve", {}, "q1"),
      commits(true)
    )
    assert.deepStrictEqual(quorum.minimalSet, [3, 4, 5].map(seqOf))
    assert.strictEqual(
      quorum.summary,
      "2 approve, 0 reject, 2 approvals needed; 1 of 3 did not vote; without any one of a, b it would not stand"
    )
    const task = whyOf(
      opened({ mode: "task", rules: { completion: { require_output: true } } }),
      says("lead", "TaskRequest", { instructions: "x" }, "t1"),
      says("a", "TaskAccept", {}, "t1"),
      says("a", "TaskComplete", { output: "AAAA" }, "t1"),
      commits(true)
    )
    assert.deepStrictEqual(
      task.rules.map(({ rule, satisfied }) => [rule, satisfied]),
      [
        ["mode.report", true],
        ["completion.require_output", true],
        ["commitment.authority", true]
      ]
    )
    assert.deepStrictEqual(task.minimalSet, [4, 5, 6].map(seqOf))
  })
})

describe("properties of why", () => {
  it("of a long run is made in many slices, and is the same", () => {
    const many = Array.from({ length: 2_000 }, (_, at) =>
      votes(at % 2 === 0 ? "a" : "b", at % 3 === 0 ? "REJECT" : "APPROVE")
    )
    const rules = { voting: { algorithm: "majority" } }
    const { by, run } = governed(
      opened({ rules }),
      proposes("a"),
      many,
      votes("a", "APPROVE"),
      votes("b", "APPROVE"),
      commits(true)
    )
    const parts = whyInSlices(run, by)
    let stops = 0
    let made = parts.next()
    for (; !made.done; made = parts.next()) stops += 1
    assert.isAbove(stops, 30)
    assert.deepStrictEqual(made.value, why(run, by))
  })

  it.prop("is total over any events", { drafts: arbitraryDrafts }, ({ drafts }) => {
    const run = decisionRecord(number(drafts))
    const explained = reasonedCard(run, activePolicy(run))
    assert.isString(whyHtml(explained))
    assert.isString(whyMarkdown(explained))
  })

  it.prop(
    "its smallest set carries the outcome and no part of it does, and its counterfactuals are what the rules say",
    { terms: arbitraryTerms(5), talk: arbitraryTalk(12) },
    ({ talk, terms }) => {
      const acts = placed(talkOf(terms, talk))
      const allowed = (some: ReadonlyArray<Act>, positive: boolean) =>
        isAllowed(terms, actionLog("decision", some, terms.policy.rules), positive)
      for (const positive of [true, false]) {
        if (!allowed(acts, positive)) continue
        const at = { seq: 99, index: 99, ts: "2026-07-01T10:00:00.000Z" }
        const outcome = { positive, evaluatedPositive: positive, reason: undefined, proposalId: undefined }
        const commitment = { ...at, by: "a", action: "x", ...outcome }
        const { participants, initiator } = terms
        const run = {
          ...recordOf(),
          modeName: modeName("decision"),
          mode: "decision",
          participants,
          initiator,
          acts,
          commitment
        } as const
        const explained = why(run, activePolicyOf("decision", terms))
        const against = acts.filter(({ severity, vote }) =>
          positive ? vote === "REJECT" || severity === "critical" : vote === "APPROVE"
        )
        const chosen = (seqs: ReadonlyArray<number>) =>
          acts.filter((act) => against.includes(act) || seqs.includes(act.seq))
        assert.isTrue(allowed(chosen(explained.minimalSet), positive))
        for (const seq of explained.minimalSet) {
          // A vote on a proposal that is left out counts for nothing, which only the judged record knows.
          if (acts.find((act) => act.seq === seq)?.type === "Proposal") continue
          assert.isFalse(allowed(chosen(explained.minimalSet.filter((one) => one !== seq)), positive))
        }
        for (const { seq, stillAllowed } of explained.counterfactuals) {
          const rest = acts.filter((act) => act.seq !== seq)
          assert.strictEqual(allowed(rest, positive), stillAllowed)
        }
      }
    },
    { arbitrary: { runs: 200 } }
  )
})

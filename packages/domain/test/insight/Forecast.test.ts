import { assert, describe, it } from "@effect/vitest"
import {
  actionLog,
  activePolicy,
  type DecisionRecord,
  type Forecast,
  forecast,
  isAllowed,
  type SessionTerms,
  type Statement
} from "@runplane/domain"
import { activePolicyOf, arbitraryTalk, arbitraryTerms, placed, policyOf, talkOf } from "../support/committees.ts"
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
import { draft } from "../support/events.ts"

const forecastOf = (...drafts: Drafts): Forecast => {
  const { by, run } = governed(...drafts)
  return forecast(run, by)
}

const statuses = ({ outcomes }: Forecast) =>
  Object.fromEntries(outcomes.map(({ outcome, proposalId, status }) => [proposalId ?? outcome, status]))

const needs = ({ outcomes }: Forecast, wanted: string) =>
  outcomes
    .find(({ outcome, proposalId }) => outcome === wanted && proposalId === undefined)
    ?.needs.map(({ text }) => text)

const majority = { voting: { algorithm: "majority" } }

describe("the forecast of a decision", () => {
  it("says what is met, what is needed, and whose act decides", () => {
    const now = forecastOf(opened({ rules: majority }), proposes(), votes("a", "REJECT"))
    assert.deepStrictEqual(statuses(now), { positive: "possible", negative: "met" })
    assert.deepStrictEqual(needs(now, "positive"), ["1 of b, c votes APPROVE on p1"])
    assert.deepStrictEqual(
      now.outstanding.map(({ participantId }) => participantId),
      ["b", "c"]
    )
    assert.deepInclude(now, {
      basis: "exact",
      policySource: "recorded",
      policyVersion: "policy.test.rules",
      atIndex: 5
    })
    assert.deepStrictEqual(
      now.outcomes[0]?.blockers.map(({ have, need, rule }) => [rule, have, need]),
      [["voting.threshold", 0, 0.5]]
    )
    assert.deepStrictEqual(
      now.pivotal.filter(({ outcome }) => outcome === "positive"),
      [
        { participantId: "b", act: "Vote", value: "APPROVE", outcome: "positive", becomes: "met" },
        { participantId: "b", act: "Vote", value: "REJECT", outcome: "positive", becomes: "impossible" },
        { participantId: "c", act: "Vote", value: "APPROVE", outcome: "positive", becomes: "met" },
        { participantId: "c", act: "Vote", value: "REJECT", outcome: "positive", becomes: "impossible" }
      ]
    )
  })

  it("knows when it is decided although votes are out", () => {
    const now = forecastOf(
      opened({ rules: { ...majority, commitment: { require_vote_quorum: true } } }),
      proposes(),
      votes("a", "APPROVE"),
      votes("b", "APPROVE")
    )
    assert.deepStrictEqual(statuses(now), { positive: "met", negative: "impossible" })
    assert.isTrue(now.outcomes.every(({ settled }) => settled))
    assert.deepStrictEqual(now.pivotal, [])
  })

  it("calls certain what only waits for the last voters", () => {
    const quorum = { voting: { algorithm: "majority", quorum: { type: "count", value: 3 } } }
    const rules = { ...quorum, commitment: { require_vote_quorum: true } }
    const now = forecastOf(opened({ rules }), proposes(), votes("a", "APPROVE"), votes("b", "APPROVE"))
    assert.deepStrictEqual(statuses(now), { positive: "certain", negative: "impossible" })
    assert.deepStrictEqual(now.outcomes[0]?.blockers, [
      {
        rule: "voting.quorum",
        have: 2,
        need: 3,
        text: "vote quorum not met: 2 voters of 3 participants (quorum: 3 count)",
        code: "quorum_not_met"
      }
    ])
    assert.deepStrictEqual(needs(now, "positive"), ["c votes APPROVE on p1"])
  })

  it("shows a veto, a missing confidence and a quorum out of reach as what they are", () => {
    const veto = {
      objection_handling: { critical_severity_vetoes: true, critical_objection_action: "finalize_decline" }
    }
    const vetoed = forecastOf(opened({ rules: veto }), proposes(), says("b", "Objection", { severity: "critical" }))
    assert.deepStrictEqual(statuses(vetoed), { positive: "impossible", negative: "met" })
    assert.strictEqual(vetoed.outcomes[0]?.blockers[0]?.rule, "objection_handling.critical_severity_vetoes")

    const confidence = { evaluation: { required_before_voting: true, minimum_confidence: 0.8 } }
    const unsure = opened({ rules: confidence })
    const hesitant = says("b", "Evaluation", { recommendation: "APPROVE", confidence: 0.5 })
    const before = forecastOf(unsure, proposes(), hesitant)
    assert.deepStrictEqual(before.outcomes[0]?.blockers[0], {
      rule: "evaluation.minimum_confidence",
      have: 0.5,
      need: 0.8,
      text: "no evaluation reaches the minimum confidence 0.8",
      code: "confidence_below_minimum"
    })
    assert.deepStrictEqual(needs(before, "positive"), [
      "1 of a, b, c sends Evaluation (not REVIEW, confidence of at least 0.8)"
    ])
    const after = forecastOf(unsure, proposes(), hesitant, votes("a", "APPROVE"))
    assert.deepStrictEqual(statuses(after), { positive: "impossible", negative: "impossible" })

    const quorum = { voting: { quorum: { type: "count", value: 9 } }, commitment: { require_vote_quorum: true } }
    assert.deepStrictEqual(statuses(forecastOf(opened({ rules: quorum }), proposes())), {
      positive: "impossible",
      negative: "impossible"
    })
  })

  it("lists the sets of voters one by one when weights make them differ", () => {
    const rules = { voting: { algorithm: "weighted", threshold: 0.6, weights: { a: 3, b: 2, c: 2, d: 1 } } }
    const now = forecastOf(opened({ rules, participants: ["a", "b", "c", "d"] }), proposes(), votes("d", "REJECT"))
    assert.deepStrictEqual(needs(now, "positive"), ["1 of a, b, c votes APPROVE on p1"])
    const later = forecastOf(opened({ rules, participants: ["a", "b", "c", "d"] }), proposes(), votes("a", "REJECT"))
    assert.deepStrictEqual(needs(later, "positive"), ["b and c and d vote APPROVE on p1"])
  })

  it("bounds what more than twelve can do, with the same statuses", () => {
    const many = Array.from({ length: 40 }, (_, at) => `v${at}`)
    const cast = many.slice(0, 10).map((voter) => votes(voter, "REJECT"))
    const now = forecastOf(opened({ rules: majority, participants: many }), proposes("v0"), ...cast)
    assert.strictEqual(now.basis, "bounds")
    assert.deepStrictEqual(statuses(now), { positive: "possible", negative: "met" })
    assert.match(needs(now, "positive")?.[0] ?? "", /^10 of v10, .* vote APPROVE$/)
    const half = [...cast, ...many.slice(10, 21).map((voter) => votes(voter, "REJECT"))]
    assert.strictEqual(
      statuses(forecastOf(opened({ rules: majority, participants: many }), proposes("v0"), ...half)).positive,
      "impossible"
    )
  })

  it("says plainly when the session is over, suspended, too late, or without known rules", () => {
    const decided = forecastOf(opened(), proposes(), commits(false))
    assert.deepStrictEqual(statuses(decided), { positive: "impossible", negative: "met" })
    assert.match(decided.note ?? "", /lead has committed/)
    const expired = forecastOf(opened(), proposes(), draft("session.state.changed", { state: "EXPIRED" }))
    assert.deepStrictEqual(statuses(expired), { positive: "impossible", negative: "impossible" })
    assert.strictEqual(expired.outcomes[0]?.blockers[0]?.rule, "session.state")
    const run = recordOf(
      opened(),
      proposes(),
      draft("session.state.changed", { state: "OPEN", expiresAtUnixMs: 1_000 })
    )
    const late = forecast(run, activePolicy(run), { nowUnixMs: 1_001 })
    assert.strictEqual(late.outcomes[0]?.blockers[0]?.rule, "session.deadline")
    assert.deepStrictEqual(statuses(forecast(run, activePolicy(run), { nowUnixMs: 1_000 })).positive, "met")
    const unknown = recordOf(opened(), draft("session.state.changed", { policyVersion: "policy.gone" }))
    assert.deepInclude(forecast(unknown, activePolicy(unknown)), { policySource: "unknown", outcomes: [] })
    assert.match(forecast(unknown, activePolicy(unknown)).note ?? "", /policy.gone were not recorded/)
    const none = recordOf()
    assert.deepInclude(forecast(none, activePolicy(none)), { outcomes: [], atSeq: 0 })
    const other = recordOf(draft("run.created", { modeName: "ext.multi_round.v1" }))
    assert.match(
      forecast(other, activePolicy({ ...other, policyVersion: "policy.default" })).note ?? "",
      /ext.multi_round/
    )
  })
})

describe("the forecast of the other modes", () => {
  it("decides each proposal of a negotiation by itself", () => {
    const talk = [opened({ mode: "proposal", participants: ["a", "b"] }), proposes("a"), says("a", "Accept")].flat()
    const now = forecastOf(talk, proposes("b", "p2"))
    assert.deepStrictEqual(statuses(now), {
      positive: "possible",
      negative: "possible",
      p1: "possible",
      p2: "possible"
    })
    assert.deepStrictEqual(needs(now, "positive"), ["b sends Accept on p1"])
    assert.deepStrictEqual(needs(now, "negative"), ["1 of a, b sends Reject (for good)"])
    assert.deepStrictEqual(statuses(forecastOf(talk, says("b", "Accept"))), {
      positive: "met",
      negative: "met",
      p1: "met"
    })
  })

  it("never lets an initiator accept who does not take part", () => {
    const rules = { acceptance: { criterion: "initiator" } }
    const now = forecastOf(opened({ mode: "proposal", rules }), proposes("a"))
    assert.strictEqual(statuses(now)["p1"], "impossible")
  })

  it("says who has to complete a task", () => {
    const rules = { completion: { require_output: true } }
    const talk = opened({ mode: "task", participants: ["a", "b"], rules })
    assert.deepStrictEqual(needs(forecastOf(talk), "positive"), [
      "lead sends TaskRequest, then 1 of a, b sends TaskAccept, then 1 of a, b sends TaskComplete (with an output)"
    ])
    const asked = [...talk, says("lead", "TaskRequest", { requestedAssignee: "a" }, "t1")]
    const taken = forecastOf(asked, says("a", "TaskAccept", {}, "t1"))
    assert.deepStrictEqual(statuses(taken), { positive: "possible", negative: "certain" })
    assert.deepStrictEqual(needs(taken, "positive"), ["a sends TaskComplete (with an output)"])
    const failed = forecastOf(asked, says("a", "TaskAccept", {}, "t1"), says("a", "TaskFail", {}, "t1"))
    assert.deepStrictEqual(statuses(failed), { positive: "impossible", negative: "met" })
    assert.deepStrictEqual(statuses(forecastOf(asked, says("a", "TaskReject", {}, "t1"))), {
      positive: "impossible",
      negative: "met"
    })
  })

  it("says who has to accept a handoff", () => {
    const talk = opened({ mode: "handoff", participants: ["lead", "a"], runtimeVersion: "0.14.0" })
    const offered = [...talk, says("lead", "HandoffOffer", { target_participant: "a" }, "h1")]
    assert.deepStrictEqual(statuses(forecastOf(talk)), { positive: "possible", negative: "possible" })
    const now = forecastOf(offered)
    assert.deepStrictEqual(statuses(now), { positive: "possible", negative: "certain" })
    assert.deepStrictEqual(needs(now, "positive"), ["a sends HandoffAccept"])
    assert.deepStrictEqual(statuses(forecastOf(offered, says("a", "HandoffDecline", {}, "h1"))), {
      positive: "impossible",
      negative: "met"
    })
  })

  it("says how many approvals a quorum lacks, and when it is out of reach", () => {
    const rules = { threshold: { type: "n_of_m", value: 2 } }
    const talk = [
      opened({ mode: "quorum", rules }),
      says("lead", "ApprovalRequest", { required_approvals: 2 }, "q1")
    ].flat()
    const now = forecastOf(talk, says("a", "Approve", {}, "q1"))
    assert.deepStrictEqual(statuses(now), { positive: "possible", negative: "certain" })
    assert.deepStrictEqual(needs(now, "positive"), ["1 of b, c sends Approve"])
    const lost = forecastOf(talk, says("a", "Reject", {}, "q1"), says("b", "Abstain", {}, "q1"))
    assert.deepStrictEqual(statuses(lost), { positive: "impossible", negative: "met" })
  })
})

/** Every way in which all participants without a vote vote on the first proposal. */
const completions = (terms: SessionTerms, record: DecisionRecord): ReadonlyArray<DecisionRecord> => {
  const cast = [...record.votes]
  const silent = terms.participants.filter((participant) => !cast.some(({ voter }) => voter === participant))
  return silent.reduce<ReadonlyArray<DecisionRecord>>(
    (all, voter) =>
      all.flatMap((one) =>
        ["APPROVE", "REJECT", "ABSTAIN"].map((vote) => ({ ...one, votes: [...one.votes, { voter, vote }] }))
      ),
    [record]
  )
}

const run = recordOf(opened())

const forecastAt = (terms: SessionTerms, acts: ReadonlyArray<Statement>): Forecast =>
  forecast(
    {
      ...run,
      participants: terms.participants,
      initiator: terms.initiator,
      acts: placed(acts),
      modeName: modeName("decision")
    },
    activePolicyOf("decision", terms)
  )

const positiveOf = (outcome: string) => outcome === "positive"

describe("properties of the forecast", () => {
  it.prop(
    "met agrees with the evaluation, certain and impossible hold under every completion",
    { terms: arbitraryTerms(6), talk: arbitraryTalk(14) },
    ({ talk, terms }) => {
      const acts = talkOf(terms, talk)
      const record = actionLog("decision", acts, terms.policy.rules)
      assert(record.mode === "decision")
      const ends = completions(terms, record)
      for (const { outcome, settled, status } of forecastAt(terms, acts).outcomes) {
        const positive = positiveOf(outcome)
        assert.strictEqual(status === "met", isAllowed(terms, record, positive), outcome)
        const allowed = ends.filter((end) => isAllowed(terms, end, positive)).length
        if (status === "certain" || (status === "met" && settled)) assert.strictEqual(allowed, ends.length, outcome)
        if (status === "impossible") assert.strictEqual(allowed, 0, outcome)
        // Before the first vote, other acts than votes are possible.
        const isVoting = [...record.votes].length > 0 && record.proposals === 1
        if (status === "possible" && isVoting) assert.isTrue(allowed > 0 && allowed < ends.length, outcome)
      }
    }
  )

  it.prop(
    "agrees with itself from act to act",
    { terms: arbitraryTerms(5), talk: arbitraryTalk(14) },
    ({ talk, terms }) => {
      const acts = talkOf(terms, talk)
      let before = forecastAt(terms, acts.slice(0, 1))
      for (let said = 2; said <= acts.length; said += 1) {
        const after = forecastAt(terms, acts.slice(0, said))
        before.outcomes.forEach(({ settled, status }, at) => {
          const next = after.outcomes[at]
          if (status === "impossible") assert.strictEqual(next?.status, "impossible")
          if (status === "certain") assert.include(["certain", "met"], next?.status)
          if (settled) assert.isTrue(next?.settled)
        })
        before = after
      }
    }
  )

  it.prop(
    "what it needs is enough, and nothing smaller of its kind is; whose act decides, decides",
    { terms: arbitraryTerms(5), talk: arbitraryTalk(10) },
    ({ talk, terms }) => {
      const acts = talkOf(terms, talk)
      const now = forecastAt(terms, acts)
      for (const { needs, outcome, status } of now.outcomes) {
        if (status !== "possible" && status !== "certain") continue
        for (const { steps } of needs) {
          const more = steps.flatMap(({ act, count, of, proposalId = "p0", value }) =>
            of.slice(0, count).map((by): Statement => {
              if (act === "Vote") return { by, type: act, proposalId, vote: value }
              if (act === "Objection") return { by, type: act, proposalId, severity: "critical" }
              return { by, type: act, proposalId, recommendation: "APPROVE", confidence: 1 }
            })
          )
          const isEnough = (said: ReadonlyArray<Statement>) =>
            isAllowed(terms, actionLog("decision", [...acts, ...said], terms.policy.rules), positiveOf(outcome))
          assert.isTrue(isEnough(more), `${outcome}: ${JSON.stringify(steps)}`)
          for (const one of more) assert.isFalse(isEnough(more.filter((other) => other !== one)))
        }
      }
      for (const { act, becomes, outcome, participantId: by, value } of now.pivotal) {
        if (act !== "Vote") continue
        const open = ["p0", "p1"].find(
          (id) =>
            acts.some(({ proposalId, type }) => type === "Proposal" && proposalId === id) &&
            !acts.some((said) => said.type === "Vote" && said.by === by && said.proposalId === id)
        )
        const next = forecastAt(terms, [...acts, { by, type: "Vote", proposalId: open ?? "p0", vote: value }])
        assert.strictEqual(next.outcomes.find((one) => one.outcome === outcome)?.status, becomes)
      }
    }
  )

  it("stays quick for a thousand participants", () => {
    const participants = Array.from({ length: 1_000 }, (_, at) => `v${at}`)
    const weights = Object.fromEntries(participants.map((id, at) => [id, at + 1]))
    const policy = policyOf({ voting: { algorithm: "weighted", weights } })
    const acts: ReadonlyArray<Statement> = [
      { by: "v0", type: "Proposal", proposalId: "p0" },
      ...participants.slice(0, 400).map((by): Statement => ({ by, type: "Vote", proposalId: "p0", vote: "REJECT" }))
    ]
    const now = forecastAt({ initiator: "v0", participants, policy, release: "0.13.0" }, acts)
    assert.strictEqual(now.basis, "bounds")
    assert.strictEqual(now.outcomes[0]?.status, "possible")
  })
})

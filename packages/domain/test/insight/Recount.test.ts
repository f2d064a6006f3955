import { assert, describe, it } from "@effect/vitest"
import {
  type ActivePolicy,
  type Deliberation,
  recountOf,
  recountUnder,
  recountWithout,
  type SeatRecount,
  whatIf
} from "@runplane/domain"
import * as Result from "effect/Result"
import { activePolicyOf, arbitraryTalk, arbitraryTerms, placed, talkOf } from "../support/committees.ts"
import { commits, type Drafts, governed, opened, proposes, recordOf, says, votes } from "../support/deliberations.ts"
import { derived } from "../support/events.ts"

const majority = { voting: { algorithm: "majority", threshold: 0.6 } }
const rules = (voting: object, commitment: object = {}) => ({ voting: { ...voting }, commitment: { ...commitment } })

const without = (removed: ReadonlyArray<string>, ...drafts: Drafts): string => {
  const { by, run } = governed(...drafts)
  return Result.match(recountOf(run, by), {
    onFailure: (reason) => `not counted: ${reason}`,
    onSuccess: (recount) => textOf(recountWithout(recount, new Set(removed)))
  })
}

const textOf = (result: SeatRecount) => (result.kind === "counted" ? result.outcome : `not counted: ${result.reason}`)

const carried = (policy: object, positive = true): Drafts => [
  opened({ rules: { ...policy }, participants: ["a", "b", "c", "d"] }),
  proposes("lead"),
  proposes("a"),
  votes("a", "APPROVE"),
  votes("b", "APPROVE"),
  votes("c", "REJECT"),
  commits(positive)
]

describe("a recount without a seat", () => {
  it("keeps the outcome, refuses it, or would have allowed the opposite", () => {
    assert.strictEqual(without([], carried(majority).flat()), "same")
    assert.strictEqual(without(["c"], carried(majority).flat()), "same")
    assert.strictEqual(without(["d"], carried(majority).flat()), "same")
    // One approval and one rejection are not 60 %, and a rejection backs a decline.
    assert.strictEqual(without(["b"], carried(majority).flat()), "opposite")
    assert.strictEqual(
      without(["b", "c"], carried(rules({ algorithm: "unanimous" })).flat()),
      "not counted: refused as recorded"
    )
    const vetoed = { ...majority, objection_handling: { critical_severity_vetoes: true } }
    const session = [
      opened({ rules: vetoed }),
      proposes("a"),
      says("b", "Objection", { severity: "critical" }),
      votes("a", "APPROVE"),
      votes("b", "APPROVE")
    ]
    assert.strictEqual(without(["b"], session.flat(), commits(true)), "not counted: refused as recorded")
    assert.strictEqual(without(["a"], session.flat(), commits(true)), "not counted: refused as recorded")
    // Only an approval is left, which backs no decline.
    assert.strictEqual(
      without(
        ["b"],
        opened({ rules: majority }),
        proposes("a"),
        votes("c", "ABSTAIN"),
        votes("b", "REJECT"),
        commits(false)
      ),
      "none"
    )
  })

  it("takes it out of the participants, unlike a what-if", () => {
    const unanimous = [
      opened({ rules: rules({ algorithm: "unanimous" }) }),
      proposes("a"),
      votes("a", "APPROVE"),
      votes("b", "APPROVE"),
      votes("c", "APPROVE"),
      commits(true)
    ].flat()
    assert.strictEqual(without(["c"], unanimous), "same")
    const { by, run } = governed(unanimous)
    assert.isFalse(Result.getOrThrow(whatIf(run, by, { without: ["c"] })).after.allowed)
    const half = [
      opened({
        rules: rules({ ...majority.voting, quorum: { type: "percentage", value: 60 } }, { require_vote_quorum: true }),
        participants: ["a", "b", "c", "d", "e"]
      }),
      proposes("a"),
      votes("a", "APPROVE"),
      votes("b", "APPROVE"),
      votes("c", "APPROVE"),
      commits(true)
    ].flat()
    // Two of three without a silent seat and a vote; what-if would count two of five.
    assert.strictEqual(without(["c", "d"], half), "same")
    assert.strictEqual(without(["c"], half), "none")
  })

  it("takes it out of the weights", () => {
    const weighted = (weights: object) =>
      [
        opened({ rules: rules({ algorithm: "weighted", threshold: 0.6, weights: { ...weights } }) }),
        proposes("lead"),
        proposes("a"),
        votes("a", "APPROVE"),
        votes("b", "APPROVE"),
        votes("c", "REJECT"),
        commits(true)
      ].flat()
    assert.strictEqual(without(["b"], weighted({ a: 1, b: 5, c: 1 })), "opposite")
    assert.strictEqual(without(["b"], weighted({ a: 5, b: 1, c: 1 })), "same")
  })

  it("counts no run whose policy names it or cannot be met, whose session it opened, or whose proposal it made", () => {
    const reasons = (removed: string, commitment: object, voting: object = majority.voting, initiator = "lead") => {
      const { by, run } = governed(
        opened({ rules: rules(voting, commitment) }),
        proposes("a"),
        ...["a", "b", "c"].map((one) => votes(one, "APPROVE")),
        commits(true)
      )
      const rulesOf = by.sessionRules
      if (rulesOf === undefined) return "no rules"
      const changed: ActivePolicy = {
        ...by,
        sessionRules: { ...rulesOf, terms: { ...rulesOf.terms, initiator } }
      }
      return Result.match(recountOf(run, changed), {
        onFailure: (reason) => reason,
        onSuccess: (recount) => textOf(recountWithout(recount, new Set([removed])))
      })
    }
    const roles = { authority: "designated_role", designated_roles: ["b"] }
    assert.strictEqual(reasons("b", roles), "not counted: the policy names it")
    assert.strictEqual(reasons("c", roles), "same")
    assert.strictEqual(reasons("b", { ...roles, authority: "any_participant" }), "same")
    assert.strictEqual(reasons("b", {}, majority.voting, "b"), "not counted: opened the session")
    assert.strictEqual(reasons("a", {}), "not counted: made the decided proposal")
    assert.strictEqual(reasons("x", {}), "not counted: not a participant")
    const quorum = { ...majority.voting, quorum: { type: "count", value: 3 } }
    assert.strictEqual(
      reasons("c", { require_vote_quorum: true }, quorum),
      "not counted: the policy cannot be met without it"
    )
    assert.strictEqual(reasons("c", {}, quorum), "same")
  })

  it("counts no run without decision, with an outcome that is not stated, or of a mode without votes", () => {
    const start = [opened({ rules: majority }), proposes("a"), votes("a", "APPROVE")].flat()
    assert.strictEqual(without(["b"], start), "not counted: no decision")
    const unstated = derived("decision.finalized", "Commitment", "lead", { commitmentId: "c1", action: "step_up" })
    assert.strictEqual(without(["b"], start, unstated), "not counted: an outcome that is not stated")
    const task = [
      opened({ mode: "task" }),
      says("lead", "TaskRequest"),
      says("a", "TaskAccept"),
      says("a", "TaskComplete")
    ]
    assert.strictEqual(without(["b"], task.flat(), commits(true)), "not counted: a mode without votes")
  })

  it("of a quorum has the outcome that the approvals of the others say", () => {
    const quorum = (value: number, type = "n_of_m") =>
      [
        opened({ mode: "quorum", rules: { threshold: { type, value } }, participants: ["a", "b", "c", "d"] }),
        says("lead", "ApprovalRequest", { requiredApprovals: 2 }),
        says("a", "Approve"),
        says("b", "Approve"),
        says("c", "Reject"),
        commits(true)
      ].flat()
    assert.strictEqual(without(["c"], quorum(2)), "same")
    // One of two approvals, and no ballot is open.
    assert.strictEqual(without(["b", "d"], quorum(2)), "opposite")
    assert.strictEqual(without(["b"], quorum(2)), "none")
    // Half of three participants are two approvals.
    assert.strictEqual(without(["d"], quorum(50, "percentage")), "same")
    assert.strictEqual(without(["b", "c", "d"], quorum(2)), "not counted: the policy cannot be met without it")
  })
})

const LIMIT = { timeout: 120_000 }

describe("a recount", () => {
  // Of rules that do not count the participants, a removed seat and a silent one are the same.
  it.prop(
    "says the same as a what-if where the number of participants does not matter",
    [arbitraryTerms(5), arbitraryTalk(14)],
    ([terms, numbers]) => {
      const { voting, commitment } = terms.policy.rules
      const acts = placed(talkOf(terms, numbers))
      const by = activePolicyOf("decision", terms)
      for (const positive of [true, false]) {
        const run: Deliberation = {
          ...recordOf(opened(), commits(positive)),
          initiator: "x",
          participants: terms.participants,
          acts: acts.map((act) => ({ ...act })),
          commitment: {
            ...{ by: "x", action: "decided", positive, evaluatedPositive: positive, reason: undefined },
            ...{ proposalId: undefined, seq: 1_000, index: 1_000, ts: new Date(1e6).toISOString() }
          }
        }
        const counted = recountOf(run, { ...by, ...withInitiator(by, "x") })
        if (Result.isFailure(counted)) continue
        assert.deepStrictEqual(recountWithout(counted.success, new Set()), { kind: "counted", outcome: "same" })
        for (const seat of terms.participants) {
          const result = recountWithout(counted.success, new Set([seat]))
          const isFixed = voting.algorithm !== "unanimous" && !commitment.require_vote_quorum
          if (result.kind !== "counted" || !isFixed) continue
          const { after } = Result.getOrThrow(whatIf(run, by, { without: [seat] }))
          assert.strictEqual(result.outcome === "same", after.allowed, `${seat}: ${after.reasons.join("; ")}`)
        }
      }
    },
    LIMIT
  )
})

const withInitiator = (by: ActivePolicy, initiator: string): Partial<ActivePolicy> =>
  by.sessionRules === undefined
    ? {}
    : { sessionRules: { ...by.sessionRules, terms: { ...by.sessionRules.terms, initiator } } }

describe("a recount under another policy", () => {
  const recount = () => {
    const { by, run } = governed(carried(majority).flat())
    return Result.getOrThrow(recountOf(run, by))
  }
  const policy = (voting: object, mode = "*") => ({
    ...{ policyId: "p.other", mode, schemaVersion: 3, rules: JSON.stringify({ voting }) }
  })

  it("counts the same acts under its rules", () => {
    const under = Result.getOrThrow(recountUnder(recount(), policy({ algorithm: "unanimous" })))
    assert.strictEqual(textOf(recountWithout(recount(), new Set())), "same")
    assert.strictEqual(textOf(recountWithout(under, new Set())), "opposite")
    assert.strictEqual(textOf(recountWithout(under, new Set(["c", "d"]))), "same")
  })

  it("does not exist of a policy of another mode, or whose rules cannot be read", () => {
    const failure = (other: ReturnType<typeof policy>) =>
      Result.match(recountUnder(recount(), other), { onFailure: (why) => why, onSuccess: () => "counted" })
    assert.strictEqual(
      failure(policy({ algorithm: "unanimous" }, "macp.mode.quorum.v1")),
      "it is for macp.mode.quorum.v1, the runs are of macp.mode.decision.v1"
    )
    assert.strictEqual(failure(policy({ algorithm: "unanimous" }, "macp.mode.decision.v1")), "counted")
    assert.include(failure(policy({ algorithm: "guess" })), "algorithm")
  })
})

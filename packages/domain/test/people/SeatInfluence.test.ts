import { assert, describe, it } from "@effect/vitest"
import { actionLog, isAllowed, type SeatAct, type SessionRules, type Statement, seatInfluence } from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { pick } from "../support/arbitraries.ts"
import { arbitraryTerms } from "../support/committees.ts"
import { boundTo, SEAT } from "./seatSessions.ts"

const proposal: Statement = { by: "lead", type: "Proposal", proposalId: "p1" }
const vote = (by: string, vote: string): Statement => ({ by, type: "Vote", proposalId: "p1", vote })
const ballot = (by: string, type: string): Statement => ({ by, type, proposalId: "p1" })
const objection = (by: string): Statement => ({ by, type: "Objection", proposalId: "p1", severity: "critical" })
const VOTES: ReadonlyArray<SeatAct> = ["vote", "abstain"]
const PARTICIPANTS = ["a", "b", "c", SEAT]

const influence = (rules: SessionRules, acts: ReadonlyArray<Statement>, seatActs: ReadonlyArray<SeatAct> = VOTES) =>
  seatInfluence(rules, [proposal, ...acts], SEAT, seatActs, "p1")

describe("a seat of a decision", () => {
  const majority = boundTo({ voting: { algorithm: "majority", threshold: 0.5 } }, PARTICIPANTS)

  it("decides while the others can still be divided", () => {
    assert.strictEqual(influence(majority, []), "yes")
    assert.strictEqual(influence(majority, [vote("a", "APPROVE"), vote("b", "REJECT")]), "yes")
  })

  it("does not decide when its vote cannot turn the majority", () => {
    assert.strictEqual(
      influence(
        majority,
        ["a", "b", "c"].map((by) => vote(by, "APPROVE"))
      ),
      "no"
    )
  })

  it("decides against a majority by an objection that vetoes, until the first vote", () => {
    const vetoed = boundTo(
      { voting: { algorithm: "none" }, objection_handling: { critical_severity_vetoes: true } },
      PARTICIPANTS
    )
    assert.strictEqual(influence(vetoed, [], ["object", "vote"]), "yes")
    assert.strictEqual(influence(vetoed, [], ["vote"]), "no")
    assert.strictEqual(influence(vetoed, [vote("a", "APPROVE")], ["object", "vote"]), "no")
    assert.strictEqual(influence(vetoed, [objection("a")], ["object", "vote"]), "no")
  })

  it("decides while its silence would leave a quorum unmet, whatever it votes", () => {
    const everyone = boundTo(
      {
        voting: { algorithm: "none", quorum: { type: "count", value: 4 } },
        commitment: { require_vote_quorum: true }
      },
      PARTICIPANTS
    )
    assert.strictEqual(
      influence(
        everyone,
        ["a", "b", "c"].map((by) => vote(by, "APPROVE")),
        ["abstain"]
      ),
      "yes"
    )
  })

  it("is not known with two proposals, and with more open votes than are tried", () => {
    const second = { ...proposal, proposalId: "p2" }
    assert.strictEqual(influence(majority, [second]), "unknown")
    const many = Array.from({ length: 40 }, (_, at) => `m${at}`)
    assert.strictEqual(influence(boundTo({ voting: { algorithm: "majority" } }, [...many, SEAT]), []), "unknown")
  })

  interface Case {
    readonly sessionRules: SessionRules
    readonly acts: ReadonlyArray<Statement>
    readonly seatActs: ReadonlyArray<SeatAct>
    readonly completion: ReadonlyArray<Statement>
  }
  const chance = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 30 })))
  const arbitraryCase: Arbitrary.Arbitrary<Case> = Arbitrary.map(
    Arbitrary.all({
      terms: arbitraryTerms(4),
      cast: Arbitrary.array(chance, { maxLength: 4 }),
      completed: Arbitrary.array(chance, { maxLength: 6 }),
      early: Arbitrary.array(chance, { maxLength: 3 }),
      seatActs: pick<ReadonlyArray<SeatAct>>([
        ["vote", "abstain"],
        ["vote"],
        ["evaluate", "object", "vote"],
        ["abstain"]
      ])
    }),
    ({ cast, completed, early, seatActs, terms }) => {
      const participants = [...terms.participants, SEAT]
      const others = terms.participants
      const said = (at: number): Statement => {
        const by = others[at % others.length] ?? ""
        return at % 3 === 0
          ? objection(by)
          : { ...vote(by, ""), type: "Evaluation", recommendation: "APPROVE", confidence: 1 }
      }
      const casts = (at: number) =>
        vote(others[at % others.length] ?? "", ["APPROVE", "REJECT", "ABSTAIN"][at % 3] ?? "")
      const once = (acts: ReadonlyArray<Statement>, before: ReadonlyArray<Statement> = []) =>
        acts.filter(
          (one, at) => ![...before, ...acts.slice(0, at)].some(({ by, type }) => type === "Vote" && by === one.by)
        )
      const votes = once(cast.map(casts))
      const argued = early.map(said)
      return {
        sessionRules: { mode: "decision", terms: { ...terms, participants } },
        acts: [...(votes.length === 0 ? argued.slice(0, 1) : argued), ...votes],
        seatActs,
        completion: [...(votes.length === 0 ? argued.slice(1) : []), ...once(completed.map(casts), votes)]
      }
    }
  )

  it.prop(
    "without influence changes no outcome, by no act and under no completion of the others",
    { given: arbitraryCase },
    ({ given: { acts, completion, seatActs, sessionRules } }) => {
      if (influence(sessionRules, acts, seatActs) !== "no") return
      const { terms } = sessionRules
      const outcomes = (own: ReadonlyArray<Statement>) => {
        const record = actionLog("decision", [proposal, ...acts, ...own, ...completion], terms.policy.rules)
        return [isAllowed(terms, record, true), isAllowed(terms, record, false)]
      }
      const open = !acts.some(({ type }) => type === "Vote")
      const tried = [
        ...(seatActs.includes("vote") ? [[vote(SEAT, "APPROVE")], [vote(SEAT, "REJECT")]] : []),
        ...(seatActs.includes("abstain") ? [[vote(SEAT, "ABSTAIN")]] : []),
        ...(open && seatActs.includes("object") ? [[objection(SEAT)], [objection(SEAT), vote(SEAT, "APPROVE")]] : [])
      ]
      for (const own of tried) assert.deepStrictEqual(outcomes(own), outcomes([]))
    },
    { arbitrary: { runs: 1_000 } }
  )
})

describe("a seat of a quorum", () => {
  const request: Statement = { by: "lead", type: "ApprovalRequest", proposalId: "p1", requiredApprovals: 2 }
  const rules = boundTo(undefined, PARTICIPANTS, "quorum")
  const asked = (...acts: ReadonlyArray<Statement>) =>
    seatInfluence(rules, [request, ...acts], SEAT, ["approve", "reject", "abstain"], "p1")

  it("decides until the threshold is reached, or out of reach", () => {
    assert.strictEqual(asked(), "yes")
    assert.strictEqual(asked(ballot("a", "Approve")), "yes")
    assert.strictEqual(asked(ballot("a", "Approve"), ballot("b", "Approve")), "no")
    assert.strictEqual(asked(ballot("a", "Reject"), ballot("b", "Reject"), ballot("c", "Reject")), "no")
    assert.strictEqual(asked(ballot("a", "Approve"), ballot("b", "Reject"), ballot("c", "Reject")), "yes")
  })
})

describe("a seat of a handoff", () => {
  it("always decides: it alone is offered something", () => {
    const rules = boundTo(undefined, ["lead", SEAT], "handoff")
    const offer: Statement = { by: "lead", type: "HandoffOffer", proposalId: "h1", target: SEAT }
    assert.strictEqual(seatInfluence(rules, [offer], SEAT, ["accept", "decline"], "h1"), "yes")
  })
})

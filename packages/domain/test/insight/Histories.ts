import { commits, type Drafts, opened, proposes, says, votes } from "../support/deliberations.ts"
import { derived, stateChanged } from "../support/events.ts"

export interface History {
  readonly name: string
  readonly drafts: Drafts
  readonly summary: string
  /** The texts of these rules. */
  readonly rules?: Readonly<Record<string, string>>
  readonly tallies?: ReadonlyArray<string>
  readonly warnings?: ReadonlyArray<string>
}

const four = ["a", "b", "c", "d"]
const voting = (algorithm: string, more: object = {}) => ({ rules: { voting: { algorithm, ...more } } })
const all = (ballots: string, about = "p1") =>
  [...ballots].flatMap((ballot, at) => {
    const word = { A: "APPROVE", R: "REJECT", _: "ABSTAIN" }[ballot]
    return word === undefined ? [] : [votes(four[at] ?? "x", word, about)]
  })
const option = (by: string, name: string, about: string) => says(by, "Proposal", { option: name }, about)
const chooses = (action: string) =>
  derived("decision.finalized", "Commitment", "lead", { commitmentId: "c1", action, outcome_positive: true })

/** Histories whose figures mislead when a sentence counts heads alone. */
export const HISTORIES: ReadonlyArray<History> = [
  {
    name: "a simple majority",
    drafts: [opened({ ...voting("majority"), participants: four }), proposes(), ...all("AAAR"), commits(true)],
    summary: "carried by 3 of 4; without c it would still stand",
    rules: { "voting.algorithm": "3 approve, 1 reject, majority 0.5", "mode.proposal": "1 proposal, 1 needed" },
    tallies: ["3 approve, 1 reject"]
  },
  {
    name: "a tie that passes",
    drafts: [opened({ ...voting("majority"), participants: ["a", "b"] }), proposes(), ...all("AR"), commits(true)],
    summary: "a tie, 1 approve, 1 reject, which passes (majority 0.5); without a it would not stand",
    rules: { "voting.algorithm": "1 approve, 1 reject, majority 0.5: a tie passes" },
    tallies: ["1 approve, 1 reject"]
  },
  {
    name: "a tie that the chair declines",
    drafts: [
      opened({ ...voting("majority", { threshold: 0.51 }), participants: ["a", "b"] }),
      proposes(),
      ...all("AR"),
      commits(false)
    ],
    summary: "a tie, 1 approve, 1 reject, which does not pass (majority 0.51); without b it would not stand",
    rules: { "voting.algorithm": "1 approve, 1 reject, majority 0.51: a tie does not pass" },
    tallies: ["1 approve, 1 reject"]
  },
  {
    name: "weights for and against",
    drafts: [
      opened({ ...voting("weighted", { weights: { a: 3, b: 2, c: 1, d: 1 } }), participants: four }),
      proposes(),
      ...all("AARR"),
      commits(true)
    ],
    summary: "carried by weight: 5 for, 2 against (2 approve, 2 reject); without b it would still stand",
    rules: { "voting.algorithm": "weights 5 for, 2 against (2 approve, 2 reject), weighted 0.5" },
    tallies: ["weights 5 for, 2 against (2 approve, 2 reject)"]
  },
  {
    name: "weights against the heads",
    drafts: [
      opened({ ...voting("weighted", { weights: { a: 5, b: 1, c: 1 } }), participants: ["a", "b", "c"] }),
      proposes(),
      ...all("RAA"),
      commits(false)
    ],
    summary: "rejected by weight: 2 for, 5 against (2 approve, 1 reject); without a it would not stand",
    rules: { "voting.algorithm": "weights 2 for, 5 against (2 approve, 1 reject), weighted 0.5: this does not pass" },
    tallies: ["weights 2 for, 5 against (2 approve, 1 reject)"]
  },
  {
    name: "a supermajority that is missed",
    drafts: [
      opened({ ...voting("supermajority", { threshold: 0.67 }), participants: four }),
      proposes(),
      ...all("AARR"),
      commits(false)
    ],
    summary: "a tie, 2 approve, 2 reject, which does not pass (supermajority 0.67); without d it would still stand",
    rules: { "voting.algorithm": "2 approve, 2 reject, supermajority 0.67: a tie does not pass" },
    tallies: ["2 approve, 2 reject"]
  },
  {
    name: "more votes for than against that miss a supermajority",
    drafts: [
      opened({ ...voting("supermajority", { threshold: 0.8 }), participants: four }),
      proposes(),
      ...all("AAAR"),
      commits(false)
    ],
    summary: "3 approve, 1 reject, which does not pass (supermajority 0.8); without d it would not stand",
    rules: { "voting.algorithm": "3 approve, 1 reject, supermajority 0.8: this does not pass" },
    tallies: ["3 approve, 1 reject"]
  },
  {
    name: "unanimity",
    drafts: [opened({ ...voting("unanimous"), participants: four }), proposes(), ...all("AAAA"), commits(true)],
    summary: "carried by 4 of 4; without any one of a, b, c, d it would not stand",
    rules: { "voting.algorithm": "4 approve, 0 reject, unanimous" },
    tallies: ["4 approve, 0 reject"]
  },
  {
    name: "a veto that declines",
    drafts: [
      opened({
        rules: {
          voting: { algorithm: "majority" },
          objection_handling: { critical_severity_vetoes: true, critical_objection_action: "finalize_decline" }
        }
      }),
      proposes(),
      says("b", "Objection", { severity: "critical" }),
      ...all("AAA"),
      commits(false)
    ],
    summary: "vetoed by b (1 critical objection, 1 needed), no vote was needed; without b it would not stand",
    rules: {
      "voting.algorithm": "not needed, as the veto declines it: 3 approve, 0 reject, majority 0.5",
      "objection_handling.critical_severity_vetoes":
        "1 critical objection, 1 needed to veto (finalize_decline): the veto declines it"
    },
    tallies: ["3 approve, 0 reject"]
  },
  {
    name: "a veto that is not used",
    drafts: [
      opened({
        rules: { voting: { algorithm: "majority" }, objection_handling: { critical_severity_vetoes: true } }
      }),
      proposes(),
      says("b", "Objection", { severity: "high" }),
      ...all("AAR"),
      commits(true)
    ],
    summary: "carried by 2 of 3; without b it would still stand",
    rules: { "objection_handling.critical_severity_vetoes": "0 critical objections, 1 needed to veto (deny)" },
    tallies: ["2 approve, 1 reject"]
  },
  {
    name: "abstentions that count for the quorum alone",
    drafts: [
      opened({
        rules: {
          voting: { algorithm: "majority", quorum: { type: "percentage", value: 75 } },
          commitment: { require_vote_quorum: true }
        },
        participants: four
      }),
      proposes(),
      ...all("A__"),
      commits(true)
    ],
    summary: "carried by 1 vote to 0; 2 abstain; 1 of 4 did not vote; without any one of a, b, c it would not stand",
    rules: {
      "voting.quorum":
        "3 of 4 participants voted, 3 needed (75 %); 2 abstained, which counts here and not in the tally",
      "voting.algorithm": "1 approve, 0 reject, 2 abstain, majority 0.5"
    },
    tallies: ["1 approve, 0 reject, 2 abstain"]
  },
  {
    name: "two proposals of which the rejected one is committed",
    drafts: [
      opened({ ...voting("majority"), participants: four }),
      option("a", "go", "p1"),
      option("b", "hold", "p2"),
      ...all("RRR"),
      ...all("AAA", "p2"),
      chooses("go")
    ],
    summary:
      "the voters rejected go (0 approve, 3 reject); the policy counts the votes on 2 proposals together: a tie, 3 approve, 3 reject, which passes (majority 0.5); 1 of 4 did not vote; without one vote of any of a, b, c it would not stand",
    rules: { "voting.algorithm": "3 approve, 3 reject on 2 proposals together, majority 0.5: a tie passes" },
    tallies: ["on go: 0 approve, 3 reject", "on hold: 3 approve, 0 reject"],
    warnings: [
      "the voters rejected go (0 approve, 3 reject), and it was committed: the policy counts the votes on 2 proposals together"
    ]
  },
  {
    name: "two proposals of which the approved one is committed",
    drafts: [
      opened({ ...voting("majority"), participants: four }),
      option("a", "go", "p1"),
      option("b", "hold", "p2"),
      ...all("RRR"),
      ...all("AAAA", "p2"),
      chooses("hold")
    ],
    summary:
      "on hold 4 approve, 0 reject; the policy counts the votes on 2 proposals together: 4 approve, 3 reject, which passes (majority 0.5); without one vote of d it would still stand",
    rules: { "voting.algorithm": "4 approve, 3 reject on 2 proposals together, majority 0.5" },
    tallies: ["on go: 0 approve, 3 reject", "on hold: 4 approve, 0 reject"]
  },
  {
    name: "two proposals, and a commitment that names none",
    drafts: [
      opened({ ...voting("plurality"), participants: four }),
      option("a", "go", "p1"),
      option("b", "hold", "p2"),
      ...all("AAAR"),
      ...all("RRAA", "p2"),
      commits(true)
    ],
    summary:
      "the commitment does not name its proposal; the policy counts the votes on 2 proposals together: 5 approve, 3 reject, which passes (plurality); without one vote of d it would still stand",
    rules: { "voting.algorithm": "5 approve, 3 reject on 2 proposals together, plurality" },
    tallies: ["on go: 3 approve, 1 reject", "on hold: 2 approve, 2 reject"]
  },
  {
    name: "an empty tally that passes",
    drafts: [opened({ ...voting("majority"), schemaVersion: 2 }), proposes(), commits(true)],
    summary: "no vote was needed: an empty tally passes; 3 of 3 did not vote",
    rules: { "voting.algorithm": "no vote was needed: an empty tally passes" },
    tallies: ["0 approve, 0 reject"]
  },
  {
    name: "a committer that does not vote",
    drafts: [
      opened({ ...voting("majority"), participants: ["a", "b", "c", "lead"] }),
      proposes(),
      ...all("AAR"),
      commits(true)
    ],
    summary: "carried by 2 votes to 1; lead, who committed, did not vote; without b it would still stand",
    rules: {
      "voting.algorithm": "2 approve, 1 reject, majority 0.5",
      "commitment.authority": "lead opened the session, and its initiator may commit"
    },
    tallies: ["2 approve, 1 reject"]
  },
  {
    name: "no policy of its own",
    drafts: [opened(), proposes(), ...all("ARR"), commits(true)],
    summary:
      "the voters rejected option of p1 (1 approve, 2 reject); the policy counts no votes; lead opened the session, and its initiator may commit",
    rules: { "commitment.authority": "lead opened the session, and its initiator may commit" },
    tallies: ["1 approve, 2 reject"],
    warnings: [
      "the voters rejected option of p1 (1 approve, 2 reject), and a positive outcome was committed: the policy counts no votes"
    ]
  },
  {
    name: "a quorum with an abstention",
    drafts: [
      opened({ mode: "quorum", participants: four }),
      says("lead", "ApprovalRequest", { required_approvals: 2, action: "deploy" }, "q1"),
      says("a", "Approve", {}, "q1"),
      says("b", "Approve", {}, "q1"),
      says("c", "Abstain", {}, "q1"),
      commits(true)
    ],
    summary:
      "2 approve, 0 reject, 1 abstain, 2 approvals needed; 1 of 4 did not vote; without any one of a, b it would not stand",
    rules: { "threshold.value": "2 approve, 0 reject, 1 abstain, 2 approvals needed" },
    tallies: ["2 approve, 0 reject, 1 abstain"]
  },
  {
    name: "a quorum that is out of reach",
    drafts: [
      opened({ mode: "quorum" }),
      says("lead", "ApprovalRequest", { required_approvals: 2, action: "deploy" }, "q1"),
      says("a", "Approve", {}, "q1"),
      says("b", "Reject", {}, "q1"),
      says("c", "Abstain", {}, "q1"),
      commits(false)
    ],
    summary:
      "1 approve, 1 reject, 1 abstain, 2 approvals needed: out of reach; without any one of b, c it would not stand",
    rules: { "threshold.value": "1 approve, 1 reject, 1 abstain, 2 approvals needed: out of reach" },
    tallies: ["1 approve, 1 reject, 1 abstain"]
  },
  {
    name: "a task",
    drafts: [
      opened({ mode: "task", rules: { completion: { require_output: true } } }),
      says("lead", "TaskRequest", { instructions: "x" }, "t1"),
      says("a", "TaskAccept", {}, "t1"),
      says("a", "TaskComplete", { output: "AAAA" }, "t1"),
      commits(true)
    ],
    summary: "a completed t1 with an output; without a it would not stand",
    rules: {
      "mode.report": "a completed t1 with an output",
      "completion.require_output": "the output has 3 bytes, an output is needed"
    }
  },
  {
    name: "a handoff that is declined",
    drafts: [
      opened({ mode: "handoff" }),
      says("lead", "HandoffOffer", { target_participant: "b", scope: "billing" }, "h1"),
      says("b", "HandoffDecline", {}, "h1"),
      commits(false)
    ],
    summary: "b declined h1; without b it would not stand",
    rules: { "mode.answer": "b declined h1" }
  },
  {
    name: "an offer that all but its proposer accept",
    drafts: [
      opened({ mode: "proposal", rules: { acceptance: { criterion: "counterparty" } } }),
      says("a", "Proposal", { title: "120 EUR" }, "o1"),
      says("b", "Accept", {}, "o1"),
      says("c", "Accept", {}, "o1"),
      commits(true)
    ],
    summary: "2 of 3 participants accept o1, all but its proposer a needed; without any one of b, c it would not stand",
    rules: { "acceptance.criterion": "2 of 3 participants accept o1, all but its proposer a needed" }
  },
  {
    name: "a decline over an approval",
    drafts: [
      opened({
        rules: { voting: { algorithm: "majority" }, commitment: { allow_decline_over_approval: true } }
      }),
      proposes(),
      ...all("AAR"),
      commits(false)
    ],
    summary:
      "2 approve, 1 reject, which passes (majority 0.5), and the policy allows a decline over it; without c it would not stand",
    rules: {
      "voting.algorithm": "2 approve, 1 reject, majority 0.5: this passes, and the policy allows a decline over it"
    },
    tallies: ["2 approve, 1 reject"],
    warnings: ["the voters approved option of p1 (2 approve, 1 reject), and a negative outcome was committed"]
  },
  {
    name: "a decline that its voters wanted",
    drafts: [opened({ ...voting("majority"), participants: four }), proposes(), ...all("ARRR"), commits(false)],
    summary: "rejected by 3 of 4; without d it would still stand",
    rules: { "voting.algorithm": "1 approve, 3 reject, majority 0.5: this does not pass" },
    tallies: ["1 approve, 3 reject"]
  },
  {
    name: "a session that expired without a decision",
    drafts: [
      opened({
        rules: {
          voting: { algorithm: "majority", quorum: { type: "count", value: 2 } },
          commitment: { require_vote_quorum: true }
        },
        participants: four
      }),
      proposes(),
      ...all("A"),
      stateChanged("EXPIRED")
    ],
    summary:
      "nothing is decided, and the session has expired; for a positive outcome: vote quorum not met: 1 voters of 4 participants (quorum: 2 count)",
    rules: {
      "voting.algorithm": "1 approve, 0 reject, majority 0.5",
      "voting.quorum": "1 of 4 participants voted, 2 needed"
    },
    tallies: ["1 approve, 0 reject"]
  }
]

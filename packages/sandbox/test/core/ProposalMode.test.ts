import { assert, describe, it } from "@effect/vitest"
import { ProposalMode as Wire } from "@runplane/runtime"
import { commitmentPayload, encode } from "../support/Envelopes.ts"
import { type Opening, openSession, policyOf } from "../support/Sessions.ts"
import { lastVerdict, type Step } from "../support/Steps.ts"

const risk = "agent://risk"
const stranger = "agent://stranger"
const mode = "macp.mode.proposal.v1"
const garbage = new Uint8Array([255, 255, 255])

const offer = (proposalId = "p1") => encode(Wire.ProposalPayloadSchema, { proposalId, title: "offer" })
const counter = (proposalId = "p2", supersedesProposalId = "p1") =>
  encode(Wire.CounterProposalPayloadSchema, { proposalId, supersedesProposalId })
const accept = (proposalId = "p1") => encode(Wire.AcceptPayloadSchema, { proposalId })
const reject = (terminal = false, proposalId = "p1") => encode(Wire.RejectPayloadSchema, { proposalId, terminal })
const withdraw = (proposalId = "p1") => encode(Wire.WithdrawPayloadSchema, { proposalId })
const commit = (action = "proposal.accepted", policyVersion = "") =>
  commitmentPayload({ action, policyVersion, outcomePositive: !action.endsWith("rejected") })

const P: Step = ["Proposal", offer()]
const C: Step = ["CounterProposal", counter(), risk]
const AL: Step = ["Accept", accept()]
const AR: Step = ["Accept", accept(), risk]
const YES: Step = ["Commitment", commit()]
const NO: Step = ["Commitment", commit("proposal.rejected")]

const open = (opening: Opening = {}) => openSession({ mode, ...opening })
const withRules = (rules: object, version = 1): Opening => ({ policy: policyOf(rules, version) })

describe("proposal mode", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<Step>, string, Opening?]> = [
    ["accepts a proposal of a participant", [P], "ok"],
    ["refuses a proposal of a stranger", [["Proposal", offer(), stranger]], "FORBIDDEN"],
    ["refuses a used proposal id", [P, P], "INVALID_ENVELOPE"],
    ["refuses a blank proposal id", [["Proposal", offer(" ")]], "INVALID_ENVELOPE"],
    ["refuses bytes that are no proposal", [["Proposal", garbage]], "INVALID_ENVELOPE"],
    ["refuses an unknown type", [["Vote", offer()]], "INVALID_ENVELOPE"],
    ["refuses a type that is a property of every object", [["toString", offer()]], "INVALID_ENVELOPE"],
    ["accepts a counter proposal", [P, C], "ok"],
    ["refuses a counter proposal to nothing", [P, ["CounterProposal", counter("p2", "p9")]], "INVALID_ENVELOPE"],
    ["refuses a counter proposal under a used id", [P, ["CounterProposal", counter("p1")]], "INVALID_ENVELOPE"],
    [
      "accepts a counter proposal to a withdrawn one",
      [P, ["Withdraw", withdraw()], ["CounterProposal", counter(), risk]],
      "ok"
    ],
    [
      "accepts as many counter proposals as the policy allows",
      [P, C],
      "ok",
      withRules({ counter_proposal: { max_rounds: 1 } })
    ],
    [
      "refuses one counter proposal more",
      [P, C, ["CounterProposal", counter("p3")]],
      "INVALID_ENVELOPE",
      withRules({ counter_proposal: { max_rounds: 1 } })
    ],
    ["accepts an acceptance", [P, AR], "ok"],
    ["refuses an acceptance of an unknown proposal", [AR], "INVALID_ENVELOPE"],
    ["refuses an acceptance of a withdrawn proposal", [P, ["Withdraw", withdraw()], AR], "INVALID_ENVELOPE"],
    ["accepts a rejection", [P, ["Reject", reject(), risk]], "ok"],
    ["refuses a rejection of an unknown proposal", [["Reject", reject()]], "INVALID_ENVELOPE"],
    ["refuses a withdrawal by another sender", [P, ["Withdraw", withdraw(), risk]], "FORBIDDEN"],
    ["refuses a withdrawal of an unknown proposal", [["Withdraw", withdraw()]], "INVALID_ENVELOPE"],
    ["refuses a second withdrawal", [P, ["Withdraw", withdraw()], ["Withdraw", withdraw()]], "INVALID_ENVELOPE"],
    ["refuses a commitment while negotiating", [P, AR, YES], "INVALID_ENVELOPE"],
    ["commits when every participant accepts", [P, AR, AL, YES], "ok"],
    [
      "needs all parties to accept the same proposal",
      [P, C, AL, ["Accept", accept("p2"), risk], YES],
      "INVALID_ENVELOPE"
    ],
    ["lets a sender move its acceptance", [P, C, AL, AR, ["Accept", accept("p2"), risk], YES], "INVALID_ENVELOPE"],
    ["forgets acceptances of a withdrawn proposal", [P, AR, AL, ["Withdraw", withdraw()], YES], "INVALID_ENVELOPE"],
    ["stays legal after it converged", [P, AR, AL, C], "ok"],
    ["does not end with an ordinary rejection", [P, ["Reject", reject(), risk], NO], "INVALID_ENVELOPE"],
    ["ends with a terminal rejection", [P, ["Reject", reject(true), risk], NO], "ok"],
    ["prefers a terminal rejection to an agreement", [P, AR, AL, ["Reject", reject(true), risk], NO], "ok"],
    [
      "takes back a terminal rejection with the proposal it names",
      [P, ["Reject", reject(true), risk], ["Withdraw", withdraw()], NO],
      "INVALID_ENVELOPE"
    ],
    [
      "ends with any rejection when the policy says so",
      [P, ["Reject", reject(), risk], NO],
      "ok",
      withRules({ rejection: { terminal_on_any_reject: true } })
    ],
    [
      "needs only the counterparty when the policy says so",
      [P, AR, YES],
      "ok",
      withRules({ acceptance: { criterion: "counterparty" } })
    ],
    [
      "does not count the proposer as its own counterparty",
      [P, AL, YES],
      "INVALID_ENVELOPE",
      withRules({ acceptance: { criterion: "counterparty" } })
    ],
    [
      "needs only the initiator when the policy says so",
      [["Proposal", offer(), risk], AL, YES],
      "ok",
      withRules({ acceptance: { criterion: "initiator" } })
    ],
    ["refuses a commitment of a participant", [P, AR, AL, ["Commitment", commit(), risk]], "FORBIDDEN"],
    [
      "lets any participant commit when the policy says so",
      [P, AR, AL, ["Commitment", commit(), risk]],
      "ok",
      withRules({ commitment: { authority: "any_participant" } })
    ],
    [
      "refuses every commitment under a version it does not evaluate",
      [P, AR, AL, YES],
      "POLICY_DENIED",
      { ...withRules({}, 3), release: "0.6.1" }
    ]
  ]
  for (const [name, steps, expected, opening] of cases) {
    it(name, () => assert.strictEqual(lastVerdict(open(opening), steps), expected))
  }

  it("shows its phase, proposals and acceptances", () => {
    const session = open()
    lastVerdict(session, [P, C, AR, AL, ["Withdraw", withdraw("p2"), risk]])
    assert.deepStrictEqual(session.inspectMode(), {
      phase: "Converged",
      proposals: {
        p1: { proposal_id: "p1", proposer: "agent://lead", disposition: "Live" },
        p2: { proposal_id: "p2", proposer: risk, disposition: "Withdrawn" }
      },
      accepts: { "agent://lead": "p1", [risk]: "p1" },
      rejections: [],
      counters: 1
    })
  })
})

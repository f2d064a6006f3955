import { assert, describe, it } from "@effect/vitest"
import { QuorumMode as Wire } from "@runplane/runtime"
import { commitmentPayload, encode } from "../support/Envelopes.ts"
import { type Opening, openSession, policyOf } from "../support/Sessions.ts"
import { lastVerdict, type Step } from "../support/Steps.ts"

const alice = "agent://alice"
const bob = "agent://bob"
const carol = "agent://carol"
const mode = "macp.mode.quorum.v1"
const garbage = new Uint8Array([255, 255, 255])

const request = (requiredApprovals = 2, requestId = "r1") =>
  encode(Wire.ApprovalRequestPayloadSchema, { requestId, requiredApprovals, action: "deploy" })
const approve = (requestId = "r1") => encode(Wire.ApprovePayloadSchema, { requestId })
const reject = (requestId = "r1") => encode(Wire.RejectPayloadSchema, { requestId })
const abstain = (requestId = "r1") => encode(Wire.AbstainPayloadSchema, { requestId })
const commit = (action = "quorum.approved") =>
  commitmentPayload({ action, policyVersion: "", outcomePositive: action !== "quorum.rejected" })

const Q: Step = ["ApprovalRequest", request()]
const yes = (who: string): Step => ["Approve", approve(), who]
const no = (who: string): Step => ["Reject", reject(), who]
const none = (who: string): Step => ["Abstain", abstain(), who]
const YES: Step = ["Commitment", commit()]
const NO: Step = ["Commitment", commit("quorum.rejected")]

const open = (opening: Opening = {}) =>
  openSession({ mode, payload: { participants: [alice, bob, carol] }, ...opening })
const withRules = (rules: object): Opening => ({ policy: policyOf(rules) })

describe("quorum mode", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<Step>, string, Opening?]> = [
    ["accepts a request of an initiator that is not a participant", [Q], "ok"],
    ["refuses a request of a participant", [["ApprovalRequest", request(), alice]], "FORBIDDEN"],
    ["refuses a second request", [Q, ["ApprovalRequest", request(2, "r2")]], "INVALID_ENVELOPE"],
    ["refuses an empty id", [["ApprovalRequest", request(2, "")]], "INVALID_ENVELOPE"],
    ["refuses a request that needs no approval", [["ApprovalRequest", request(0)]], "INVALID_ENVELOPE"],
    ["refuses a request that needs more than there are", [["ApprovalRequest", request(4)]], "INVALID_ENVELOPE"],
    ["accepts a request that needs all participants", [["ApprovalRequest", request(3)]], "ok"],
    ["refuses bytes that are not a request", [["ApprovalRequest", garbage]], "INVALID_ENVELOPE"],
    ["accepts an approval", [Q, yes(alice)], "ok"],
    ["accepts a rejection", [Q, no(alice)], "ok"],
    ["accepts an abstention", [Q, none(alice)], "ok"],
    ["refuses a ballot before the request", [yes(alice)], "INVALID_ENVELOPE"],
    ["refuses a ballot on another request", [Q, ["Approve", approve("r9"), alice]], "INVALID_ENVELOPE"],
    ["refuses a ballot of an initiator that is not a participant", [Q, ["Approve", approve()]], "FORBIDDEN"],
    ["refuses a second ballot of another kind", [Q, none(alice), yes(alice)], "INVALID_ENVELOPE"],
    ["refuses a commitment without a request", [YES], "INVALID_ENVELOPE"],
    ["refuses a commitment while it is open", [Q, yes(alice), YES], "INVALID_ENVELOPE"],
    ["commits when the threshold is reached", [Q, yes(alice), yes(bob), YES], "ok"],
    ["declines when the threshold is out of reach", [Q, no(alice), none(bob), NO], "ok"],
    ["takes either outcome once it is ready, without a policy", [Q, no(alice), no(bob), YES], "ok"],
    [
      "refuses a positive outcome below the policy's threshold",
      [Q, no(alice), no(bob), YES],
      "POLICY_DENIED",
      withRules({ threshold: { value: 2 } })
    ],
    [
      "replaces the required approvals by the policy's",
      [Q, yes(alice), YES],
      "ok",
      withRules({ threshold: { value: 1 } })
    ],
    [
      "rounds a percentage up",
      [["ApprovalRequest", request(1)], yes(alice), YES],
      "INVALID_ENVELOPE",
      withRules({ threshold: { type: "percentage", value: 34 } })
    ],
    [
      "reaches a percentage",
      [["ApprovalRequest", request(1)], yes(alice), yes(bob), YES],
      "ok",
      withRules({ threshold: { type: "percentage", value: 34 } })
    ],
    [
      "opens a request its policy makes unwinnable and declines it at once",
      [Q, NO],
      "ok",
      withRules({ threshold: { value: 4 } })
    ],
    [
      "refuses such a request in releases around 0.7.6",
      [Q],
      "INVALID_ENVELOPE",
      { ...withRules({ threshold: { value: 4 } }), release: "0.7.6" }
    ]
  ]
  for (const [name, steps, expected, opening] of cases) {
    it(name, () => assert.strictEqual(lastVerdict(open(opening), steps), expected))
  }

  it("counts the ballot of an initiator who is a participant", () => {
    const session = open({ payload: { participants: ["agent://lead", alice] } })
    assert.strictEqual(lastVerdict(session, [Q, yes("agent://lead"), yes(alice), YES]), "ok")
    assert.deepStrictEqual(session.inspectMode()["ballots"], { "agent://lead": "Approve", [alice]: "Approve" })
  })
})

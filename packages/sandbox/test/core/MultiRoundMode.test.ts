import { assert, describe, it } from "@effect/vitest"
import { MultiRoundMode as Wire } from "@runplane/runtime"
import { commitmentPayload, encode } from "../support/Envelopes.ts"
import { type Opening, openSession, policyOf } from "../support/Sessions.ts"
import { lastVerdict, type Step } from "../support/Steps.ts"

const alice = "agent://alice"
const bob = "agent://bob"
const mode = "ext.multi_round.v1"

const value = (text: string) => encode(Wire.ContributePayloadSchema, { value: text })
const legacy = (text: string) => new TextEncoder().encode(text)
const says = (who: string, text: string): Step => ["Contribute", value(text), who]
const YES: Step = ["Commitment", commitmentPayload({ action: "multi_round.converged", policyVersion: "" })]

const open = (opening: Opening = {}) => openSession({ mode, payload: { participants: [alice, bob] }, ...opening })

describe("the multi-round mode", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<Step>, string, Opening?]> = [
    ["accepts a contribution", [says(alice, "a")], "ok"],
    ["accepts a contribution as a JSON object", [["Contribute", legacy('{"value":"a"}'), alice]], "ok"],
    ["refuses a JSON object without a value", [["Contribute", legacy('{"other":1}'), alice]], "INVALID_ENVELOPE"],
    ["refuses a contribution of an initiator that is not a participant", [says("agent://lead", "a")], "FORBIDDEN"],
    ["refuses a commitment before it converged", [says(alice, "a"), says(bob, "b"), YES], "INVALID_ENVELOPE"],
    ["commits when all say the same", [says(alice, "a"), says(bob, "b"), says(bob, "a"), YES], "ok"],
    [
      "compares both kinds of contribution",
      [says(alice, "a"), ["Contribute", legacy('{"value":"a"}'), bob], YES],
      "ok"
    ],
    ["refuses contributions once it converged", [says(alice, "a"), says(bob, "a"), says(bob, "b")], "INVALID_ENVELOPE"],
    [
      "lets only the initiator commit, whatever the policy says",
      [says(alice, "a"), says(bob, "a"), ["Commitment", YES[1], alice]],
      "FORBIDDEN",
      { policy: policyOf({ commitment: { authority: "any_participant" } }) }
    ],
    [
      "evaluates no policy",
      [says(alice, "a"), says(bob, "a"), YES],
      "ok",
      { policy: policyOf({ voting: { algorithm: "unanimous" }, commitment: { require_vote_quorum: true } }) }
    ]
  ]
  for (const [name, steps, expected, opening] of cases) {
    const policyVersion = opening?.policy?.policyId
    it(name, () => {
      const session = open(opening)
      assert.isTrue(policyVersion === undefined || session.binding.policy.policyId === policyVersion)
      assert.strictEqual(lastVerdict(session, steps), expected)
    })
  }

  it("raises the round with every changed value only", () => {
    const session = open()
    lastVerdict(session, [says(alice, "a"), says(alice, "a"), says(bob, "b"), says(bob, "a")])
    assert.deepStrictEqual(session.inspectMode(), {
      round: 3,
      contributions: { [alice]: "a", [bob]: "a" },
      converged: true
    })
  })
})

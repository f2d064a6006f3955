import { assert, describe, it } from "@effect/vitest"
import { commitmentPayload, envelope, evaluation, objection, proposal, vote } from "../support/Envelopes.ts"
import { openSession, policyOf, T0, verdict } from "../support/Sessions.ts"

type Step = readonly [type: string, payload: Uint8Array, sender?: string]

const lead = "agent://lead"
const risk = "agent://risk"
const stranger = "agent://stranger"

/** Submits the steps and gives the verdict of the last one. */
const last = (steps: ReadonlyArray<Step>, session = openSession()): string => {
  const verdicts = steps.map(([type, payload, sender = lead], index) =>
    verdict(session.submit(envelope(type, `s${index}`, payload), sender, T0 + index))
  )
  return verdicts.at(-1) ?? "nothing"
}

const P: Step = ["Proposal", proposal()]
const garbage = new Uint8Array([255, 255, 255])

describe("decision mode", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<Step>, string]> = [
    ["accepts a proposal", [P], "ok"],
    ["accepts a second proposal while evaluating", [P, ["Proposal", proposal("p2")]], "ok"],
    ["refuses a used proposal id", [P, P], "INVALID_ENVELOPE"],
    ["refuses a blank proposal id", [["Proposal", proposal(" ")]], "INVALID_ENVELOPE"],
    ["refuses a blank option", [["Proposal", proposal("p1", "")]], "INVALID_ENVELOPE"],
    ["refuses a proposal of a stranger", [["Proposal", proposal(), stranger]], "FORBIDDEN"],
    ["refuses bytes that are no proposal", [["Proposal", garbage]], "INVALID_ENVELOPE"],
    ["refuses a proposal after a vote", [P, ["Vote", vote()], ["Proposal", proposal("p2")]], "INVALID_ENVELOPE"],
    [
      "accepts several evaluations of one sender",
      [P, ["Evaluation", evaluation()], ["Evaluation", evaluation("BLOCK", 0.1)]],
      "ok"
    ],
    ["refuses an evaluation before a proposal", [["Evaluation", evaluation()]], "INVALID_ENVELOPE"],
    [
      "refuses an evaluation of an unknown proposal",
      [P, ["Evaluation", evaluation("APPROVE", 0.5, "p9")]],
      "INVALID_ENVELOPE"
    ],
    ["refuses an unknown recommendation", [P, ["Evaluation", evaluation("MAYBE")]], "INVALID_ENVELOPE"],
    ["refuses a confidence above one", [P, ["Evaluation", evaluation("APPROVE", 1.01)]], "INVALID_ENVELOPE"],
    [
      "refuses a confidence that is not a number",
      [P, ["Evaluation", evaluation("APPROVE", Number.NaN)]],
      "INVALID_ENVELOPE"
    ],
    ["refuses an evaluation after a vote", [P, ["Vote", vote()], ["Evaluation", evaluation()]], "INVALID_ENVELOPE"],
    ["refuses a recommendation in another case", [P, ["Evaluation", evaluation("approve")]], "INVALID_ENVELOPE"],
    ["accepts an objection", [P, ["Objection", objection("critical")]], "ok"],
    ["refuses an objection without a severity", [P, ["Objection", objection()]], "INVALID_ENVELOPE"],
    ["refuses a severity in another case", [P, ["Objection", objection("CRITICAL")]], "INVALID_ENVELOPE"],
    ["refuses an unknown severity", [P, ["Objection", objection("fatal")]], "INVALID_ENVELOPE"],
    ["refuses an objection after a vote", [P, ["Vote", vote()], ["Objection", objection()]], "INVALID_ENVELOPE"],
    ["accepts an abstention", [P, ["Vote", vote("ABSTAIN")]], "ok"],
    ["refuses a vote in another case", [P, ["Vote", vote("abstain")]], "INVALID_ENVELOPE"],
    ["refuses a vote before a proposal", [["Vote", vote()]], "INVALID_ENVELOPE"],
    ["refuses a second vote on the same proposal", [P, ["Vote", vote()], ["Vote", vote("REJECT")]], "INVALID_ENVELOPE"],
    [
      "accepts votes on two proposals",
      [P, ["Proposal", proposal("p2")], ["Vote", vote()], ["Vote", vote("REJECT", "p2")]],
      "ok"
    ],
    ["refuses an unknown type", [P, ["Ballot", vote()]], "INVALID_ENVELOPE"],
    ["refuses an annotation type", [P, ["SessionCancel", vote()]], "FORBIDDEN"],
    ["refuses a commitment before a proposal", [["Commitment", commitmentPayload()]], "INVALID_ENVELOPE"],
    ["accepts a commitment without a vote by default", [P, ["Commitment", commitmentPayload()]], "ok"],
    ["refuses a commitment of a participant by default", [P, ["Commitment", commitmentPayload(), risk]], "FORBIDDEN"],
    [
      "refuses everything after the commitment",
      [P, ["Commitment", commitmentPayload()], ["Vote", vote()]],
      "SESSION_NOT_OPEN"
    ]
  ]
  for (const [name, steps, expected] of cases) {
    it(name, () => assert.strictEqual(last(steps), expected))
  }

  it("keeps the sender's bytes while older releases read values in any case", () => {
    const session = openSession({ release: "0.7.6" })
    const steps: ReadonlyArray<Step> = [P, ["Objection", objection()], ["Vote", vote("approve")]]
    assert.strictEqual(last(steps, session), "ok")
    assert.deepStrictEqual(session.log.at(4)?.envelope.payload, vote("approve"))
    assert.deepStrictEqual(session.inspectMode()["votes"], { p1: { [lead]: { vote: "APPROVE" } } })
  })
})

describe("the commitment checks common to all modes", () => {
  const cases: ReadonlyArray<readonly [string, Parameters<typeof commitmentPayload>[0], string]> = [
    ["refuses a blank commitment id", { commitmentId: " " }, "INVALID_ENVELOPE"],
    ["refuses a blank action", { action: "" }, "INVALID_ENVELOPE"],
    ["refuses a blank authority scope", { authorityScope: "" }, "INVALID_ENVELOPE"],
    ["refuses a blank reason", { reason: "" }, "INVALID_ENVELOPE"],
    ["refuses another mode version", { modeVersion: "2.0.0" }, "INVALID_ENVELOPE"],
    ["refuses another configuration version", { configurationVersion: "x" }, "INVALID_ENVELOPE"],
    ["refuses another policy", { policyVersion: "policy.other.x" }, "INVALID_ENVELOPE"],
    ["accepts an empty policy version", { policyVersion: "" }, "ok"],
    ["refuses a half-filled supersedes", { supersedes: { sessionId: "s", commitmentHash: "" } }, "INVALID_ENVELOPE"],
    [
      "refuses a supersedes whose digest is none",
      { supersedes: { sessionId: "s", commitmentHash: "h" } },
      "INVALID_ENVELOPE"
    ],
    [
      "accepts a filled supersedes",
      { supersedes: { sessionId: "s", commitmentHash: `sha256:${"0f".repeat(32)}` } },
      "ok"
    ],
    ["refuses selected with a forgotten flag", { outcomePositive: false }, "INVALID_ENVELOPE"],
    ["refuses rejected as a positive outcome", { action: "decision.rejected" }, "INVALID_ENVELOPE"],
    ["accepts rejected as a negative outcome", { action: "decision.rejected", outcomePositive: false }, "ok"],
    ["reads the endings with their case", { action: "decision.Rejected" }, "ok"],
    ["accepts any other action either way", { action: "step_up", outcomePositive: false }, "ok"]
  ]
  for (const [name, payload, expected] of cases) {
    it(name, () => assert.strictEqual(last([P, ["Commitment", commitmentPayload(payload)]]), expected))
  }
})

describe("commitment authority", () => {
  const cases: ReadonlyArray<readonly [object, sender: string, expected: string]> = [
    [{ authority: "initiator_only" }, lead, "ok"],
    [{ authority: "initiator_only" }, risk, "FORBIDDEN"],
    [{ authority: "any_participant" }, risk, "ok"],
    [{ authority: "any_participant" }, lead, "ok"],
    [{ authority: "any_participant" }, stranger, "FORBIDDEN"],
    [{ authority: "designated_role", designated_roles: [stranger] }, stranger, "ok"],
    [{ authority: "designated_role", designated_roles: [stranger] }, lead, "FORBIDDEN"],
    [{ authority: "designated_role", designated_roles: [stranger] }, risk, "FORBIDDEN"]
  ]
  for (const [commitment, sender, expected] of cases) {
    it(`${JSON.stringify(commitment)} answers ${sender} with ${expected}`, () => {
      const session = openSession({ policy: policyOf({ commitment }) })
      assert.strictEqual(last([P, ["Commitment", commitmentPayload({ policyVersion: "" }), sender]], session), expected)
    })
  }

  it("lets the initiator control a session it may not commit", () => {
    const policy = policyOf({ commitment: { authority: "designated_role", designated_roles: [stranger] } })
    const session = openSession({ policy })
    assert.deepStrictEqual(
      [lead, stranger, risk].map((who) => session.mayControl(who)),
      [true, true, false]
    )
  })
})

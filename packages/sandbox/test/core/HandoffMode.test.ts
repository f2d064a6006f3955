import { fromBinary } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import { HandoffMode as Wire } from "@runplane/runtime"
import * as Result from "effect/Result"
import { commitmentPayload, encode, envelope } from "../support/Envelopes.ts"
import { type Opening, openSession, policyOf, startOf, T0, verdict } from "../support/Sessions.ts"
import { lastVerdict, type Step } from "../support/Steps.ts"

const lead = "agent://lead"
const risk = "agent://risk"
const ops = "agent://ops"
const mode = "macp.mode.handoff.v1"
const garbage = new Uint8Array([255, 255, 255])

const offer = (targetParticipant = risk, handoffId = "h1") =>
  encode(Wire.HandoffOfferPayloadSchema, { handoffId, targetParticipant, scope: "support" })
const context = (handoffId = "h1") => encode(Wire.HandoffContextPayloadSchema, { handoffId, contentType: "text/plain" })
const accept = (acceptedBy = "", handoffId = "h1", implicit = false) =>
  encode(Wire.HandoffAcceptPayloadSchema, { handoffId, acceptedBy, implicit })
const decline = (declinedBy = "", handoffId = "h1") =>
  encode(Wire.HandoffDeclinePayloadSchema, { handoffId, declinedBy })
const commit = (action = "handoff.accepted") =>
  commitmentPayload({ action, policyVersion: "", outcomePositive: action !== "handoff.declined" })

const O: Step = ["HandoffOffer", offer()]
const A: Step = ["HandoffAccept", accept(), risk]
const D: Step = ["HandoffDecline", decline(), risk]
const YES: Step = ["Commitment", commit()]
const NO: Step = ["Commitment", commit("handoff.declined")]

const open = (opening: Opening = {}) => openSession({ mode, payload: { participants: [lead, risk, ops] }, ...opening })
const older: Opening = { release: "0.7.6" }
const newer: Opening = { release: "0.14.0" }

describe("handoff mode", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<Step>, string, Opening?]> = [
    ["accepts an offer of the initiator", [O], "ok"],
    ["refuses an offer of another sender", [["HandoffOffer", offer(ops), risk]], "FORBIDDEN"],
    ["refuses an offer to a stranger", [["HandoffOffer", offer("agent://stranger")]], "INVALID_ENVELOPE"],
    ["refuses an offer to oneself", [["HandoffOffer", offer(lead)]], "INVALID_ENVELOPE"],
    ["refuses a blank id", [["HandoffOffer", offer(risk, "")]], "INVALID_ENVELOPE"],
    ["refuses a used id", [O, D, O], "INVALID_ENVELOPE"],
    ["refuses bytes that are no offer", [["HandoffOffer", garbage]], "INVALID_ENVELOPE"],
    ["refuses a second offer while one is pending", [O, ["HandoffOffer", offer(ops, "h2")]], "INVALID_ENVELOPE"],
    ["refuses a second offer after an acceptance", [O, A, ["HandoffOffer", offer(ops, "h2")]], "INVALID_ENVELOPE"],
    ["accepts a new offer after a decline", [O, D, ["HandoffOffer", offer(ops, "h2")]], "ok"],
    ["accepts context of the author", [O, ["HandoffContext", context()]], "ok"],
    ["accepts context after the answer", [O, A, ["HandoffContext", context()]], "ok"],
    ["refuses context of another sender", [O, ["HandoffContext", context(), risk]], "FORBIDDEN"],
    ["refuses context of an unknown offer", [["HandoffContext", context()]], "INVALID_ENVELOPE"],
    ["accepts an acceptance of the target", [O, A], "ok"],
    ["accepts an acceptance that names the target", [O, ["HandoffAccept", accept(risk), risk]], "ok"],
    [
      "refuses an acceptance that names another participant",
      [O, ["HandoffAccept", accept(ops), risk]],
      "INVALID_ENVELOPE"
    ],
    ["refuses an acceptance of another participant", [O, ["HandoffAccept", accept(), ops]], "FORBIDDEN"],
    ["refuses an acceptance of an unknown offer", [A], "INVALID_ENVELOPE"],
    ["refuses a second answer", [O, A, D], "INVALID_ENVELOPE"],
    ["accepts a decline of the target", [O, D], "ok"],
    ["refuses a decline of another participant", [O, ["HandoffDecline", decline(), ops]], "FORBIDDEN"],
    [
      "refuses a decline that names another participant",
      [O, ["HandoffDecline", decline(ops), risk]],
      "INVALID_ENVELOPE"
    ],
    ["refuses a commitment without an answer", [O, YES], "INVALID_ENVELOPE"],
    ["commits after an acceptance", [O, A, YES], "ok"],
    ["commits after a decline", [O, D, NO], "ok"],
    ["lets a positive commitment follow a decline", [O, D, YES], "ok"],
    ["refuses that in newer releases", [O, D, YES], "INVALID_ENVELOPE", newer],
    ["still declines in newer releases", [O, D, NO], "ok", newer],
    [
      "refuses a second offer to a participant that declined",
      [O, D, ["HandoffOffer", offer(risk, "h2")]],
      "INVALID_ENVELOPE"
    ],
    ["makes that offer in older releases", [O, D, ["HandoffOffer", offer(risk, "h2")]], "ok", older],
    [
      "refuses a claim of an implicit acceptance",
      [O, ["HandoffAccept", accept("", "h1", true), risk]],
      "INVALID_ENVELOPE"
    ],
    ["ignores that claim in older releases", [O, ["HandoffAccept", accept("", "h1", true), risk]], "ok", older]
  ]
  for (const [name, steps, expected, opening] of cases) {
    it(name, () => assert.strictEqual(lastVerdict(open(opening), steps), expected))
  }

  it("starts only with two participants, the initiator among them", () => {
    assert.isTrue(Result.isFailure(startOf({ mode, payload: { participants: [lead] } })))
    assert.isTrue(Result.isFailure(startOf({ mode, payload: { participants: [risk, ops] } })))
    assert.isTrue(Result.isSuccess(startOf({ mode, payload: { participants: [lead, risk] } })))
  })

  describe("an offer without an answer in time", () => {
    const policy = policyOf({ acceptance: { implicit_accept_timeout_ms: 5_000 } })

    it("counts as accepted when a commitment arrives, and nothing is recorded, in older releases", () => {
      const session = open({ policy, ...older })
      lastVerdict(session, [O])
      assert.strictEqual(lastVerdict(session, [YES], T0 + 4_999), "INVALID_ENVELOPE")
      assert.strictEqual(lastVerdict(session, [YES], T0 + 5_000), "ok")
      assert.strictEqual(session.log.end, 3)
    })

    it("is accepted by a recorded message of the moment it was due, which no activity counts", () => {
      const session = open({ policy })
      lastVerdict(session, [O])
      session.refresh(T0 + 4_999)
      assert.strictEqual(session.log.end, 2)
      session.refresh(T0 + 5_900)
      session.refresh(T0 + 6_000)
      assert.strictEqual(session.log.end, 3)
      const written = session.log.at(3)?.envelope
      assert.deepStrictEqual(
        [written?.messageType, written?.sender, written?.messageId, Number(written?.timestampUnixMs)],
        ["HandoffAccept", risk, "implicit-accept:h1", T0 + 5_000]
      )
      assert.deepStrictEqual(
        session.metadata().participantActivity.map(({ participantId }) => participantId),
        [lead]
      )
      assert.isTrue(fromBinary(Wire.HandoffAcceptPayloadSchema, written?.payload ?? garbage).implicit)
      assert.strictEqual(lastVerdict(session, [YES], T0 + 6_001), "ok")
    })

    it("keeps the ids of such messages to itself", () => {
      const session = open({ policy })
      const taken = envelope("HandoffContext", "implicit-accept:h1", context(), { mode })
      assert.strictEqual(verdict(session.submit(taken, lead, T0)), "INVALID_ENVELOPE")
    })

    it("waits as long as the session is suspended", () => {
      const session = open({ policy })
      lastVerdict(session, [O])
      session.suspend(lead, "", T0 + 1_000, false)
      session.refresh(T0 + 30_000)
      session.resume(lead, "", T0 + 31_000, false)
      session.refresh(T0 + 34_999)
      assert.strictEqual(session.log.end, 2)
      session.refresh(T0 + 35_001)
      assert.strictEqual(session.log.end, 3)
    })
  })
})

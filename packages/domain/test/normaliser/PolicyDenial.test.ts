import { assert, describe, it } from "@effect/vitest"
import { ack, envelopeFrame, json, normalise } from "../support/frames.ts"

const denialOf = (frame: Parameters<typeof normalise>[0]) =>
  normalise(frame).drafts.find(({ type }) => type === "policy.denied")

const inline = (code: string, message: string, messageId = "") =>
  denialOf({
    kind: "stream-inline-error",
    error: { code, message, sessionId: "session-1", messageId, details: new Uint8Array() }
  })

describe("policy.denied from a message", () => {
  it("carries the commitment, the reasons and the sender", () => {
    const denial = denialOf(envelopeFrame("PolicyDenied", json({ commitment_id: "c1", reasons: ["r1", "r2"] })))
    assert.deepStrictEqual(denial?.subject, { kind: "policy", id: "c1" })
    assert.deepStrictEqual(denial?.recorded.data, {
      modeName: "macp.mode.decision.v1",
      messageType: "PolicyDenied",
      messageId: "m1",
      sessionId: "session-1",
      sender: "agent://a",
      commitmentId: "c1",
      errorCode: "POLICY_DENIED",
      errorMessage: "r1; r2",
      decodedPayload: { decision: "deny", reasons: ["r1", "r2"] }
    })
  })

  it.each([
    [{ error: { reasons: ["inner"], message: "m" } }, ["inner"], "m"],
    [{ message: "quorum not met" }, ["quorum not met"], "quorum not met"],
    [{}, ["policy denied"], "policy denied"]
  ])("finds the reasons of %j: %j", (payload, reasons, message) => {
    const denial = denialOf(envelopeFrame("PolicyDenied", json(payload), { sender: "" }))
    assert.deepStrictEqual(denial?.recorded.data["decodedPayload"], { decision: "deny", reasons })
    assert.strictEqual(denial?.recorded.data["errorMessage"], message)
    assert.strictEqual(denial?.subject?.id, "m1")
    assert.notProperty(denial?.recorded.data, "sender")
  })

  it("replaces the derived event of any message whose payload says policyDenied, and has an empty subject without ids", () => {
    const frame = envelopeFrame("Commitment", json({ policyDenied: true, reason: "veto" }), { messageId: "" })
    const { drafts } = normalise(frame)
    assert.deepStrictEqual(
      drafts.map(({ type }) => type),
      ["message.received", "policy.denied"]
    )
    assert.strictEqual(drafts[1]?.subject?.id, "")
    assert.strictEqual(drafts[1]?.recorded.data["messageType"], "PolicyDenied")
  })
})

describe("policy.denied from an agent's report", () => {
  const report = (data: object, signalType = "message.refused") =>
    normalise(envelopeFrame("Signal", json({ signalType, data: JSON.stringify(data) })))
  const refusal = { code: "POLICY_DENIED", messageType: "Commitment", messageId: "m9", reasons: ["no votes", "veto"] }

  it("names the refused message, its sender and the reasons, beside the signal itself", () => {
    const { drafts } = report({ ...refusal, message: "Commitment refused" })
    assert.deepStrictEqual(
      drafts.map(({ type }) => type),
      ["message.received", "signal.emitted", "policy.denied"]
    )
    assert.deepStrictEqual(drafts[2]?.subject, { kind: "policy", id: "m9" })
    assert.deepInclude(drafts[2]?.recorded.data, {
      sender: "agent://a",
      errorCode: "POLICY_DENIED",
      errorMessage: "Commitment refused",
      decodedPayload: { decision: "deny", reasons: ["no votes", "veto"] }
    })
  })

  it("is none for another refusal, or another signal", () => {
    for (const { drafts } of [report({ ...refusal, code: "FORBIDDEN" }), report(refusal, "alert"), report([1])]) {
      assert.notInclude(
        drafts.map(({ type }) => type),
        "policy.denied"
      )
    }
  })
})

describe("policy.denied from an acknowledgement", () => {
  const error = { code: "POLICY_DENIED", message: "denied", sessionId: "", messageId: "m1", details: new Uint8Array() }
  const denied = (details: Uint8Array) =>
    denialOf({ kind: "send-ack", ack: ack({ ok: false, error: { ...error, details } }) })

  it("takes the reasons from the details", () => {
    const denial = denied(json({ reasons: ["a", "b"] }))
    assert.deepStrictEqual(denial?.subject, { kind: "policy", id: "m1" })
    assert.deepStrictEqual(denial?.recorded.data["decodedPayload"], { decision: "deny", reasons: ["a", "b"] })
    assert.strictEqual(denial?.recorded.data["messageId"], "m1")
    assert.strictEqual(denial?.recorded.data["sessionId"], "session-1")
    assert.notProperty(denial?.recorded.data, "sender")
  })

  it.each([new Uint8Array(), json({ reasons: [] }), Uint8Array.of(0xff), json([1])])(
    "falls back to the message when the details hold no reasons",
    (details) => {
      assert.deepStrictEqual(denied(details)?.recorded.data["decodedPayload"], {
        decision: "deny",
        reasons: ["denied"]
      })
    }
  )

  it("is not emitted for other codes, nor when the acknowledgement is positive", () => {
    assert.isUndefined(denialOf({ kind: "send-ack", ack: ack({ ok: false, error: { ...error, code: "FORBIDDEN" } }) }))
    assert.isUndefined(denialOf({ kind: "send-ack", ack: ack({ ok: true, error }) }))
  })
})

describe("policy.denied from an inline error", () => {
  it.each([
    ["PolicyDenied: quorum not met;  veto by risk ; ", ["quorum not met", "veto by risk"]],
    ["PolicyDenied", ["PolicyDenied"]],
    ["PolicyDenied: ", ["PolicyDenied: "]],
    ["PolicyDenied:x", ["PolicyDenied:x"]],
    ["policydenied: low", ["low"]]
  ])("splits the text %j into reasons", (text, reasons) => {
    const denial = inline(text, text, "m9")
    assert.deepStrictEqual(denial?.subject, { kind: "policy", id: "" })
    assert.deepStrictEqual(denial?.recorded.data["decodedPayload"], { decision: "deny", reasons })
    assert.strictEqual(denial?.recorded.data["errorCode"], "POLICY_DENIED")
    assert.strictEqual(denial?.recorded.data["errorMessage"], text)
  })

  it("recognises the denial by code or by message", () => {
    assert.isDefined(inline("POLICY_DENIED", "x"))
    assert.isDefined(inline("PolicyDenied", "x"))
    assert.isDefined(inline("other", "PolicyDenied: x"))
    assert.isUndefined(inline("PolicyDeniedX", "x"))
    assert.isUndefined(inline("Forbidden", "was PolicyDenied: x"))
  })
})

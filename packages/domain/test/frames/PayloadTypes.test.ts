import { assert, describe, it } from "@effect/vitest"
import { decodePayload, MAX_JSON_DEPTH, payloadTypeName } from "@runplane/domain"
import { base64, DECISION, envelope, fakeDecoder, json, proto, utf8 } from "../support/frames.ts"

const types: ReadonlyArray<readonly [string, string, string | undefined]> = [
  [DECISION, "Proposal", "macp.modes.decision.v1.ProposalPayload"],
  [DECISION, "Vote", "macp.modes.decision.v1.VotePayload"],
  ["macp.mode.proposal.v1", "Proposal", "macp.modes.proposal.v1.ProposalPayload"],
  ["macp.mode.proposal.v1", "Reject", "macp.modes.proposal.v1.RejectPayload"],
  ["macp.mode.quorum.v1", "Reject", "macp.modes.quorum.v1.RejectPayload"],
  ["macp.mode.task.v1", "TaskUpdate", "macp.modes.task.v1.TaskUpdatePayload"],
  ["macp.mode.handoff.v1", "HandoffOffer", "macp.modes.handoff.v1.HandoffOfferPayload"],
  ["ext.multi_round.v1", "Contribute", "macp.modes.multi_round.v1.ContributePayload"],
  [DECISION, "SessionStart", "macp.v1.SessionStartPayload"],
  ["ext.custom.v1", "Commitment", "macp.v1.CommitmentPayload"],
  ["", "Signal", "macp.v1.SignalPayload"],
  ["", "Progress", "macp.v1.ProgressPayload"],
  [DECISION, "SessionCancel", "macp.v1.SessionCancelPayload"],
  [DECISION, "SessionSuspend", "macp.v1.SessionSuspendPayload"],
  [DECISION, "SessionResume", "macp.v1.SessionResumePayload"],
  [DECISION, "Approve", undefined],
  ["ext.custom.v1", "Proposal", undefined],
  ["constructor", "toString", undefined]
]

describe("PayloadTypes", () => {
  it.each(types)("knows the payload of (%j, %s) as %s", (mode, messageType, name) => {
    assert.strictEqual(payloadTypeName(mode, messageType), name)
  })

  const decode = (messageType: string, payload: Uint8Array, mode = DECISION) =>
    decodePayload(fakeDecoder, envelope(messageType, payload, { mode }))

  it("decodes the protobuf message of the type and names it", () => {
    assert.deepStrictEqual(decode("Vote", proto({ vote: "APPROVE" })), {
      payload: { vote: "APPROVE" },
      payloadTypeName: "macp.modes.decision.v1.VotePayload",
      encoding: "protobuf",
      decoded: true
    })
  })

  it("unwraps a JSON object, also for a type that has a protobuf message", () => {
    const expected = { payload: { vote: "REJECT" }, encoding: "json" as const, decoded: true }
    assert.deepStrictEqual(decode("Vote", json({ vote: "REJECT" })), expected)
    assert.deepStrictEqual(decode("Custom", json({ vote: "REJECT" })), expected)
    assert.deepStrictEqual(decode("Custom", utf8('\n {"vote": "REJECT"}')), expected)
  })

  it("tries JSON before protobuf in the multi_round mode", () => {
    const decoder = () => ({ value: "from protobuf" })
    const frame = envelope("Contribute", json({ value: "x" }), { mode: "ext.multi_round.v1" })
    assert.deepStrictEqual(decodePayload(decoder, frame).payload, { value: "x" })
  })

  it("wraps JSON that is not an object", () => {
    assert.deepStrictEqual(decode("Custom", json([1, 2])).payload, { json: [1, 2], encoding: "json" })
  })

  it("carries other text, and bytes that are not text, along", () => {
    assert.deepStrictEqual(decode("Custom", utf8("hello")), {
      payload: { text: "hello", encoding: "text", payloadBase64: base64("hello") },
      encoding: "text",
      decoded: false
    })
    assert.deepStrictEqual(decode("Vote", Uint8Array.of(0xff, 0xfe)), {
      payload: { payloadBase64: "//4=" },
      encoding: "binary",
      decoded: false
    })
  })

  it("takes no payload at all for an empty object", () => {
    assert.deepStrictEqual(decode("Custom", new Uint8Array()).payload, {})
  })

  it("cleans strings, numbers and keys so that the result can be stored, and marks what it changes", () => {
    const text = '{"a":"x\\u0000y\\ud800","n":1e999,"z":-0,"__proto__":{"polluted":true},"k\\u0000":1,"z":-0}'
    const { altered, payload } = decode("Custom", utf8(text))
    assert.deepStrictEqual(payload, { a: "x\uFFFDy\uFFFD", n: "1e999", z: 0, "k\uFFFD": 1 })
    assert.strictEqual(JSON.stringify(payload), '{"a":"x\uFFFDy\uFFFD","n":"1e999","z":0,"k\uFFFD":1}')
    assert.deepStrictEqual(altered, { numbersAsText: ["/n"], repeatedKeys: ["/z"], droppedKeys: ["/__proto__"] })
  })

  it("keeps integers beyond 2^53 as text, of JSON and of protobuf", () => {
    const text = "12345678901234567890"
    assert.deepStrictEqual(decode("Custom", utf8(`[1,${text}]`)), {
      payload: { json: [1, text], encoding: "json" },
      encoding: "json",
      decoded: true,
      altered: { numbersAsText: ["/json/1"] }
    })
    const decoder = () => ({ ttlMs: 1, map: Object.fromEntries([["__proto__", "x"]]), deadlineUnixMs: 2n ** 63n - 1n })
    assert.deepStrictEqual(decodePayload(decoder, envelope("Vote", Uint8Array.of(0x30))), {
      payload: { ttlMs: 1, map: {}, deadlineUnixMs: "9223372036854775807" },
      payloadTypeName: "macp.modes.decision.v1.VotePayload",
      encoding: "protobuf",
      decoded: true,
      altered: { numbersAsText: ["/deadlineUnixMs"], droppedKeys: ["/map/__proto__"] }
    })
  })

  it("bounds the mark: pointers are cut, further ones are counted", () => {
    const { altered } = decode("Custom", utf8(`{"~/${"k".repeat(300)}":[${"1e400,".repeat(30)}1]}`))
    assert.deepStrictEqual(altered, { numbersAsText: [`/~0~1${"k".repeat(251)}...`], more: 10 })
  })

  it("treats JSON that nests too deep as text", () => {
    const nested = (levels: number) => utf8(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`)
    assert.strictEqual(decode("Custom", nested(MAX_JSON_DEPTH)).encoding, "json")
    assert.strictEqual(decode("Custom", nested(MAX_JSON_DEPTH + 1)).encoding, "text")
    assert.strictEqual(decode("Custom", nested(100_000)).encoding, "text")
  })
})

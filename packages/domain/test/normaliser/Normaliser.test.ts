import { assert, describe, it } from "@effect/vitest"
import {
  type EventDraft,
  type JsonObject,
  makeNormaliser,
  makeRedactor,
  type RawEnvelope,
  type RawFrame,
  specifiedPrices
} from "@runplane/domain"
import { sha256 } from "../support/digests.ts"
import { recordedDraft } from "../support/events.ts"
import {
  ack,
  base64,
  DECISION,
  envelopeFrame,
  fakeDecoder,
  json,
  NOW,
  normalise,
  proto,
  snapshot,
  utf8
} from "../support/frames.ts"

const typesOf = (drafts: ReadonlyArray<EventDraft>) => drafts.map(({ type }) => type)

const only = (drafts: ReadonlyArray<EventDraft>, type: EventDraft["type"]): EventDraft => {
  const found = drafts.filter((draft) => draft.type === type)
  assert.strictEqual(found.length, 1, `${type} in ${typesOf(drafts).join()}`)
  const [draft] = found
  if (draft === undefined) throw new Error(type)
  return draft
}

const decodedOf = (draft: EventDraft) => draft.recorded.data["decodedPayload"] as JsonObject

describe("Normaliser: envelopes", () => {
  it("emits participant.seen, message.received, llm.call.completed, the derived event and progress in this order", () => {
    const payload = proto({ taskId: "t1", progress: 0.5, tokenUsage: { promptTokens: 1, completionTokens: 1 } })
    const { drafts, seenParticipant } = normalise(
      envelopeFrame("TaskUpdate", payload, { mode: "macp.mode.task.v1", sender: "agent://new" })
    )
    assert.deepStrictEqual(typesOf(drafts), [
      "participant.seen",
      "message.received",
      "llm.call.completed",
      "proposal.updated",
      "progress.reported"
    ])
    assert.strictEqual(seenParticipant, "agent://new")
    assert.isTrue(drafts.every(({ ts }) => ts === NOW))
    assert.deepStrictEqual(drafts[0]?.recorded.data, { participantId: "agent://new" })
  })

  it("does not announce a known sender, nor an absent one", () => {
    for (const sender of ["agent://a", ""]) {
      const result = normalise(envelopeFrame("Vote", proto({}), { sender }))
      assert.deepStrictEqual(typesOf(result.drafts), ["message.received", "proposal.updated"])
      assert.notProperty(result, "seenParticipant")
    }
  })

  it("marks what the payload has otherwise than its sender wrote it, in each event of the message", () => {
    const text = '{"proposalId":"p","account":653247040368672769,"option":"a","option":"b","__proto__":{"x":1}}'
    const { drafts, raw } = normalise(envelopeFrame("Proposal", utf8(text), { timestampUnixMs: "1764080000123456789" }))
    const altered = { numbersAsText: ["/account"], repeatedKeys: ["/option"], droppedKeys: ["/__proto__"] }
    const payload = { proposalId: "p", account: "653247040368672769", option: "b" }
    assert.deepStrictEqual(only(drafts, "message.received").recorded.data["payload"], payload)
    assert.deepStrictEqual(decodedOf(only(drafts, "proposal.created")), payload)
    for (const type of ["message.received", "proposal.created"] as const) {
      assert.deepStrictEqual(only(drafts, type).recorded.data["altered"], altered)
    }
    const { payloadBase64, timestampUnixMs } = raw.payload["envelope"] as JsonObject
    assert.deepStrictEqual([payloadBase64, timestampUnixMs], [base64(text), "1764080000123456789"])
  })

  it("keeps the JSON of a signal as it is, and marks the model call that is read from it", () => {
    const data = base64('{"model":"m","promptTokens":1,"prompt":{"account":12345678901234567890}}')
    const { drafts } = normalise(envelopeFrame("Signal", proto({ signalType: "llm.call.completed", data })))
    assert.notProperty(only(drafts, "signal.emitted").recorded.data, "altered")
    assert.strictEqual(decodedOf(only(drafts, "signal.emitted"))["data"], data)
    const call = only(drafts, "llm.call.completed")
    assert.deepStrictEqual(decodedOf(call)["prompt"], { account: "12345678901234567890" })
    assert.deepStrictEqual(call.recorded.data["altered"], { numbersAsText: ["/data/prompt/account"] })
  })

  it("describes a received message with its decoded payload", () => {
    const { drafts } = normalise(envelopeFrame("Custom", json({ a: 1 })))
    assert.deepStrictEqual<object>(drafts.map(recordedDraft), [
      {
        ts: NOW,
        type: "message.received",
        subject: { kind: "message", id: "m1" },
        source: { kind: "runtime", name: "rust-runtime", rawType: "Custom" },
        data: {
          modeName: DECISION,
          messageType: "Custom",
          messageId: "m1",
          sessionId: "session-1",
          sender: "agent://a",
          payload: { a: 1 }
        }
      }
    ])
  })

  it("correlates an ambient signal to the session that its payload names", () => {
    const payload = proto({ signalType: "s", data: "", confidence: 0, correlationSessionId: "session-9" })
    const { drafts, message, raw } = normalise(envelopeFrame("Signal", payload, { sessionId: "", mode: "" }))
    assert.strictEqual(drafts[0]?.recorded.data["sessionId"], "session-9")
    assert.strictEqual(message?.runtimeSessionId, "session-9")
    assert.strictEqual(message?.category, "signal")
    assert.strictEqual(raw.payload["ambient"], true)
  })

  it("records that the runtime verified the sender of a signal", () => {
    const frame = (more: Partial<RawEnvelope>) =>
      normalise(envelopeFrame("Signal", proto({ signalType: "s" }), { sessionId: "", ...more }))
    const { drafts, raw } = frame({ senderAuthenticated: true })
    assert.strictEqual(drafts.at(-1)?.recorded.data["senderAuthenticated"], true)
    assert.propertyVal(raw.payload["envelope"], "senderAuthenticated", true)
    assert.notProperty(frame({}).drafts.at(-1)?.recorded.data, "senderAuthenticated")
  })

  it("stores the envelope as received in the raw form", () => {
    const { raw } = normalise(envelopeFrame("Custom", utf8("hello")))
    assert.deepStrictEqual(raw, {
      kind: "stream-envelope",
      sourceName: "rust-runtime",
      payload: {
        envelope: {
          macpVersion: "1.0",
          mode: DECISION,
          messageType: "Custom",
          messageId: "m1",
          sessionId: "session-1",
          sender: "agent://a",
          timestampUnixMs: 1_790_000_000_000,
          payloadBase64: base64("hello")
        },
        ambient: false
      }
    })
  })

  it("captures the message with its category and recipients", () => {
    const { message } = normalise(envelopeFrame("Proposal", proto({ proposalId: "p1" })))
    assert.deepStrictEqual(message, {
      runtimeSessionId: "session-1",
      messageId: "m1",
      messageType: "Proposal",
      category: "message",
      sender: "agent://a",
      recipients: ["agent://b"],
      status: "accepted",
      payloadDescriptor: {
        payloadTypeName: "macp.modes.decision.v1.ProposalPayload",
        encoding: "protobuf",
        payloadBytes: 20
      },
      createdAt: NOW,
      acceptedAt: NOW,
      updatedAt: NOW
    })
    const start = envelopeFrame("SessionStart", proto({ participants: ["agent://a", "agent://x"] }))
    assert.strictEqual(normalise(start).message?.category, "kickoff")
    assert.deepStrictEqual(normalise(start).message?.recipients, ["agent://x"])
    const context = normalise(envelopeFrame("ContextUpdate", json({})))
    assert.strictEqual(context.message?.category, "context_update")
    const task = envelopeFrame("TaskRequest", json({ requestedAssignee: "agent://b" }))
    assert.deepStrictEqual(normalise(task).message?.recipients, ["agent://b"])
  })

  it("captures no message without an id, since ids keep them apart", () => {
    assert.notProperty(normalise(envelopeFrame("Signal", proto({ signalType: "x" }), { messageId: "" })), "message")
  })

  it("cleans every header text", () => {
    const frame = envelopeFrame("Vo\u0000te", json({}), { sender: "a\u0000", messageId: "\ud800", mode: "m\u0000" })
    const { drafts, message, seenParticipant } = normalise(frame)
    assert.strictEqual(seenParticipant, "a\uFFFD")
    assert.strictEqual(message?.messageId, "\uFFFD")
    assert.notInclude(JSON.stringify(drafts), "\\u0000")
  })
})

describe("Normaliser: LLM usage", () => {
  const usageOf = (payload: JsonObject) =>
    only(normalise(envelopeFrame("Evaluation", proto(payload))).drafts, "llm.call.completed")

  it("prices the call by the model's built-in rates", () => {
    const event = usageOf({ llmCall: { model: "vendor1-4o", promptTokens: 1000, completionTokens: 100 } })
    assert.deepStrictEqual(event.subject, { kind: "message", id: "m1" })
    assert.deepStrictEqual(event.recorded.data, {
      modeName: DECISION,
      messageType: "Evaluation",
      messageId: "m1",
      sessionId: "session-1",
      sender: "agent://a",
      model: "vendor1-4o",
      promptTokens: 1000,
      completionTokens: 100,
      totalTokens: 1100,
      decodedPayload: {
        model: "vendor1-4o",
        promptTokens: 1000,
        completionTokens: 100,
        totalTokens: 1100,
        estimatedCostUsd: 0.0035,
        costBasis: "builtin",
        priceKey: "builtin/vendor1-4o"
      }
    })
  })

  it("prices tokens of the total that are neither input nor output as output", () => {
    const event = usageOf({ llmCall: { model: "vendor1-4o", input_tokens: 10, output_tokens: 5, total_tokens: 1005 } })
    assert.deepInclude(decodedOf(event), { promptTokens: 10, completionTokens: 5, totalTokens: 1005 })
    assert.closeTo(Number(decodedOf(event)["estimatedCostUsd"]), (10 * 2.5 + 995 * 10) / 1e6, 1e-12)
  })

  it("gives a call without counts no cost, unless the agent supplied one", () => {
    const counts = { promptTokens: 0, completionTokens: 0, totalTokens: 0, usage: "missing" }
    assert.deepStrictEqual(decodedOf(usageOf({ llmCall: { model: "m" } })), { model: "m", ...counts })
    assert.deepStrictEqual(decodedOf(usageOf({ llmCall: { model: "m", estimatedCostUsd: 2 } })), {
      model: "m",
      ...counts,
      estimatedCostUsd: 2,
      costBasis: "supplied"
    })
  })

  it("makes an event of each call of a list, each priced by its own model", () => {
    const calls = ["vendor1-4o", "vendor2-3-opus"].map((model) => ({ model, usage: { input_tokens: 1000 } }))
    const { drafts } = normalise(envelopeFrame("Evaluation", json({ llmCalls: calls })))
    const events = drafts.filter(({ type }) => type === "llm.call.completed").map(decodedOf)
    assert.deepStrictEqual(
      events.map(({ estimatedCostUsd, model }) => [model, estimatedCostUsd]),
      [
        ["vendor1-4o", 0.0025],
        ["vendor2-3-opus", 0.015]
      ]
    )
  })

  it("keeps a supplied cost", () => {
    const event = usageOf({ llmCall: { model: "vendor1-4o", promptTokens: 1000, estimatedCostUsd: 9 } })
    assert.strictEqual(decodedOf(event)["estimatedCostUsd"], 9)
  })
})

describe("Normaliser: redaction", () => {
  const { redactor } = makeRedactor("sk-\\d+")
  const redacting = makeNormaliser({ decode: fakeDecoder, redactor, prices: specifiedPrices, sha256 })
  const run = (frame: RawFrame) => redacting.normalise(new Set(), frame, NOW)

  it("takes matches out of every event and out of the raw form", () => {
    const payload = { reason: "key sk-1", llmCall: { model: "m", prompt: "use sk-2", response: ["sk-3"] } }
    const { drafts, raw } = run(envelopeFrame("Evaluation", proto(payload)))
    assert.deepStrictEqual(decodedOf(only(drafts, "llm.call.completed"))["prompt"], "use [REDACTED]")
    assert.notMatch(JSON.stringify(drafts), /sk-\d/)
    const envelope = raw.payload["envelope"] as JsonObject
    assert.strictEqual(envelope["redacted"], true)
    const bytes = Buffer.from(String(envelope["payloadBase64"]), "base64").toString()
    assert.strictEqual(
      bytes,
      JSON.stringify({
        reason: "key [REDACTED]",
        llmCall: { model: "m", prompt: "use [REDACTED]", response: ["[REDACTED]"] }
      })
    )
  })

  it("takes matches out of the data of a Signal before the usage is read from it", () => {
    const data = base64({ model: "m", promptTokens: 1, prompt: "sk-7" })
    const { drafts, raw } = run(envelopeFrame("Signal", proto({ signalType: "llm.call.completed", data })))
    assert.strictEqual(decodedOf(only(drafts, "llm.call.completed"))["prompt"], "[REDACTED]")
    assert.notInclude(JSON.stringify([drafts, raw]), data)
  })

  it("takes matches out of payloads that cannot be decoded", () => {
    for (const bytes of [utf8("text sk-1"), Uint8Array.from([0xff, ...utf8("sk-1")])]) {
      const { drafts, raw } = run(envelopeFrame("Custom", bytes))
      const envelope = raw.payload["envelope"] as JsonObject
      assert.notMatch(Buffer.from(String(envelope["payloadBase64"]), "base64").toString(), /sk-1/)
      assert.notMatch(JSON.stringify(drafts), /sk-1/)
    }
  })

  it("leaves the raw bytes alone when nothing matches", () => {
    const { raw } = run(envelopeFrame("Custom", utf8("hello")))
    assert.deepInclude(raw.payload["envelope"] as JsonObject, { payloadBase64: base64("hello") })
    assert.notProperty(raw.payload["envelope"], "redacted")
  })

  it("takes matches out of error texts", () => {
    const error = {
      code: "PolicyDenied: sk-1",
      message: "PolicyDenied: sk-1; sk-2",
      sessionId: "s",
      messageId: "",
      details: json({ reasons: ["sk-3"] })
    }
    const inline = run({ kind: "stream-inline-error", error })
    const acknowledged = run({ kind: "send-ack", ack: ack({ ok: false, error: { ...error, code: "POLICY_DENIED" } }) })
    for (const { drafts, raw } of [inline, acknowledged]) {
      assert.notMatch(JSON.stringify([drafts, raw]), /sk-\d/)
      const details = JSON.stringify(raw).match(/"details":"([^"]*)"/)?.[1] ?? ""
      assert.strictEqual(Buffer.from(details, "base64").toString(), '{"reasons":["[REDACTED]"]}')
    }
  })
})

describe("Normaliser: other frames", () => {
  it("turns a stream status into session.stream.opened", () => {
    const frame: RawFrame = { kind: "stream-status", status: "gap", detail: "compacted", requestedAfter: 3 }
    const { drafts, raw } = normalise(frame)
    assert.deepStrictEqual<object>(drafts.map(recordedDraft), [
      {
        ts: NOW,
        type: "session.stream.opened",
        source: { kind: "runtime", name: "rust-runtime", rawType: "stream-status" },
        data: { status: "gap", detail: "compacted", requestedAfter: 3 }
      }
    ])
    assert.deepStrictEqual(raw, {
      kind: "stream-status",
      sourceName: "rust-runtime",
      payload: { status: "gap", detail: "compacted", requestedAfter: 3 }
    })
    const [event] = normalise({ kind: "stream-status", status: "opened", sessionId: "session-1" }).drafts
    assert.deepStrictEqual(event?.subject, { kind: "session", id: "session-1" })
  })

  it("turns a session snapshot into session.state.changed without what the runtime left empty", () => {
    const frame = { kind: "session-snapshot" as const, snapshot: snapshot({ state: "SUSPENDED", modeVersion: "" }) }
    const { drafts, raw } = normalise(frame)
    assert.deepStrictEqual(drafts[0]?.subject, { kind: "session", id: "session-1" })
    assert.deepStrictEqual(drafts[0]?.recorded.data, {
      sessionId: "session-1",
      state: "SUSPENDED",
      startedAtUnixMs: 1_790_000_000_000,
      expiresAtUnixMs: 1_790_000_060_000,
      modeName: DECISION,
      configurationVersion: "config.default",
      policyVersion: "policy.default"
    })
    assert.strictEqual(JSON.stringify(raw.payload), JSON.stringify({ snapshot: frame.snapshot }))
  })

  it("turns an acknowledgement into message.sent and captures nothing, the envelope itself being captured", () => {
    const result = normalise({ kind: "send-ack", ack: ack({ duplicate: true }) })
    assert.deepStrictEqual<object>(result.drafts.map(recordedDraft), [
      {
        ts: NOW,
        type: "message.sent",
        subject: { kind: "message", id: "m1" },
        source: { kind: "runtime", name: "rust-runtime", rawType: "send-ack" },
        data: {
          messageId: "m1",
          sessionId: "session-1",
          ok: true,
          duplicate: true,
          sessionState: "OPEN",
          acceptedAtUnixMs: 1_790_000_000_000
        }
      }
    ])
    assert.notProperty(result, "message")
  })

  it("captures a refused message, with the acknowledgement", () => {
    const error = { code: "FORBIDDEN", message: "no", sessionId: "", messageId: "m1", details: new Uint8Array() }
    const { drafts, message } = normalise({ kind: "send-ack", ack: ack({ ok: false, error }) })
    assert.deepStrictEqual(typesOf(drafts), ["message.sent"])
    assert.strictEqual(message?.status, "rejected")
    assert.strictEqual(message?.errorMessage, "no")
    assert.strictEqual(message?.ack?.["ok"], false)
    assert.notProperty(message, "acceptedAt")
  })

  it("turns an inline error into message.send_failed and captures it when it names a message", () => {
    const error = { code: "InvalidPayload", message: "bad", sessionId: "s", messageId: "m7", details: new Uint8Array() }
    const { drafts, message } = normalise({ kind: "stream-inline-error", error })
    assert.deepStrictEqual(typesOf(drafts), ["message.send_failed"])
    assert.deepStrictEqual(drafts[0]?.recorded.data, {
      errorCode: "InvalidPayload",
      errorMessage: "bad",
      sessionId: "s",
      messageId: "m7"
    })
    assert.strictEqual(message?.status, "rejected")
    assert.notProperty(normalise({ kind: "stream-inline-error", error: { ...error, messageId: "" } }), "message")
  })
})

import { assert, describe, it } from "@effect/vitest"
import {
  type EventDraft,
  emptyRunMetrics,
  type JsonObject,
  makeNormaliser,
  makeRedactor,
  measure,
  type NormalisedFrame,
  type RawFrame,
  RunId,
  specifiedPrices
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import { pick } from "../support/arbitraries.ts"
import { sha256 } from "../support/digests.ts"
import { fold, number, RUN_ID } from "../support/events.ts"
import { base64, envelopeFrame, fakeDecoder, json, NOW, proto } from "../support/frames.ts"

const CARD = 4111111111111111
const TIME = 1764080000000
const PATTERNS = "\\d{13,16}, sk-\\w+, \\w+@\\w+\\.\\w+"
const SECRETS = /\d{13,}|sk-\w|\w@\w+\.\w/

const { redactor } = makeRedactor(PATTERNS)
const redacting = makeNormaliser({ decode: fakeDecoder, redactor, prices: specifiedPrices, sha256 })
const run = (frame: RawFrame) => redacting.normalise(new Set(), frame, NOW)

const only = (drafts: ReadonlyArray<EventDraft>, type: EventDraft["type"]): EventDraft => {
  const [found, ...others] = drafts.filter((draft) => draft.type === type)
  if (found === undefined || others.length > 0) throw new Error(`not one ${type}`)
  return found
}

const decodedOf = (draft: EventDraft) => draft.recorded.data["decodedPayload"] as JsonObject

const rawPayload = ({ raw }: NormalisedFrame): string => {
  const envelope = raw.payload["envelope"] as JsonObject
  return Buffer.from(String(envelope["payloadBase64"]), "base64").toString()
}
/** JSON text in which members that hold bytes say them beside their base64. */
const readable = (json: unknown): string =>
  JSON.stringify(json, (name, value: unknown) =>
    typeof value === "string" && BYTES.has(name) ? `${value} ${innerOf(value)}` : value
  )
const innerOf = (text: string): string => {
  const bytes = Buffer.from(text, "base64")
  return bytes.toString("base64") === text ? bytes.toString() : ""
}
const BYTES = new Set(["data", "output"])

const usage = { model: "vendor1-4o", promptTokens: 10, completionTokens: 5 }
const callSignal = (data: unknown) => ({ signalType: "llm.call.completed", data: base64(data), confidence: 1 })

describe("a signal with a number that a pattern matches", () => {
  it("stays JSON, and its usage is counted", () => {
    const frame = run(envelopeFrame("Signal", proto(callSignal({ startedAtMs: TIME, ...usage }))))
    assert.deepInclude(decodedOf(only(frame.drafts, "llm.call.completed")), { ...usage, totalTokens: 15 })
    const { data } = decodedOf(only(frame.drafts, "signal.emitted"))
    assert.deepStrictEqual(JSON.parse(Buffer.from(String(data), "base64").toString()), {
      startedAtMs: "[REDACTED]",
      ...usage
    })
    assert.strictEqual(JSON.parse(rawPayload(frame)).data, data)
    assert.strictEqual(only(frame.drafts, "message.received").recorded.data["redacted"], true)
  })

  it("counts a call without usage where the number of tokens is not valid", () => {
    const { drafts } = run(envelopeFrame("Signal", proto(callSignal({ model: "m", promptTokens: CARD }))))
    assert.deepInclude(decodedOf(only(drafts, "llm.call.completed")), { usage: "missing" })
    assert.strictEqual(number(drafts).reduce(measure, emptyRunMetrics(RunId.make(RUN_ID))).callsWithoutUsage, 1)
  })
})

describe("redaction of a payload", () => {
  const redacted = (payload: unknown) => {
    const frame = run(envelopeFrame("Custom", json(payload)))
    const received = only(frame.drafts, "message.received").recorded.data["payload"]
    assert.deepStrictEqual(JSON.parse(rawPayload(frame)), received)
    return received
  }

  it.each([
    ["a number", { card: CARD, list: [1, CARD, 1.5] }, { card: "[REDACTED]", list: [1, "[REDACTED]", 1.5] }],
    ["a large number", { card: 4e15 }, { card: "[REDACTED]" }],
    ["a number that the service reads", { confidence: 0.5, tokenUsage: usage }, { confidence: 0.5, tokenUsage: usage }],
    [
      "the name of a member",
      { [`card ${CARD}`]: 1, "a@b.c": { "d@e.f": 2 } },
      { "card [REDACTED]": 1, "[REDACTED]": { "[REDACTED]": 2 } }
    ],
    ["names that become one", { "a@b.c": 1, "d@e.f": 2 }, { "[REDACTED]": 1, "[REDACTED] 2": 2 }],
    ["JSON in a text", { note: `{"card": ${CARD}, "n": 1}` }, { note: '{"card":"[REDACTED]","n":1}' }],
    [
      "JSON in JSON in a text",
      { note: JSON.stringify([JSON.stringify({ k: "sk-1" })]) },
      { note: JSON.stringify([JSON.stringify({ k: "[REDACTED]" })]) }
    ],
    ["an escape in JSON in a text", { note: String.raw`{"k":"\u0073k-1"}` }, { note: '{"k":"[REDACTED]"}' }],
    ["bytes that are JSON", { data: base64(` {"card":${CARD}}`) }, { data: base64('{"card":"[REDACTED]"}') }],
    ["bytes that are text", { output: base64("it is sk-1") }, { output: base64("it is [REDACTED]") }],
    ["text under the name of bytes", { data: String(CARD) }, { data: "[REDACTED]" }],
    [
      "a member called payloadBase64",
      { payloadBase64: base64("sk-1"), reason: "sk-2" },
      { payloadBase64: base64("[REDACTED]"), reason: "[REDACTED]" }
    ]
  ])("takes matches out of %s", (_, payload, expected) => {
    assert.deepStrictEqual(redacted(payload), expected)
  })

  it.each([
    ["an escape", String.raw`{"k":"\u0073k-1"}`, '{"k":"[REDACTED]"}'],
    ["a duplicate that is not read", '{"k":"sk-1","k":"x"}', '{"k":"x"}'],
    ["an escaped duplicate", String.raw`{"k":"\u0073k-1","k":"x"}`, '{"k":"x"}']
  ])("takes %s out of the raw form", (_, text, expected) => {
    const frame = run(envelopeFrame("Custom", new TextEncoder().encode(text)))
    assert.strictEqual(rawPayload(frame), expected)
    const signal = run(envelopeFrame("Signal", proto({ signalType: "s", data: base64(text) })))
    assert.strictEqual(decodedOf(only(signal.drafts, "signal.emitted"))["data"], base64(expected))
  })

  it("takes matches out of the mark of a payload that is recorded otherwise than it was sent", () => {
    const text = `{"a@b.c":12345678901234567890123,"sk-1":1,"sk-1":2,"n":41111111111111110000}`
    const frame = run(envelopeFrame("Custom", new TextEncoder().encode(text)))
    assert.notMatch(JSON.stringify(frame.drafts), SECRETS)
    assert.notMatch(rawPayload(frame), SECRETS)
    assert.deepStrictEqual(only(frame.drafts, "message.received").recorded.data["altered"], {
      numbersAsText: ["/[REDACTED]", "/n"],
      repeatedKeys: ["/[REDACTED]"]
    })
  })

  it("leaves the base64 of bytes alone that a pattern for keys would match", () => {
    const keys = makeRedactor("[A-Za-z0-9+/]{40}").redactor
    const normaliser = makeNormaliser({ decode: fakeDecoder, redactor: keys, prices: specifiedPrices, sha256 })
    const { drafts } = normaliser.normalise(new Set(), envelopeFrame("Signal", proto(callSignal(usage))), NOW)
    assert.deepInclude(decodedOf(only(drafts, "llm.call.completed")), usage)
  })

  // docs/reference/events.md#not-redacted
  it.each([
    ["a name of letters", makeRedactor("BlueHeron").redactor, { BlueHeron: 1 }],
    ["base64 inside a text", redactor, { reason: `token ${base64("sk-1")}` }],
    ["percent-encoding", redactor, { reason: "sk%2D1" }],
    ["an escape in a text that is not JSON", redactor, { reason: String.raw`\u0073k-1` }],
    ["true, false and null", makeRedactor("true|null").redactor, { a: true, b: null }],
    ["a count", makeRedactor("\\d{4}").redactor, { promptTokens: 1234 }]
  ])("does not redact %s", (_, patterns, payload) => {
    assert.strictEqual(patterns.payload(payload, "json"), payload)
  })

  it("leaves ids, types and participants as they are", () => {
    const header = { messageId: "m sk-1", sender: "agent sk-2", sessionId: "s sk-3", mode: "mode sk-4" }
    const { drafts, raw } = run(envelopeFrame("Type sk-5", json({}), header))
    assert.deepInclude(only(drafts, "message.received").recorded.data, {
      messageId: "m sk-1",
      messageType: "Type sk-5",
      sender: "agent sk-2",
      sessionId: "s sk-3",
      modeName: "mode sk-4"
    })
    assert.notProperty(raw.payload["envelope"], "redacted")
  })

  it("takes matches out of codes of errors and out of details of the stream's status", () => {
    const error = { code: "NO sk-1", message: "", sessionId: "", messageId: "m", details: new Uint8Array() }
    const frames: ReadonlyArray<RawFrame> = [
      { kind: "stream-status", status: "gap", detail: "lost sk-2" },
      { kind: "send-ack", ack: { ...ACK, error } }
    ]
    for (const { drafts, raw } of frames.map(run)) assert.notMatch(JSON.stringify([drafts, raw]), SECRETS)
  })
})

const ACK = {
  ok: false,
  duplicate: false,
  messageId: "m",
  sessionId: "s",
  sessionState: "OPEN" as const,
  acceptedAtUnixMs: 0
}

const PIECES: ReadonlyArray<unknown> = [
  ...["sk-abc", "plain", "mail a@b.c", String(CARD), String.raw`\u0073k-1`, "\u{1F600}", "", "{", "[1", '"'],
  ...[CARD, TIME, 10, -CARD, 4e15, 0.25, true, null],
  ...[{ card: CARD }, { key: "sk-1", more: [{ at: TIME }] }, [CARD, "sk-2"], { "a@b.c": CARD }],
  ...[JSON.stringify({ startedAtMs: TIME, key: "sk-1" }), `[${CARD}]`, '{"k":"sk-1","k":1}', base64("sk-1")]
]
const NAMES = ["card", "data", "output", "reason", "note", "metadata", "extensions", "promptTokens", "model", "a@b.c"]
const FORMS = ["text", "JSON text", "base64", "value"] as const

const anyPayload = Arbitrary.map(
  Arbitrary.array(
    Arbitrary.all({ form: pick(FORMS), name: pick(NAMES), piece: pick(PIECES.map((piece) => ({ piece }))) }),
    { maxLength: 6 }
  ),
  (members) =>
    Object.fromEntries(
      members.map(({ form, name, piece: { piece } }) => {
        if (form === "value") return [name, piece]
        const text = typeof piece === "string" && form === "text" ? piece : JSON.stringify(piece)
        return [name, form === "base64" && BYTES.has(name) ? base64(text) : text]
      })
    ) as JsonObject
)

/** A payload as it is decoded from protobuf, where bytes are always base64. */
const onTheWire = (payload: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(payload).map(([name, value]) => [name, BYTES.has(name) ? base64(value) : value]))

describe("redaction of any payload", () => {
  const isJson = (text: string) => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }

  it.prop("leaves no match in events, state and raw form", { payload: anyPayload }, ({ payload }) => {
    for (const frame of [
      envelopeFrame("Custom", json(payload)),
      envelopeFrame("Proposal", proto(onTheWire(payload))),
      envelopeFrame("Signal", proto(callSignal(payload))),
      envelopeFrame("Custom", json(JSON.stringify(payload)))
    ]) {
      const normalised = run(frame)
      assert.notMatch(readable(normalised.drafts.map(({ recorded }) => recorded.data)), SECRETS)
      assert.notMatch(rawPayload(normalised), SECRETS)
      assert.notMatch(readable(JSON.parse(rawPayload(normalised).replace(/^\u0001/, ""))), SECRETS)
      assert.notMatch(readable(fold(normalised.drafts)), SECRETS)
    }
  })

  it.prop("leaves JSON that is JSON, and counts that are counted", { payload: anyPayload }, ({ payload }) => {
    const data = { ...payload, ...usage }
    for (const text of [JSON.stringify(data), JSON.stringify(data, undefined, 2)]) {
      const signal = { signalType: "llm.call.completed", data: base64(text) }
      const { drafts } = run(envelopeFrame("Signal", proto(signal)))
      assert.isTrue(isJson(Buffer.from(String(decodedOf(only(drafts, "signal.emitted"))["data"]), "base64").toString()))
      assert.deepInclude(decodedOf(only(drafts, "llm.call.completed")), { promptTokens: 10, completionTokens: 5 })
      assert.isTrue(isJson(String(redactor.payload({ note: text })["note"])))
    }
  })
})

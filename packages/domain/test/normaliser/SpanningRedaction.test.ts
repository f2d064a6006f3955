import { assert, describe, it } from "@effect/vitest"
import {
  type JsonObject,
  makeNormaliser,
  makeRedactor,
  type NormalisedFrame,
  REDACTED,
  specifiedPrices
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import { pick } from "../support/arbitraries.ts"
import { sha256 } from "../support/digests.ts"
import { base64, envelopeFrame, fakeDecoder, json, NOW, proto } from "../support/frames.ts"

const normaliserOf = (patterns: string) =>
  makeNormaliser({ decode: fakeDecoder, redactor: makeRedactor(patterns).redactor, prices: specifiedPrices, sha256 })

const received = ({ drafts }: NormalisedFrame) =>
  drafts.find(({ type }) => type === "message.received")?.recorded.data ?? {}

const rawOf = ({ raw }: NormalisedFrame): string => {
  const envelope = raw.payload["envelope"] as JsonObject
  return Buffer.from(String(envelope["payloadBase64"]), "base64").toString()
}

const sent = (patterns: string, payload: Uint8Array) =>
  normaliserOf(patterns).normalise(new Set(), envelopeFrame("Custom", payload), NOW)

const bytes = (text: string) => new TextEncoder().encode(text)

describe("a pattern that spans the name and the value of a member", () => {
  it.each([
    ['"password"\\s*:\\s*"[^"]*"', { password: "hunter2", a: 1 }, { password: REDACTED, a: 1 }],
    ["password=\\S+", { password: "hunter2", a: 1 }, { password: REDACTED, a: 1 }],
    ["password: .+", { password: "hunter2", a: 1 }, { password: REDACTED, a: 1 }],
    ["(?<=password=)\\w+", { password: "hunter2" }, { password: REDACTED }],
    ['(?<="password":")[^"]+', { password: "hunter2" }, { password: REDACTED }],
    ["pin=\\d+", { pin: 4711, pins: [4711, 2] }, { pin: REDACTED, pins: [4711, 2] }],
    ["codes=\\d+", { codes: [4711, "0815"] }, { codes: [REDACTED, REDACTED] }],
    ['"admin":true', { admin: true, other: true }, { admin: REDACTED, other: true }],
    ['"card":\\{[^}]*\\}', { card: { no: "1", cvc: 2 }, a: "b" }, { card: { no: REDACTED, cvc: REDACTED }, a: "b" }],
    [
      '"user":"a".*"password":"[^"]*"',
      { user: "a", x: "y", password: "p" },
      { user: REDACTED, x: REDACTED, password: REDACTED }
    ],
    ['"password":"[^"]*"', { note: '{"password": "hunter2"}' }, { note: '{"password":"[REDACTED]"}' }],
    [
      '"password":"[^"]*"',
      { list: [{ password: "one" }, { password: "two" }] },
      { list: [{ password: REDACTED }, { password: REDACTED }] }
    ]
  ])("takes the value, by %s", (pattern, payload, expected) => {
    const frame = sent(pattern, json(payload))
    assert.deepStrictEqual(received(frame)["payload"], expected)
    assert.strictEqual(received(frame)["redacted"], true)
    assert.strictEqual(rawOf(frame), JSON.stringify(expected))
  })

  it("takes the value whatever white space its sender wrote", () => {
    const frame = sent('"password" : "\\w+"', bytes('{ "password" : "hunter2", "a": 1 }'))
    assert.deepStrictEqual(received(frame)["payload"], { password: REDACTED, a: 1 })
    assert.notInclude(rawOf(frame), "hunter2")
  })

  it("takes it out of the bytes of a member", () => {
    const data = base64('{"password":"hunter2","n":1}')
    const signal = envelopeFrame("Signal", proto({ signalType: "s", data }))
    const { drafts } = normaliserOf('"password":"[^"]*"').normalise(new Set(), signal, NOW)
    const emitted = drafts.find(({ type }) => type === "signal.emitted")?.recorded.data["decodedPayload"] as JsonObject
    assert.strictEqual(emitted["data"], base64('{"password":"[REDACTED]","n":1}'))
  })

  it("withholds a payload whose bytes match where no value does", () => {
    const payload = { first: "alpha", second: "beta" }
    const frame = normaliserOf('\\u0001."first').normalise(new Set(), envelopeFrame("Proposal", proto(payload)), NOW)
    assert.deepStrictEqual(received(frame)["payload"], { redacted: REDACTED })
    assert.strictEqual(rawOf(frame), JSON.stringify({ redacted: REDACTED }))
  })

  it.each([
    ["a name of letters", "password", { password: "x" }],
    ["a number that the service reads", "promptTokens\\W+\\d+", { promptTokens: 1234 }],
    ["a number in JSON in a text", "promptTokens\\W+\\d+", { note: '{"promptTokens":1234}' }],
    ["a name in JSON in a text", "password", { note: '{"password":1234}' }],
    ["a literal", "true", { a: true }]
  ])("has no mark where it takes nothing: %s", (_, pattern, payload) => {
    for (const text of [JSON.stringify(payload), JSON.stringify(payload, undefined, 2)]) {
      const frame = sent(pattern, bytes(text))
      assert.deepStrictEqual(received(frame)["payload"], payload)
      assert.notProperty(received(frame), "redacted")
      assert.strictEqual(rawOf(frame), text)
    }
  })
})

const PATTERNS = [
  ...['"password"\\s*:\\s*"[^"]*"', "password=\\S+", "(?<=token: )\\w+", '"card":\\{[^}]*\\}', '"\\w+":\\d+', "se.*et"],
  ...['"token":\\s*\\[[^\\]]*\\]', "[a-z]{6,}", '"a".*"b"', "x*", ".", "hunter\\d", '"[^"]*"', "D", "\\[REDACTED\\],"]
]
const NAMES = ["password", "token", "card", "a", "b", "note", "data", "pin code", "a-b"]
const VALUES = [
  "hunter2",
  "secret x",
  "",
  "se",
  "et",
  4711,
  true,
  null,
  ["x", "secret"],
  { no: "12", token: "y" },
  '{"password":"p"}',
  '["x"]'
]

const member = Arbitrary.all({ name: pick(NAMES), value: pick(VALUES.map((value) => ({ value }))) })
const payloads = Arbitrary.map(
  Arbitrary.array(member, { maxLength: 5 }),
  (members) => Object.fromEntries(members.map(({ name, value: { value } }) => [name, value])) as JsonObject
)

/** The names, and what is redacted: all that a match of stored JSON may consist of. */
const MAY_MATCH = /\\*"[\w -]+\\*"(?:\s*:|$)|\[REDACTED\](?: \d+)?|true|false|null|[\s"{}[\],:\\]/g

describe("any pattern and payload", () => {
  it.prop(
    "leave no match in what is stored but of names, marks and literals",
    { pattern: pick(PATTERNS), payload: payloads },
    ({ pattern, payload }) => {
      for (const bytes of [json(payload), new TextEncoder().encode(JSON.stringify(payload, undefined, 1))]) {
        const frame = sent(pattern, bytes)
        const stored = JSON.stringify(received(frame)["payload"])
        const isMarked = received(frame)["redacted"] === true
        if (isMarked) assert.notStrictEqual(rawOf(frame), Buffer.from(bytes).toString())
        for (const text of [stored, rawOf(frame)]) {
          for (const [match] of text.matchAll(new RegExp(pattern, "g"))) assertKept(text, match)
        }
      }
    }
  )
})

/** A match is within the names and marks of the text, or has nothing else in it. */
const assertKept = (text: string, match: string) => {
  const inNames = (text.match(/\\*"[\w -]+\\*"(?=\s*:)|\[REDACTED\]|true|false|null/g) ?? []).some((part) =>
    part.includes(match)
  )
  if (!inNames) assert.strictEqual(match.replace(MAY_MATCH, ""), "", `${match} in ${text}`)
}

import { createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import {
  checkPasskey,
  type PasskeyRecord,
  type PasskeyTools,
  type ProvedAnswer,
  passkeyChallenge,
  type SignedAnswer,
  signedText
} from "@runplane/domain"
import { nastyText } from "../support/arbitraries.ts"
import { sha256 } from "../support/digests.ts"

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
const { x = "", y = "" } = publicKey.export({ format: "jwk" })
const COSE = Buffer.concat([
  Buffer.from("a5010203262001215820", "hex"),
  Buffer.from(x, "base64url"),
  Buffer.from("225820", "hex"),
  Buffer.from(y, "base64url")
])
const base64url = (bytes: Uint8Array | string) => Buffer.from(bytes).toString("base64url")
const HOST = "inbox.example"

const tools: PasskeyTools = {
  sha256,
  verifyEs256: ({ x, y }, message, signature) => {
    try {
      const jwk = { kty: "EC", crv: "P-256", x: base64url(x), y: base64url(y) }
      return verify("sha256", message, createPublicKey({ key: jwk, format: "jwk" }), signature)
    } catch {
      // No point of the curve.
      return false
    }
  }
}

const said: SignedAnswer = {
  item: "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10",
  proposalHash: "1a".repeat(32),
  basis: { ordinal: 6, sha256: "2b".repeat(32) },
  act: "reject",
  confidence: 0.8,
  reason: 'the rate "is" low\n',
  nonce: "3c".repeat(32)
}
const proved = ({ nonce: _, reason: __, ...rest }: SignedAnswer): ProvedAnswer => ({
  ...rest,
  askedAt: "2026-11-30T10:00:00.000Z"
})

interface Assertion {
  readonly type?: string
  readonly origin?: string
  readonly crossOrigin?: boolean
  readonly host?: string
  readonly flags?: number
  readonly challenge?: string
  readonly enrolledAt?: string
}

/** The record of an answer that a device has signed. */
const recordOf = (answer: SignedAnswer, assertion: Assertion = {}): PasskeyRecord => {
  const signed = signedText(answer)
  const { challenge = passkeyChallenge(sha256, signed), crossOrigin = false, flags = 5, host = HOST } = assertion
  const { origin = `https://${HOST}`, type = "webauthn.get" } = assertion
  const clientDataJSON = Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin }))
  const data = Buffer.concat([sha256(Buffer.from(host)), Buffer.from([flags, 0, 0, 0, 7])])
  return {
    signed,
    publicKey: base64url(COSE),
    enrolledAt: assertion.enrolledAt ?? "2026-11-01T10:00:00.000Z",
    rpId: HOST,
    authenticatorData: base64url(data),
    clientDataJSON: base64url(clientDataJSON),
    signature: base64url(sign("sha256", Buffer.concat([data, sha256(clientDataJSON)]), privateKey))
  }
}

const record = recordOf(said)
const check = (answer: ProvedAnswer, passkey: PasskeyRecord) => checkPasskey(tools, answer, passkey)
const tagOf = (answer: ProvedAnswer, passkey: PasskeyRecord) => check(answer, passkey)._tag

describe("the text that a passkey signs", () => {
  it("is canonical JSON, without members that the act does not have", () => {
    assert.strictEqual(
      signedText(said),
      `{"act":"reject","basis":{"ordinal":6,"sha256":"${"2b".repeat(32)}"},"confidence":0.8,` +
        `"item":"${said.item}","nonce":"${"3c".repeat(32)}","proposalHash":"${"1a".repeat(32)}",` +
        '"reason":"the rate \\"is\\" low\\n","v":1}'
    )
  })

  it.prop("differs for every member that differs", { text: nastyText }, ({ text }) => {
    const other = `${text}.`
    const changed: ReadonlyArray<SignedAnswer> = [
      { ...said, item: other },
      { ...said, proposalHash: other },
      { ...said, basis: { ...said.basis, ordinal: 7 } },
      { ...said, basis: { ...said.basis, sha256: other } },
      { ...said, act: "approve" },
      { ...said, recommendation: "BLOCK" },
      { ...said, confidence: 0.81 },
      { ...said, severity: "low" },
      { ...said, reason: `${said.reason}${other}` },
      { ...said, nonce: other }
    ]
    const challenges = new Set([said, ...changed].map((one) => passkeyChallenge(sha256, signedText(one))))
    assert.strictEqual(challenges.size, changed.length + 1)
  })
})

describe("an answer that a passkey has signed", () => {
  it.prop("is proved, whatever its reason", { reason: nastyText }, ({ reason }) => {
    const answer = { ...said, reason }
    assert.deepStrictEqual(check(proved(answer), recordOf(answer)), { _tag: "valid", reason })
  })

  it("is not proved with any other member", () => {
    const answer = proved(said)
    const others: ReadonlyArray<ProvedAnswer> = [
      { ...answer, item: "another" },
      { ...answer, proposalHash: "1b".repeat(32) },
      { ...answer, basis: { ...answer.basis, ordinal: 7 } },
      { ...answer, basis: { ...answer.basis, sha256: "2c".repeat(32) } },
      { ...answer, act: "approve" },
      { ...answer, confidence: 0.9 },
      { ...answer, confidence: undefined },
      { ...answer, severity: "high" },
      { ...answer, recommendation: "APPROVE" }
    ]
    for (const other of others) assert.strictEqual(tagOf(other, record), "invalid", JSON.stringify(other))
  })

  it.each<readonly [string, Assertion, string]>([
    ["no person was verified", { flags: 1 }, "its device verified no person"],
    ["no person was present", { flags: 4 }, "its device verified no person"],
    ["it is an enrolment", { type: "webauthn.create" }, "its client data is not one of an assertion"],
    ["it was made at another origin", { origin: "https://evil.example" }, "it was made for another origin"],
    ["its origin ends like the host", { origin: `https://not${HOST}` }, "it was made for another origin"],
    ["its origin has no TLS", { origin: `http://${HOST}` }, "it was made for another origin"],
    ["it was made in a frame of another page", { crossOrigin: true }, "it was made for another origin"],
    ["it was made for another host", { host: "evil.example" }, "it was made for another host"],
    ["it has another challenge", { challenge: base64url("no") }, "it has signed another answer"],
    ["its key is younger than the question", { enrolledAt: "2026-11-30T10:00:00.001Z" }, "its key was enrolled after"]
  ])("is not proved when %s", (_, assertion, why) => {
    const verdict = check(proved(said), recordOf(said, assertion))
    assert.strictEqual(verdict._tag, "invalid")
    assert.include(verdict._tag === "invalid" ? verdict.why : "", why)
  })

  const MEMBERS = ["signed", "publicKey", "rpId", "authenticatorData", "clientDataJSON", "signature"] as const
  it.each(MEMBERS)("is not proved after the change of any single bit of %s", (member) => {
    const original = Buffer.from(record[member], "latin1")
    for (let at = 0; at < original.length * 7; at++) {
      const bytes = Buffer.from(original)
      const index = Math.floor(at / 7)
      bytes[index] = (bytes[index] ?? 0) ^ (1 << (at % 7))
      assert.strictEqual(tagOf(proved(said), { ...record, [member]: bytes.toString("latin1") }), "invalid", `bit ${at}`)
    }
  })

  it("is erased with the text, and is still one of the key", () => {
    assert.deepStrictEqual(check(proved(said), { ...record, signed: "" }), { _tag: "erased" })
    const other = { ...record, signed: "", signature: recordOf({ ...said, reason: "" }).signature }
    assert.strictEqual(tagOf(proved(said), other), "invalid")
  })
})

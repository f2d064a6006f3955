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

const bytes = (hex: string, value = "") => [Buffer.from(hex, "hex"), Buffer.from(value, "base64url")]
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" })
const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 })
const point = ec.publicKey.export({ format: "jwk" })
const { n: modulus = "" } = rsa.publicKey.export({ format: "jwk" })
/** Private keys, and the COSE keys as devices write them. */
const KEYS = {
  ES256: { key: ec.privateKey, cose: [...bytes("a5010203262001215820", point.x), ...bytes("225820", point.y)] },
  RS256: { key: rsa.privateKey, cose: [...bytes("a401030339010020590100", modulus), ...bytes("2143010001")] }
}
type Kind = keyof typeof KEYS
const base64url = (bytes: Uint8Array | string) => Buffer.from(bytes).toString("base64url")
const HOST = "inbox.example"

const tools: PasskeyTools = {
  sha256,
  verify: (jwk, message, signature) => {
    try {
      return verify("sha256", message, createPublicKey({ key: jwk, format: "jwk" }), signature)
    } catch {
      // No point of the curve, so no key.
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
const recordOf = (answer: SignedAnswer, assertion: Assertion = {}, kind: Kind = "ES256"): PasskeyRecord => {
  const { cose, key } = KEYS[kind]
  const signed = signedText(answer)
  const { challenge = passkeyChallenge(sha256, signed), crossOrigin = false, flags = 5, host = HOST } = assertion
  const { origin = `https://${HOST}`, type = "webauthn.get" } = assertion
  const clientDataJSON = Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin }))
  const data = Buffer.concat([sha256(Buffer.from(host)), Buffer.from([flags, 0, 0, 0, 7])])
  return {
    signed,
    publicKey: base64url(Buffer.concat(cose)),
    enrolledAt: assertion.enrolledAt ?? "2026-11-01T10:00:00.000Z",
    rpId: HOST,
    authenticatorData: base64url(data),
    clientDataJSON: base64url(clientDataJSON),
    signature: base64url(sign("sha256", Buffer.concat([data, sha256(clientDataJSON)]), key))
  }
}

const records = { ES256: recordOf(said), RS256: recordOf(said, {}, "RS256") }
const record = records.ES256
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
    assert.deepStrictEqual(check(proved(answer), recordOf(answer, {}, "RS256")), { _tag: "valid", reason })
  })

  it("is not proved by a signature of another key, and by no key of another kind", () => {
    const { ES256, RS256 } = records
    assert.strictEqual(tagOf(proved(said), { ...ES256, signature: RS256.signature }), "invalid")
    assert.strictEqual(tagOf(proved(said), { ...RS256, signature: ES256.signature }), "invalid")
    const { publicKey: small } = generateKeyPairSync("rsa", { modulusLength: 1_024 })
    const { n = "" } = small.export({ format: "jwk" })
    for (const cose of [
      [...bytes("a401030339010020590080", n), ...bytes("2143010001")],
      [...bytes("a401030339010020590100", modulus), ...bytes("2143000003")],
      [...bytes("a401030338240020590100", modulus), ...bytes("2143010001")],
      [...bytes("a401030339010020590100", base64url(Buffer.alloc(256, 2))), ...bytes("2143010001")],
      [...bytes("a401030339010020590100"), ...bytes("2143010001")]
    ]) {
      const verdict = check(proved(said), { ...RS256, publicKey: base64url(Buffer.concat(cose)) })
      assert.deepStrictEqual(verdict, { _tag: "invalid", why: "its public key is not one of ES256 or RS256" })
    }
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
  const changes = (["ES256", "RS256"] as const).flatMap((kind) => MEMBERS.map((member) => [kind, member] as const))
  it.each(changes)("of %s is not proved after the change of any single bit of %s", (kind, member) => {
    const record = records[kind]
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

import { createPrivateKey, sign } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import {
  checkReceipt,
  type JsonObject,
  type LoggedDecision,
  MAX_RECEIPT_CHARS,
  NO_RECEIPT_KEYS,
  type ReceiptKeys,
  readReceiptKeys,
  receiptReport,
  receiptReportIn,
  receiptText
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ed25519, sha256 } from "../support/digests.ts"
import { FAIL_OVER, facts, newSigner, receiptOf, wireOf } from "../support/receipts.ts"

const crypto = { sha256, ed25519 }
const { signer, x } = newSigner("zurich-2026-07")
const keys: ReceiptKeys = new Map([["zurich-2026-07", x]])
const HASH = "sha256:ee762ac67c1745ca6411aa48af98b4ed12704f01d677cf1b76f713281302bd93"

const logged: LoggedDecision = {
  sessionId: "session-1",
  modeName: "macp.mode.decision.v1",
  commitmentHash: HASH,
  payload: { ...FAIL_OVER, outcome_positive: true }
}

const report = (receipt: JsonObject, known = keys, decision: LoggedDecision | undefined = logged) =>
  receiptReport(crypto, JSON.stringify(receipt), known, decision)

const signed = receiptOf(signer)
const unsigned = receiptOf()

describe("a receipt", () => {
  it("is verified when it is signed, intact and what the log says", () => {
    assert.deepStrictEqual(report(signed), {
      verified: true,
      signed: true,
      issuer: "runtime:zurich-1",
      hash: HASH,
      issuedAt: "2026-07-01T10:00:03Z",
      keyId: "zurich-2026-07"
    })
    assert.strictEqual(receiptText(report(signed)), "verified, signed by runtime:zurich-1 with the key zurich-2026-07")
  })

  it("is verified without a signature, and says so", () => {
    const { keyId: _, ...others } = report(signed)
    assert.deepStrictEqual(report(unsigned, NO_RECEIPT_KEYS), { ...others, signed: false })
    assert.strictEqual(receiptText(report(unsigned)), "verified, unsigned by runtime:zurich-1")
  })

  it("has the form that another program signs", () => {
    // The key pair of RFC 8037, appendix A.
    const d = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"
    const key = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
    const privateKey = createPrivateKey({ key: { kty: "OKP", crv: "Ed25519", d, x: key }, format: "jwk" })
    const { attestations: _, ...said } = unsigned
    const text =
      `{"commitment":{"action":"decision.selected","authority_scope":"checkout-api","commitment_id":"failover-1",` +
      `"configuration_version":"config.default","mode_version":"1.0.0","outcome_positive":true,` +
      `"policy_version":"policy.incident.balanced","reason":"go: 3 approve, 0 reject of 3 specialists"},` +
      `"commitment_hash":"${HASH}","commitment_wire_b64":"${Buffer.from(wireOf(FAIL_OVER)).toString("base64")}",` +
      `"issued_at":"2026-07-01T10:00:03Z","issuer":"runtime:zurich-1","mode":"macp.mode.decision.v1",` +
      `"receipt_format":"macp-receipt/1","semantics_rev":{"implementation":"sandbox","rev":4},"session_id":"session-1"}`
    assert.deepStrictEqual(JSON.parse(text), said)
    const head = Buffer.from('{"alg":"EdDSA","kid":"other"}').toString("base64url")
    const message = Buffer.from(`${head}.${Buffer.from(text).toString("base64url")}`)
    const jws = `${head}..${sign(null, message, privateKey).toString("base64url")}`
    const made = report({ ...said, attestations: [{ type: "jws", jws }] }, new Map([["other", key]]))
    assert.deepInclude(made, { verified: true, signed: true, keyId: "other" })
  })

  const commitment = Schema.decodeUnknownSync(Schema.JsonObject)(signed["commitment"])
  const inCommitment = (change: JsonObject) => ({ commitment: { ...commitment, ...change } })
  const otherWire = Buffer.from(wireOf({ ...FAIL_OVER, reason: "no_go" })).toString("base64")

  it.each([
    ["session_id", { session_id: "session-2" }, "disagrees with the log in session_id; its signature"],
    ["mode", { mode: "macp.mode.task.v1" }, "in mode; its signature"],
    ["issuer", { issuer: "runtime:other" }, "its signature by the key zurich-2026-07 does not fit"],
    ["issued_at", { issued_at: "2026-07-02T10:00:03Z" }, "its signature by the key zurich-2026-07 does not fit"],
    ["semantics_rev", { semantics_rev: { implementation: "sandbox", rev: 5 } }, "its signature by the key"],
    ["an additional member", { note: "x" }, "its signature by the key zurich-2026-07 does not fit"],
    ["receipt_format", { receipt_format: "macp-receipt/2" }, 'its receipt_format is "macp-receipt/2"'],
    ["commitment.action", inCommitment({ action: "decision.rejected" }), "its commitment.action: commitment_wire_b64"],
    ["commitment.reason", inCommitment({ reason: "no_go" }), "in reason; its commitment.reason: commitment_wire_b64"],
    ["commitment.commitment_id", inCommitment({ commitment_id: "x" }), "its commitment.commitment_id: "],
    ["commitment.authority_scope", inCommitment({ authority_scope: "x" }), "its commitment.authority_scope: "],
    ["commitment.mode_version", inCommitment({ mode_version: "x" }), "its commitment.mode_version: "],
    ["commitment.policy_version", inCommitment({ policy_version: "x" }), "its commitment.policy_version: "],
    ["commitment.configuration_version", inCommitment({ configuration_version: "x" }), "configuration_version: "],
    ["commitment.outcome_positive", inCommitment({ outcome_positive: false }), "in outcome_positive; its "],
    ["commitment.supersedes", inCommitment({ supersedes: {} }), "its commitment.supersedes: "],
    ["an unknown member of the commitment", inCommitment({ more: "x" }), 'unknown member "more"'],
    ["the kind of a member", inCommitment({ reason: 3 }), "its commitment.reason is not a text"],
    ["the whole commitment", { commitment: "x" }, "its commitment is missing"],
    [
      "commitment_hash",
      { commitment_hash: `sha256:${"0".repeat(64)}` },
      "in commitment_hash; its commitment_hash is not"
    ],
    [
      "the form of commitment_hash",
      { commitment_hash: HASH.toUpperCase() },
      "its commitment_hash is missing, or is not"
    ],
    ["commitment_wire_b64", { commitment_wire_b64: otherWire }, "its commitment.reason: commitment_wire_b64"],
    ["the form of commitment_wire_b64", { commitment_wire_b64: "not base64!" }, "commitment_wire_b64: is not base64"],
    [
      "commitment_wire_b64 with another field",
      { commitment_wire_b64: "UgF4" },
      "commitment_wire_b64: the Commitment has"
    ]
  ] as const)("is not verified after a change of %s", (_, change, reason) => {
    const found = report({ ...signed, ...change })
    assert.isFalse(found.verified)
    assert.include(found.reason, reason)
  })

  it("is not verified when a member that the runtime shows is left out", () => {
    const empty = facts({ ...FAIL_OVER, reason: "" })
    const { reason: _, ...rest } = Schema.decodeUnknownSync(Schema.JsonObject)(receiptOf(signer, empty)["commitment"])
    assert.include(report({ ...receiptOf(signer, empty), commitment: rest }).reason, "its commitment is not whole")
  })

  it.each([
    ["no key", NO_RECEIPT_KEYS, "the key zurich-2026-07, which signed it, is not among the known keys"],
    [
      "another key of the id",
      new Map([["zurich-2026-07", newSigner("").x]]),
      "its signature by the key zurich-2026-07"
    ],
    ["another key", new Map([["other", x]]), "the key zurich-2026-07, which signed it, is not among the known keys"]
  ])("is not verified with %s", (_, known, reason) => {
    const found = report(signed, known)
    assert.deepInclude(found, { verified: false, signed: true })
    assert.include(found.reason, reason)
  })

  it.each([
    ["no signature", { type: "jws", jws: "x" }, "its signature by an unnamed key does not fit"],
    ["an attached payload", { type: "jws", jws: "e30.e30.AA" }, "its signature by an unnamed key does not fit"],
    [
      "another algorithm",
      { type: "jws", jws: `${Buffer.from('{"alg":"none"}').toString("base64url")}..` },
      "not supported"
    ]
  ])("is not verified with %s", (_, attestation, reason) => {
    assert.include(report({ ...unsigned, attestations: [attestation] }).reason, reason)
  })

  it("needs one valid signature among several", () => {
    const other = newSigner("other")
    const attestations = [receiptOf(other.signer), signed].flatMap((one) => one["attestations"] ?? [])
    const found = report({ ...unsigned, attestations: [...attestations, { type: "vendor", binds: "other" }] })
    assert.deepInclude(found, { verified: true, signed: true, keyId: "zurich-2026-07" })
    assert.deepStrictEqual(
      checkReceipt(sha256, ed25519, { ...unsigned, attestations }, keys).attestations.map(({ outcome }) => outcome),
      ["unknown_key", "valid"]
    )
  })

  it("is not verified when the log has another commitment, or none", () => {
    const other = `sha256:${"1".repeat(64)}`
    const found = report(signed, keys, { ...logged, commitmentHash: other, payload: { ...FAIL_OVER, reason: "no_go" } })
    assert.deepStrictEqual(found.disagreements, ["commitment_hash", "reason"])
    assert.strictEqual(found.reason, "it disagrees with the log in commitment_hash, reason")
    assert.include(receiptReport(crypto, JSON.stringify(signed), keys, undefined).reason, "the log has no decision")
    assert.include(report(signed, keys, { ...logged, commitmentHash: undefined }).reason, "the log has no hash")
  })

  it("is compared by its hash where the log is redacted", () => {
    const redacted = { ...logged, payload: { ...FAIL_OVER, reason: "go: [REDACTED]" } }
    assert.isTrue(report(signed, keys, redacted).verified)
  })

  it.each([
    ["not JSON", "{", "it is not a JSON object"],
    ["a list", "[]", "it is not a JSON object"],
    ["an inexact number", '{"rev": 12345678901234567890}', "its member rev cannot be read exactly"],
    ["a member twice", '{"issuer": "a", "issuer": "b"}', "its member issuer cannot be read exactly"],
    ["too long", " ".repeat(MAX_RECEIPT_CHARS + 1), `it is longer than ${MAX_RECEIPT_CHARS} characters`],
    ["too deep", "[".repeat(200), "it is not a JSON object"]
  ])("that is %s cannot be checked", (_, text, reason) => {
    const found = receiptReport(crypto, text, keys, logged)
    assert.deepStrictEqual(found, {
      verified: false,
      signed: false,
      reason: `the receipt cannot be checked: ${reason}`
    })
  })

  it.prop(
    "of any JSON is checked without an exception",
    { value: Arbitrary.schema(Schema.JsonObject) },
    ({ value }) => {
      const found = report({ ...value })
      assert.isFalse(found.verified)
      assert.deepStrictEqual(receiptReportIn({ receipt: { ...found } }), found)
      const mixed = report({ ...signed, ...value })
      assert.isTrue(!mixed.verified || Object.keys(value).every((key) => key in signed))
    }
  )
})

describe("keys of receipts", () => {
  const jwk = { kty: "OKP", crv: "Ed25519", kid: "a", x }

  it("are those of a set, or a single one; other kinds are left out", () => {
    const set = { keys: [{ kty: "RSA", kid: "r" }, jwk, { ...jwk, kid: "b" }] }
    assert.deepStrictEqual(
      readReceiptKeys(JSON.stringify(set)),
      Result.succeed(
        new Map([
          ["a", x],
          ["b", x]
        ])
      )
    )
    assert.deepStrictEqual(readReceiptKeys(JSON.stringify(jwk)), Result.succeed(new Map([["a", x]])))
  })

  it.each([
    ["not JSON", "x", "the key set is not a JSON object"],
    ["no list", '{"keys": 1}', "the keys of the key set are not a list"],
    ["no id", JSON.stringify({ ...jwk, kid: "" }), "a key of the key set has no id (kid)"],
    ["a short key", JSON.stringify({ ...jwk, x: "AA" }), "a key of the key set has no valid coordinate (x)"],
    ["an id twice", JSON.stringify({ keys: [jwk, { ...jwk, x: newSigner("").x }] }), "has one id for two keys"]
  ])("with %s are refused", (_, text, reason) => {
    const read = readReceiptKeys(text)
    assert.isTrue(Result.isFailure(read) && read.failure.includes(reason))
  })
})

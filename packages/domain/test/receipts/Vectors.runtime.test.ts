import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import {
  canonicalJson,
  checkReceipt,
  commitmentHash,
  commitmentHashOfWire,
  commitmentJson,
  isCommitmentHash,
  receiptCommitment
} from "@runplane/domain"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ed25519, sha256 } from "../support/digests.ts"

/** Where the sources of macp-runtime are; `npm run test:runtime` sets it. */
const sources = process.env["MACP_RUNTIME_SOURCES"] ?? ""

const decode = <S extends Schema.Decoder<unknown>>(schema: S, folder: string): ReadonlyArray<S["Type"]> => {
  const path = join(sources, "tests", folder)
  if (sources === "" || !existsSync(path)) return []
  return readdirSync(path)
    .filter((name) => /_\d{3}_/.test(name))
    .toSorted()
    .map((name) => Schema.decodeUnknownSync(schema)(JSON.parse(readFileSync(join(path, name), "utf8"))))
}

const optional = Schema.optionalKey
const HashVector = Schema.Struct({
  name: Schema.String,
  payload: optional(Schema.JsonObject),
  jcs_utf8_hex: optional(Schema.String),
  hash: optional(Schema.String),
  wire_hex: optional(Schema.String),
  claimed_hash: optional(Schema.String),
  expected_outcome: optional(Schema.Literals(["match", "mismatch", "cannot_verify"]))
})
const ReceiptVector = Schema.Struct({
  name: Schema.String,
  receipt: Schema.JsonObject,
  trusted_keys: Schema.Record(Schema.String, Schema.String),
  expected: Schema.Struct({
    integrity: Schema.NullOr(Schema.String),
    attestations: Schema.Array(Schema.String),
    verdict: Schema.String
  })
})

const hashes = decode(HashVector, "conformance/cmt-hash")
const receipts = decode(ReceiptVector, "vectors/receipt")

if (hashes.length === 0 || receipts.length === 0) {
  describe("the vectors of macp-runtime", () => {
    it("are not beside its binary, so none was checked", () => {
      console.warn("the sources of macp-runtime are absent, or of a release without receipts: no vector was checked")
    })
  })
}

describe("commitment hashes of macp-runtime", () => {
  for (const { claimed_hash, expected_outcome, hash, jcs_utf8_hex, name, payload, wire_hex } of hashes) {
    it(name, () => {
      if (payload !== undefined) {
        const commitment = Result.getOrThrow(receiptCommitment({ commitment: payload }))
        const canonical = Buffer.from(canonicalJson(commitmentJson(commitment))).toString("hex")
        assert.strictEqual(canonical, jcs_utf8_hex)
        assert.strictEqual(commitmentHash(sha256, commitment), hash)
        return
      }
      const computed = commitmentHashOfWire(sha256, Buffer.from(wire_hex ?? "", "hex"))
      const isMatch =
        Result.isSuccess(computed) && isCommitmentHash(claimed_hash ?? "") && computed.success === claimed_hash
      const outcome = Result.isFailure(computed) ? "cannot_verify" : isMatch ? "match" : "mismatch"
      assert.strictEqual(outcome, expected_outcome)
    })
  }
})

describe("receipts of macp-runtime", () => {
  for (const { expected, name, receipt, trusted_keys } of receipts) {
    it(name, () => {
      const { attestations, integrity } = checkReceipt(sha256, ed25519, receipt, new Map(Object.entries(trusted_keys)))
      const outcomes = attestations.map(({ outcome }) => outcome)
      const ofMatch = outcomes.includes("valid") ? "attested" : "integrity_only"
      const verdict = integrity === "refused" ? "refused" : integrity === "match" ? ofMatch : "unverified"
      const found = { integrity: integrity === "refused" ? null : integrity, attestations: outcomes, verdict }
      assert.deepStrictEqual(found, expected)
    })
  }
})

import { createHash, createHmac } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { hmacSha256, memberDigest, memberSalt } from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { nastyText } from "../support/arbitraries.ts"
import { sha256 } from "../support/digests.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)
const anyBytes = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))), {
    maxLength: 150
  }),
  (bytes) => Uint8Array.from(bytes)
)

/** The digest by the words of RFC 9901, with nothing of the product. */
const digestOf = (salt: string, pointer: string, value: string) =>
  createHash("sha256")
    .update(Buffer.from(`[${JSON.stringify(salt)},${JSON.stringify(pointer)},${value}]`, "utf8").toString("base64url"))
    .digest("base64url")

describe("HMAC-SHA-256", () => {
  it.prop(
    "is that of the platform, for keys below and above a block",
    { key: anyBytes, message: anyBytes },
    (given) => {
      const expected = createHmac("sha256", given.key).update(given.message).digest("hex")
      assert.strictEqual(Buffer.from(hmacSha256(sha256, given.key, given.message)).toString("hex"), expected)
    }
  )
})

describe("a disclosure", () => {
  it("has the digest that another program computes", () => {
    const made = memberDigest(sha256, "_26bc4LT-ac6q2KI6cBW5es", "family_name", bytesOf('"Möbius"'))
    assert.strictEqual(made, "TZjouOTrBKEwUNjNDs9yeMzBoQn8FFLPaJjRRmAtwrM")
  })

  it.prop(
    "has the digest of RFC 9901 for any pointer and value",
    { seed: anyBytes, pointer: nastyText, value: nastyText },
    ({ pointer, seed, value }) => {
      const salt = memberSalt(sha256, seed, pointer)
      const text = JSON.stringify(value)
      assert.strictEqual(memberDigest(sha256, salt, pointer, bytesOf(text)), digestOf(salt, pointer, text))
    }
  )

  it("has a salt of 16 bytes that depends on the seed and the pointer", () => {
    const seed = new Uint8Array(16).fill(7)
    const expected = createHmac("sha256", seed).update("/data/reason").digest().subarray(0, 16).toString("base64url")
    assert.strictEqual(memberSalt(sha256, seed, "/data/reason"), expected)
    assert.strictEqual(expected.length, 22)
    assert.notStrictEqual(memberSalt(sha256, seed, "/data/reasons"), expected)
    assert.notStrictEqual(memberSalt(sha256, new Uint8Array(16), "/data/reason"), expected)
  })

  it("depends on salt, pointer and value", () => {
    const digests = [
      ["salt", "/data/a", "true"],
      ["tlas", "/data/a", "true"],
      ["salt", "/data/b", "true"],
      ["salt", "/data/a", '"true"']
    ].map(([salt = "", pointer = "", value = ""]) => memberDigest(sha256, salt, pointer, bytesOf(value)))
    assert.strictEqual(new Set(digests).size, 4)
  })
})

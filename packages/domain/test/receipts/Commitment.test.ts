import { assert, describe, it } from "@effect/vitest"
import {
  canonicalJson,
  commitmentHash,
  commitmentHashOfWire,
  commitmentJson,
  isCommitmentHash,
  readCommitment,
  type WireCommitment
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { sha256 } from "../support/digests.ts"
import { wireOf } from "../support/receipts.ts"

/** Bytes and hashes that another program made. */
const VECTORS = [
  [
    "a positive decision",
    "0a0a6661696c6f7665722d3112116465636973696f6e2e73656c65637465641a0c636865636b6f75742d6170692228676f3a203320617070726f" +
      "76652c20302072656a656374206f662033207370656369616c697374732a05312e302e303218706f6c6963792e696e636964656e742e62616c" +
      "616e6365643a0e636f6e6669672e64656661756c744001",
    "sha256:ee762ac67c1745ca6411aa48af98b4ed12704f01d677cf1b76f713281302bd93"
  ],
  [
    "a negative decision that replaces another",
    "0a0a6661696c6f7665722d3212116465636973696f6e2e6465636c696e65641a0c636865636b6f75742d61706922236e6f5f676f3a2034" +
      "312073206f662077726974657320776f756c64206265206c6f73742a05312e302e303218706f6c6963792e696e636964656e742e62616c" +
      "616e6365643a0e636f6e6669672e64656661756c744a6f0a2430313936643063342d376131652d376331312d396136652d336432623661" +
      "32663963313012477368613235363a65653736326163363763313734356361363431316161343861663938623465643132373034663031" +
      "643637376366316237366637313332383133303262643933",
    "sha256:9b6b4563dbce2e8e254138c13f46947d93118499291e4190ee87b8481e8546fb"
  ],
  [
    "texts with escapes",
    "0a0a6661696c6f7665722d3112116465636973696f6e2e73656c65637465641a0c636865636b6f75742d617069222d5a757269636820e2869220" +
      "2247656ec3a8766522096f6b0a6c696e655c74776f2001207f20e280a820f09f9a802a05312e302e303218706f6c6963792e696e636964656e" +
      "742e62616c616e6365643a0e636f6e6669672e64656661756c744001",
    "sha256:8bc3fdada372b0d61cb59bdbc7c5e087cf5a1ff1457fd6bc68178824f492a378"
  ],
  ["nothing at all", "", "sha256:3240d1a7adb7bd9420ad5490182227ce699c9e4e465f7934885fe2ded939f32e"],
  ["an empty reference", "4a00", "sha256:9776c22ef165f26817f89bb456cf6bc56a659eb1561a576f6ea9a435bd3291d7"]
] as const

const bytes = (hex: string) => Buffer.from(hex, "hex")
const text = (number: number, value: string) => [(number << 3) | 2, value.length, ...Buffer.from(value)]

describe("the commitment hash", () => {
  it.each(VECTORS)("of %s", (_, wire, hash) => {
    assert.deepStrictEqual(commitmentHashOfWire(sha256, bytes(wire)), Result.succeed(hash))
  })

  it.each([
    ["a field that it does not cover", text(10, "x"), "the Commitment has the field 10, which the hash does not cover"],
    [
      "such a field of the reference",
      [74, 3, ...text(3, "z")],
      "supersedes has the field 3, which the hash does not cover"
    ],
    ["a number as text", [0x08, 1], "field 1 of the Commitment is not a text"],
    ["a fixed width as text", [0x0d, 1, 2, 3, 4], "field 1 of the Commitment is not a text"],
    ["a text as the flag", text(8, "1"), "field 8 of the Commitment is not a flag"],
    ["a number as the reference", [0x48, 1], "field 9 of the Commitment is not a message"],
    ["bytes that are not UTF-8", [0x0a, 1, 0xff], "field 1 of the Commitment is not a text"],
    ["a text that ends early", [0x0a, 5, 0x61], "the message ends inside a field"],
    ["a length beyond all memory", [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], "the message ends inside a field"],
    ["a number without end", [0x40, ...Array(11).fill(0x80)], "the message has a number that does not end"],
    ["a group", [0x0b], "field 1 of the message has the unknown form 3"],
    ["the field 0", [0x00, 1], "the message has a field 0"]
  ] as const)("does not exist for %s", (_, wire, reason) => {
    assert.deepStrictEqual(commitmentHashOfWire(sha256, Uint8Array.from(wire)), Result.fail(reason))
  })

  it("is that of the last value of a repeated field", () => {
    const once = commitmentHashOfWire(sha256, Uint8Array.from(text(2, "decision.selected")))
    const twice = Uint8Array.from([...text(2, "decision.rejected"), ...text(2, "decision.selected")])
    assert.deepStrictEqual(commitmentHashOfWire(sha256, twice), once)
  })

  it("keeps a byte order mark", () => {
    const marked = readCommitment(Uint8Array.from([0x0a, 4, 0xef, 0xbb, 0xbf, 0x63]))
    assert.strictEqual(Result.getOrThrow(marked).commitmentId, "\u{FEFF}c")
  })

  const Commitment = Schema.Struct({
    commitmentId: Schema.String,
    action: Schema.String,
    authorityScope: Schema.String,
    reason: Schema.String,
    modeVersion: Schema.String,
    policyVersion: Schema.String,
    configurationVersion: Schema.String,
    outcomePositive: Schema.Boolean,
    supersedes: Schema.optionalKey(Schema.Struct({ sessionId: Schema.String, commitmentHash: Schema.String }))
  })
  const wellFormed = (commitment: WireCommitment) =>
    JSON.stringify(commitment).isWellFormed() && !/\\ud[89a-f]/.test(JSON.stringify(commitment))

  it.prop("of the bytes is that of what they say", { commitment: Arbitrary.schema(Commitment) }, ({ commitment }) => {
    if (!wellFormed(commitment)) return
    const wire = wireOf(commitment)
    assert.deepStrictEqual(readCommitment(wire), Result.succeed(commitment))
    const hash = commitmentHash(sha256, commitment)
    assert.deepStrictEqual(commitmentHashOfWire(sha256, wire), Result.succeed(hash))
    assert.isTrue(isCommitmentHash(hash))
    const { supersedes, ...others } = commitment
    for (const [name, value] of Object.entries(others)) {
      const changed = { ...commitment, [name]: typeof value === "boolean" ? !value : `${value}.` }
      assert.notStrictEqual(commitmentHash(sha256, changed), hash, name)
    }
    const { supersedes: _, ...without } = commitment
    const other =
      supersedes === undefined ? { ...commitment, supersedes: { sessionId: "", commitmentHash: "" } } : without
    assert.notStrictEqual(commitmentHash(sha256, other), hash)
  })

  it.prop("reads any bytes without an exception", { wire: Arbitrary.schema(Schema.Uint8Array) }, ({ wire }) => {
    const read = readCommitment(wire)
    if (Result.isSuccess(read)) assert.isString(canonicalJson(commitmentJson(read.success)))
  })

  it.each([
    ["ee762ac67c1745ca6411aa48af98b4ed12704f01d677cf1b76f713281302bd93"],
    ["sha256:EE762AC67C1745CA6411AA48AF98B4ED12704F01D677CF1B76F713281302BD93"],
    ["sha256:ee76"],
    [" sha256:ee762ac67c1745ca6411aa48af98b4ed12704f01d677cf1b76f713281302bd93"],
    ["sha256:ee762ac67c1745ca6411aa48af98b4ed12704f01d677cf1b76f713281302bd93\n"]
  ])("has one form, not %j", (other) => {
    assert.isFalse(isCommitmentHash(other))
  })
})

describe("canonical JSON", () => {
  it.each([
    [{ b: 1, a: [true, null, "x"] }, '{"a":[true,null,"x"],"b":1}'],
    [
      { "\u20ac": "Euro", "\r": "CR", "1": "One", "\u{1F600}": "Smile", "\u0080": "Control", "\ufb33": "Dalet" },
      '{"\\r":"CR","1":"One","\u0080":"Control","\u20ac":"Euro","\u{1F600}":"Smile","\ufb33":"Dalet"}'
    ],
    [[1e21, 1e-7, 0.1, -0, 333333333.3333333, 1e20], "[1e+21,1e-7,0.1,0,333333333.3333333,100000000000000000000]"],
    ['\u0000\b\t\n\f\r\u001f"\\/\u007f\u2028', '"\\u0000\\b\\t\\n\\f\\r\\u001f\\"\\\\/\u007f\u2028"']
  ])("of RFC 8785: %#", (value, canonical) => {
    assert.strictEqual(canonicalJson(value), canonical)
  })

  it.prop(
    "is JSON of the same value, whatever the order of members",
    { value: Arbitrary.schema(Schema.Json) },
    ({ value }) => {
      const canonical = canonicalJson(value)
      const reversed: Schema.Json = JSON.parse(JSON.stringify(value), (_, one) =>
        typeof one === "object" && one !== null && !Array.isArray(one)
          ? Object.fromEntries(Object.entries(one).reverse())
          : one
      )
      assert.strictEqual(canonicalJson(reversed), canonical)
      assert.deepEqual(JSON.parse(canonical), JSON.parse(JSON.stringify(value)))
    }
  )
})

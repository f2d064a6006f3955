import { assert, describe, it } from "@effect/vitest"
import { isExactNumber, jsonFault, jsonFaultText, MAX_JSON_DEPTH, parseExactJson } from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { nastyText } from "../support/arbitraries.ts"

describe("a number literal", () => {
  it.each([
    ...["0", "-0", "0.0", "0e9", "1", "-1", "0.1", "1.10", "0.30000000000000004", "1e23", "1E+308", "-2.5e-3"],
    ...["9007199254740991", "-9007199254740991", "5e-324", "0.12345678901234567890", "1764080000.123456789", "1e21"],
    ...["9007199254740992.0", "12345678901234567000e0"]
  ])("is exact: %s", (literal) => {
    assert.isTrue(isExactNumber(literal))
  })

  it.each([
    ...["9007199254740992", "9007199254740993", "-9007199254740992", "12345678901234567890", "653247040368672769"],
    ...[
      "1e400",
      "-1e400",
      "1e-400",
      "1.5e-324",
      "12345678901234567.5",
      "1.2345678901234567891e19",
      "9007199254740993.0"
    ],
    ...["1".repeat(400), `0.${"0".repeat(400)}1`]
  ])("is not: %s", (literal) => {
    assert.isFalse(isExactNumber(literal))
  })

  it.prop(
    "is exact as JSON.stringify writes a double, up to its own integers beyond 2^53",
    [Arbitrary.schema(Schema.Finite)],
    ([value]) => {
      const isBig = Number.isInteger(value) && Math.abs(value) > Number.MAX_SAFE_INTEGER && Math.abs(value) < 1e21
      return isExactNumber(JSON.stringify(value)) === !isBig
    }
  )
})

const faultsOf = (text: string) =>
  parseExactJson(text)?.faults.listed.map(({ kind, literal, offset, path }) => [kind, path.join("/"), offset, literal])

describe("exact JSON", () => {
  it("has numbers that a double cannot hold as their text", () => {
    const text = '{ "a": [1, -12345678901234567890, {"b":1e400}], "c": 0.5, "d\\n": 1e-400 }'
    assert.deepStrictEqual(parseExactJson(text)?.value, {
      a: [1, "-12345678901234567890", { b: "1e400" }],
      c: 0.5,
      "d\n": "1e-400"
    })
    assert.deepStrictEqual(faultsOf(text), [
      ["number", "a/1", 11, "-12345678901234567890"],
      ["number", "a/2/b", 39, "1e400"],
      ["number", "d\n", 65, "1e-400"]
    ])
    assert.deepStrictEqual(faultsOf("9007199254740993"), [["number", "", 0, "9007199254740993"]])
  })

  it("says which keys are given twice, at each level and in other spellings, and keeps the last value", () => {
    const text = '{"a":{"x":1,"\\u0078":2},"b":1,"a":3,"b":[{"c":":","c":"\\""}]}'
    assert.deepStrictEqual(parseExactJson(text)?.value, { a: 3, b: [{ c: '"' }] })
    assert.deepStrictEqual(faultsOf(text), [
      ["repeated", "a/x", 12, "x"],
      ["repeated", "a", 30, "a"],
      ["repeated", "b", 36, "b"],
      ["repeated", "b/0/c", 50, "c"]
    ])
  })

  it("says where __proto__ is a key, in any spelling", () => {
    for (const key of ["__proto__", "\\u005f_proto__", "__pr\\u006fto__"]) {
      assert.deepStrictEqual(faultsOf(`{"a":[{"${key}":{"x":1}}]}`), [["prototype", "a/0/__proto__", 7, "__proto__"]])
    }
    assert.deepStrictEqual(faultsOf('{"a":"__proto__","__proto":1}'), [])
  })

  it("is undefined for text that is not JSON, or too deep", () => {
    for (const text of ["", "{", "[1,]", "{'a':1}", "01", "nope"]) assert.isUndefined(parseExactJson(text))
    const nested = (levels: number) => `${"[".repeat(levels)}1e400${"]".repeat(levels)}`
    assert.strictEqual(faultsOf(nested(MAX_JSON_DEPTH))?.length, 1)
    assert.isUndefined(parseExactJson(nested(MAX_JSON_DEPTH + 1)))
    assert.isUndefined(parseExactJson("[".repeat(1_000_000)))
  })

  it("lists the first faults, and counts the others", () => {
    const faults = parseExactJson(`[${"1e400,".repeat(100)}1]`)?.faults
    assert.deepStrictEqual([faults?.listed.length, faults?.more], [20, 80])
  })

  // An exponent leads every text to the reader of its own.
  it.prop("has the value of JSON.parse", [Arbitrary.schema(Schema.Json), nastyText], ([value, key]) => {
    for (const space of [0, 2, "\t"]) {
      const text = JSON.stringify([1e300, { [`k${key}`]: value }], null, space)
      const exact = parseExactJson(text)
      assert.deepStrictEqual(
        JSON.stringify(exact?.value, numbersAsText),
        JSON.stringify(JSON.parse(text), numbersAsText)
      )
    }
  })

  it.each([
    ["repeated keys", `{${'"a":1,'.repeat(150_000)}"a":1}`],
    ["numbers", `[${"12345678901234567890,".repeat(50_000)}1]`],
    ["numbers below a long key", `{"${"k".repeat(500_000)}":[${"1e400,".repeat(80_000)}1]}`],
    ["backslashes", `["${'\\\\\\\\\\"'.repeat(150_000)}",1e400]`],
    ["digits", `[${"1".repeat(500_000)},${"0".repeat(0)}1e${"9".repeat(500_000)}]`],
    ["zeros", `[1${"0".repeat(500_000)}.${"0".repeat(500_000)}1]`],
    ["an open string", `["${'\\"'.repeat(500_000)}`]
  ])("takes linear time for a megabyte of %s", (_, text) => {
    // The time of this thread: other processes take most of the clock's on a busy machine.
    const before = process.threadCpuUsage()
    parseExactJson(text)
    const { system, user } = process.threadCpuUsage(before)
    assert.isBelow(system + user, 2_000_000)
  })
})

const numbersAsText = (_: string, value: unknown) => (typeof value === "number" ? String(value) : value)

describe("the refusal of a fault", () => {
  it.each([
    [
      '{"inputs":{"account":653247040368672769}}',
      "inputs.account must not be 653247040368672769: a double cannot hold it, write it as text"
    ],
    ["[1e400]", "0 must not be 1e400: a double cannot hold it, write it as text"],
    ["1e400", "the value must not be 1e400: a double cannot hold it, write it as text"],
    ['{"a":{"b":1,"b":1}}', "a.b must not be given twice"],
    ['{"a":{"__proto__":1}}', "a.__proto__ must not be used as a key"],
    [
      `{"${"k".repeat(300)}":1e400}`,
      `${"k".repeat(200)}... must not be 1e400: a double cannot hold it, write it as text`
    ]
  ])("names the field (%#)", (text, refusal) => {
    const fault = jsonFault(text)
    assert.strictEqual(fault && jsonFaultText(fault), refusal)
  })
})

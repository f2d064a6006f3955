import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { parseJson } from "../../src/catalog/JsonText.ts"

const complaint = (text: string) => {
  const result = parseJson(text, "f.json")
  return Result.isFailure(result) ? result.failure.message : undefined
}

describe("JSON files", () => {
  it.each<[text: string, line: number, reason: string]>([
    ["{", 1, "Expected property name or '}'"],
    ['{\n"a": 1,\n"b": }\n', 3, "Unexpected token '}'"],
    ["[\n1,\n2\n3\n]\n", 4, "Expected ',' or ']' after array element"],
    ['{\n\n"a": "x\n"}', 3, "Bad control character in string literal"],
    ["[1]\n\n[2]", 3, "Unexpected non-whitespace character after JSON"],
    ["\n\nnope", 3, "Unexpected token 'o'"],
    ['{"a": [\n1\n', 3, "Expected ',' or ']' after array element"],
    [`[\n${"1,\n".repeat(50_000)}x]`, 50_002, "Unexpected token 'x'"]
  ])("name the line of what is wrong (%#)", (text, line, reason) => {
    assert.strictEqual(complaint(text), `invalid JSON in f.json: ${reason} (line ${line})`)
  })

  it.each<[text: string, reason: string]>([
    [
      '{\n"a": {"account":\n 653247040368672769}}',
      "a.account must not be 653247040368672769: a double cannot hold it, write it as text (line 3)"
    ],
    ["[\n1e400]", "0 must not be 1e400: a double cannot hold it, write it as text (line 2)"],
    ['{"a":1,\n\n"a":2}', "a must not be given twice (line 3)"],
    ['{"a":\n{"__proto__":{}}}', "a.__proto__ must not be used as a key (line 2)"]
  ])("say what would not be read as it is written, with its field and line (%#)", (text, reason) => {
    assert.strictEqual(complaint(text), `invalid JSON in f.json: ${reason}`)
  })

  it("may be empty", () => {
    assert.deepStrictEqual(parseJson(" \n", "f.json"), Result.succeed(undefined))
    assert.deepStrictEqual(parseJson("[1]", "f.json"), Result.succeed([1]))
  })
})

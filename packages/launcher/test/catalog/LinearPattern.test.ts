import { assert, describe, it } from "@effect/vitest"
import { compilePattern, isLinear, patternsIn } from "../../src/catalog/LinearPattern.ts"

/** What the engine of JavaScript says of the same pattern and text. */
const agrees = (pattern: string, text: string) =>
  assert.strictEqual(
    compilePattern(pattern).test(text),
    new RegExp(pattern, "u").test(text),
    `${pattern} on ${JSON.stringify(text)}`
  )

const TEXTS = [
  ..."abzAZ09_-/\\.[]{}()^$|?*+ \t\n\r\v\f\b\0\u0001\u00a0\u1680\u2003\u2028\u2029\u3000\ufeffäßÉжא你😀👩‍👧",
  ..."",
  "abc",
  "ABC-123",
  "line\nbreak",
  "a\rb",
  "user@example.org",
  "2026-11-30",
  ":alpha:",
  "&&",
  "aab",
  "\ud83d",
  "x".repeat(40)
]

describe("patterns of input schemas", () => {
  it.each([
    "",
    "^$",
    "^[a-z]+$",
    "^[A-Z]{3}-\\d{1,3}$",
    "^\\s*\\S+\\s*$",
    "[\\s\\d]",
    "[^\\s]",
    "^.$",
    "^..$",
    "a.b",
    "\\bline\\b",
    "\\B",
    "[\\b]",
    "^\\w+@\\w+\\.org$",
    "\\W",
    "\\D",
    "\\/",
    "[/\\-]",
    "[[:alph]",
    "[&&]",
    "[\\]\\[^]",
    "\\u00e4",
    "\\u{1F600}",
    "^\\ud83d\\ude00$",
    "[\\u0400-\\u04ff]",
    "\\x41|\\cA|\\0|\\t\\v|\\f",
    "\\p{L}",
    "\\P{L}",
    "^\\p{Lu}\\p{Ll}*$",
    "\\p{Script=Cyrillic}",
    "\\p{sc=Hebrew}",
    "\\p{gc=Nd}",
    "(?<year>\\d{4})-(?:\\d\\d)",
    "a*?b",
    "(a|b)+c?",
    "a{2}",
    "a{2,}",
    "\\.|\\^|\\$|\\*|\\+|\\?|\\(|\\)|\\{|\\}|\\|"
  ])("run in linear time, with the meaning of JavaScript: %s", (pattern) => {
    assert.isTrue(isLinear(pattern))
    for (const text of TEXTS) agrees(pattern, text)
  })

  it.each(["(?=a)b", "(?!a)", "(?<=a)b", "(?<!a)b", "(a)\\1", "(?<x>a)\\k<x>", "(?i:a)", "[]", "[^]", "a{1,2000}"])(
    "keep their meaning where the linear engine does not have it: %s",
    (pattern) => {
      assert.isFalse(isLinear(pattern))
      for (const text of TEXTS) agrees(pattern, text)
    }
  )

  it("take linear time where the engine of JavaScript takes an exponential one", () => {
    const text = "a".repeat(500_000)
    for (const pattern of ["^([a-z]+)*@", "(a+)+b", "^(a|a)*$b?c", "(.*)*=$", "^(([a-z])+.)+[A-Z]([a-z])+$"]) {
      assert.isFalse(compilePattern(pattern).test(text))
    }
  })

  it("are found in every schema of a schema, not in its data", () => {
    const found = patternsIn({
      properties: { pattern: { type: "string", pattern: "a" }, list: { items: [{ pattern: "b" }] } },
      patternProperties: { "^x-": { not: { pattern: "c" } } },
      $defs: { pattern: { anyOf: [{ pattern: "d" }] } },
      default: { pattern: "no" },
      enum: [{ pattern: "no" }],
      const: { pattern: "no" }
    })
    assert.deepStrictEqual(
      found.map(({ at, pattern }) => [at.join("/"), pattern]),
      [
        ["properties/pattern/pattern", "a"],
        ["properties/list/items/0/pattern", "b"],
        ["patternProperties/^x-", "^x-"],
        ["patternProperties/^x-/not/pattern", "c"],
        ["$defs/pattern/anyOf/0/pattern", "d"]
      ]
    )
  })
})

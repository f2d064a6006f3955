import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { decodeUtf8, firstBrokenLine } from "../../src/catalog/PackFiles.ts"
import { parseYaml } from "../../src/catalog/YamlText.ts"
import { lineOfPath } from "../../src/common/LineOfPath.ts"

const TEXT = `# a comment
a: 1
b:
  c: [x, y]
  d:
    - e: 1
    - !include ./f.yaml
    - { f: 1,
        g: "7" }
    - |
      two
      lines
"k": *anchor
? [complex, key]
: 5
last: 9
`

describe("the line of a value", () => {
  it.each<[path: ReadonlyArray<string>, line: number | undefined]>([
    [["a"], 2],
    [["b", "c"], 4],
    [["b", "c", "1"], 4],
    [["b", "d", "0", "e"], 6],
    [["b", "d", "1"], 7],
    [["b", "d", "2", "g"], 9],
    [["b", "d", "3"], 11],
    [["k"], 13],
    [["last"], 16]
  ])("at %j is %s", (path, line) => {
    assert.strictEqual(lineOfPath(TEXT.replace("a: 1", "a: &anchor 1"), path), line)
  })

  it.each<[path: ReadonlyArray<string>, line: number]>([
    [["b", "missing", "deeper"], 4],
    [["b", "d", "9"], 6],
    [["b", "d", "1", "within the include"], 7],
    [["missing"], 2]
  ])("of a missing value is that of the last key that exists (%j)", (path, line) => {
    assert.strictEqual(lineOfPath(TEXT.replace("a: 1", "a: &anchor 1"), path), line)
  })

  it("is unknown in an empty text", () => {
    assert.isUndefined(lineOfPath("", ["a"]))
    assert.isUndefined(lineOfPath("# only a comment\n", ["a"]))
  })
})

describe("merge keys", () => {
  const read = (text: string) => Result.mapError(parseYaml(text, "f.yaml"), ({ message }) => message)

  it.each([
    ["a mapping", "b: &b { a: 1, limit: 5 }\nhigh: { <<: *b, limit: 99 }", { a: 1, limit: 99 }],
    ["a list, the first of which wins", "b: [&b { a: 1 }, &c { a: 2, d: 3 }]\nhigh: { <<: [*b, *c] }", { a: 1, d: 3 }],
    ["nothing when they are in quotes", 'high: { "<<": { a: 1 } }', { "<<": { a: 1 } }]
  ])("merge %s", (_, text, high) => {
    const value = Result.getOrThrow(read(text))
    assert.deepStrictEqual(Object(value).high, high)
  })

  it.each(["high:\n  <<: 5", "high:\n  <<:", "high:\n  <<: !include ./f.yaml"])("refuse anything else (%j)", (text) => {
    assert.deepStrictEqual(
      read(text),
      Result.fail(
        "invalid YAML in f.yaml: the merge key << takes an alias of a mapping, or a list of such aliases (line 2)"
      )
    )
  })
})

describe("text of bytes", () => {
  it("loses its byte order mark", () => {
    assert.strictEqual(decodeUtf8(Buffer.from("\ufeffa")), "a")
  })

  it.each([
    ["a\nb\n\xff", 3],
    ["\xc3\n", 1],
    ["fine\n\xe2\x82\nfine", 2]
  ])("names the first line that is not UTF-8 (%j)", (text, line) => {
    const bytes = Buffer.from(text, "latin1")
    assert.isUndefined(decodeUtf8(bytes))
    assert.strictEqual(firstBrokenLine(bytes), line)
  })
})

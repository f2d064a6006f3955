import { assert, describe, it } from "@effect/vitest"
import { decodeUtf8, firstBrokenLine } from "../../src/catalog/Utf8.ts"
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
  ])("that is not there is that of what is there of it (%j)", (path, line) => {
    assert.strictEqual(lineOfPath(TEXT.replace("a: 1", "a: &anchor 1"), path), line)
  })

  it("is unknown in an empty text", () => {
    assert.isUndefined(lineOfPath("", ["a"]))
    assert.isUndefined(lineOfPath("# only a comment\n", ["a"]))
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
  ])("names the first line that is no UTF-8 (%j)", (text, line) => {
    const bytes = Buffer.from(text, "latin1")
    assert.isUndefined(decodeUtf8(bytes))
    assert.strictEqual(firstBrokenLine(bytes), line)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { briefly, tableLines } from "../src/Table.ts"

const columns = [
  { title: "ID", text: ({ id }: { id: string; about: string }) => id },
  { title: "ABOUT", text: ({ about }: { id: string; about: string }) => about, elastic: true }
]

describe("a table", () => {
  it("gives each column the width of its longest text", () => {
    assert.deepStrictEqual(
      tableLines(
        columns,
        [
          { id: "one", about: "x" },
          { id: "2", about: "" }
        ],
        80
      ),
      ["ID   ABOUT", "one  x", "2    -"]
    )
  })

  it("cuts the elastic column where the line would be too long", () => {
    for (const line of tableLines(columns, [{ id: "a".repeat(30), about: "b".repeat(200) }], 80)) {
      assert.isAtMost(line.length, 80)
    }
    assert.match(tableLines(columns, [{ id: "a", about: "b".repeat(200) }], 20)[1] ?? "", /…$/)
  })

  it("leaves out columns, the highest number first, before the elastic one is too narrow to read", () => {
    const three = [
      { title: "ID", text: () => "i".repeat(20) },
      { title: "FIRST", text: () => "f".repeat(20), dropped: 1 },
      { title: "ABOUT", text: () => "a".repeat(60), elastic: true },
      { title: "SECOND", text: () => "s".repeat(20), dropped: 2 }
    ]
    const titlesAt = (width: number) => tableLines(three, [0], width)[0]?.split(/ +/)
    assert.deepStrictEqual(titlesAt(106), ["ID", "FIRST", "ABOUT", "SECOND"])
    assert.deepStrictEqual(titlesAt(105), ["ID", "FIRST", "ABOUT"])
    assert.deepStrictEqual(titlesAt(84), ["ID", "FIRST", "ABOUT"])
    assert.deepStrictEqual(titlesAt(83), ["ID", "ABOUT"])
    for (const width of [106, 105, 84, 83, 40]) {
      for (const line of tableLines(three, [0], width)) assert.isAtMost(line.length, width)
    }
  })

  it("shows no control characters of others", () => {
    assert.deepStrictEqual(tableLines(columns, [{ id: "\u001b[31mx", about: "a\nb" }], 80)[1], "[31mx  a b")
  })
})

describe("a brief time", () => {
  for (const [ms, text] of [
    [0, "0.0s"],
    [9_940, "9.9s"],
    [42_000, "42s"],
    [120_000, "2m"],
    [7_200_000, "2h"],
    [400_000_000, "5d"],
    [-5, "0.0s"]
  ] as const) {
    it(`of ${ms} ms is ${text}`, () => assert.strictEqual(briefly(ms), text))
  }
})

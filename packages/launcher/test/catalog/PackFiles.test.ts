import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { openPackFiles } from "../../src/catalog/PackFiles.ts"
import { type MemoryTree, memoryFiles } from "../fixtures/MemoryFiles.ts"

const read = (tree: MemoryTree, file = "/packs/a/root.yaml") =>
  openPackFiles("/packs").pipe(
    Effect.flatMap((files) => files.read(file)),
    Effect.provide(memoryFiles(tree))
  )

describe("YAML dialect", () => {
  const readText = (text: string) => read({ "/packs/a/root.yaml": text })

  it.effect.each([
    ["a key without a value is an empty text", "k:", { k: "" }],
    ["~, True, 007 and .5 are texts", "a: ~\nb: True\nc: 007\nd: .5", { a: "~", b: "True", c: "007", d: ".5" }],
    [
      "null, true, false and JSON numbers are themselves",
      "a: null\nb: true\nc: -1.5\nd: 1e3",
      { a: null, b: true, c: -1.5, d: 1000 }
    ],
    ["a date stays a text", "a: 2020-01-01", { a: "2020-01-01" }],
    ["yes and no are texts", "a: yes\nb: no", { a: "yes", b: "no" }],
    ["an alias repeats its anchor", "a: &x { q: 1 }\nb: *x", { a: { q: 1 }, b: { q: 1 } }],
    ["a merge key merges", "a: &x { q: 1 }\nb: { <<: *x, r: 2 }", { a: { q: 1 }, b: { q: 1, r: 2 } }]
  ] as const)("%s", ([, text, expected]) =>
    Effect.map(readText(text), (value) => assert.deepStrictEqual(value, expected))
  )

  it.effect.each([
    ["an empty file", ""],
    ["only comments", "# nothing\n"],
    ["only a document marker", "---\n"]
  ] as const)("%s has no document", ([, text]) => Effect.map(readText(text), (value) => assert.isUndefined(value)))

  it.effect.each([
    ["a key given twice", "a: 1\na: 2", "invalid YAML in a/root.yaml: duplicated mapping key (line 2)"],
    ["an unknown tag", "a: !other 1", "invalid YAML in a/root.yaml: unknown scalar tag !<!other> (line 1)"],
    ["a second document", "a: 1\n---\nb: 2", "invalid YAML in a/root.yaml: expected a single document, but found more"],
    [
      "a value that contains itself",
      "a: &x [*x]",
      "invalid YAML in a/root.yaml: an alias names a value that contains it"
    ]
  ] as const)("refuses %s", ([, text, message]) =>
    Effect.map(Effect.flip(readText(text)), (error) => assert.strictEqual(error.message, message))
  )

  it.effect.each([
    ["a: 1\nlist:\n  - x\n  - to: { account: 653247040368672769 }", "list.1.to.account", "653247040368672769", 4],
    ["a: -12345678901234567890", "a", "-12345678901234567890", 1],
    ["12345678901234567890: x", "12345678901234567890", "12345678901234567890", 1],
    ["a: &big 12345678901234567890\nb: *big", "a", "12345678901234567890", 1],
    ["a:\n  b: 1e400", "a.b", "1e400", 2],
    ["a: 1.e999", "a", "1.e999", 1],
    ["a: !!float .inf", "a", ".inf", 1],
    ["a: !!int 0xFFFFFFFFFFFFFFFFF", "a", "0xFFFFFFFFFFFFFFFFF", 1],
    ["[[{ x: 1 }, 9007199254740993]]", "0.1", "9007199254740993", 1]
  ] as const)(
    "refuses a number that a double cannot hold, with its field and line: %j",
    ([text, field, literal, line]) =>
      Effect.map(Effect.flip(readText(text)), (error) =>
        assert.strictEqual(
          error.message,
          `invalid YAML in a/root.yaml: ${field} must not be ${literal}: a double cannot hold it, write it as text (line ${line})`
        )
      )
  )

  it.effect.each(["a:\n  - __proto__: { x: 1 }", 'a:\n  - { "__pr\\u006fto__": 1 }'])(
    "refuses the key __proto__: %j",
    (text) =>
      Effect.map(Effect.flip(readText(text)), (error) =>
        assert.strictEqual(
          error.message,
          "invalid YAML in a/root.yaml: a.0.__proto__ must not be used as a key (line 2)"
        )
      )
  )

  it.effect("keeps such numbers as texts, and such texts that are no keys", () => {
    const text = `a: "12345678901234567890"\nb: !!str 1e400\nc: 9007199254740991\nd: |\n  12345678901234567890\ne: __proto__`
    const [a, c] = ["12345678901234567890", 9_007_199_254_740_991]
    return Effect.map(readText(text), (value) =>
      assert.deepStrictEqual(value, { a, b: "1e400", c, d: `${a}\n`, e: "__proto__" })
    )
  })

  it.effect("refuses aliases that multiply beyond the limit", () => {
    const rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for (let i = 1; i <= 6; i++)
      rows.push(
        `a${i}: &a${i} [${Array(10)
          .fill(`*a${i - 1}`)
          .join(", ")}]`
      )
    return Effect.map(Effect.flip(readText(rows.join("\n"))), (error) =>
      assert.match(error.message, /more than \d+ values/)
    )
  })
})

describe("!include", () => {
  it.effect("replaces the tag by YAML and JSON content, each path relative to its own file", () =>
    Effect.gen(function* () {
      const value = yield* read({
        "/packs/a/root.yaml": "x: !include sub/one.yaml\ny: !include ../_shared/list.json\nz: !include sub/one.yaml",
        "/packs/a/sub/one.yaml": "deep: !include ./two.YML",
        "/packs/a/sub/two.YML": "n: 2",
        "/packs/_shared/list.json": "[1, 2]"
      })
      assert.deepStrictEqual(value, { x: { deep: { n: 2 } }, y: [1, 2], z: { deep: { n: 2 } } })
    })
  )

  it.effect("accepts an absolute path inside the packs directory, and yields null for an empty target", () =>
    Effect.gen(function* () {
      const value = yield* read({
        "/packs/a/root.yaml": "x: !include /packs/b.yaml\ny: !include /packs/empty.yaml",
        "/packs/b.yaml": "[b]",
        "/packs/empty.yaml": ""
      })
      assert.deepStrictEqual(value, { x: ["b"], y: null })
    })
  )

  it.effect.each([
    ["an empty argument", "x: !include ''", "!include requires a non-empty string path (in a/root.yaml)"],
    [
      "a path out of the directory",
      "x: !include ../../outside.txt",
      "!include path escapes PACKS_DIR: ../../outside.txt (in a/root.yaml)"
    ],
    [
      "another extension",
      "x: !include ./notes.txt",
      '!include unsupported extension ".txt" for ./notes.txt (in a/root.yaml)'
    ],
    ["a file that is not there", "x: !include ./gone.yaml", "!include target not found: ./gone.yaml (in a/root.yaml)"],
    ["the file itself", "x: !include ./root.yaml", "!include cycle detected at ./root.yaml (in a/root.yaml)"],
    ["a longer cycle", "x: !include ./loop.yaml", "!include cycle detected at ./root.yaml (in a/loop.yaml)"],
    [
      "a link that leads out",
      "x: !include ./link.yaml",
      "!include path escapes PACKS_DIR: ./link.yaml (in a/root.yaml)"
    ],
    ["a list as argument", "x: !include [a]", "invalid YAML in a/root.yaml: unknown sequence tag !<!include> (line 1)"]
  ] as const)("refuses %s", ([, text, message]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        read({
          "/packs/a/root.yaml": text,
          "/packs/a/notes.txt": "n",
          "/packs/a/loop.yaml": "y: !include ./root.yaml",
          "/packs/a/link.yaml": { link: "/secret/key.yaml" },
          "/secret/key.yaml": "k: 1"
        })
      )
      assert.strictEqual(error.message, message)
    })
  )

  it.effect("names the included file when that one is broken", () =>
    Effect.gen(function* () {
      const broken = (name: string, text: string) =>
        Effect.flip(read({ "/packs/a/root.yaml": `x: !include ./${name}`, [`/packs/a/${name}`]: text }))
      assert.match((yield* broken("bad.json", "{")).message, /^invalid JSON in a\/bad\.json: /)
      assert.match((yield* broken("bad.yaml", "[")).message, /^invalid YAML in a\/bad\.yaml: /)
    })
  )
})

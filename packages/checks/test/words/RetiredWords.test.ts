import { assert, describe, it } from "@effect/vitest"
import { namesOf, namesOfSql } from "../../src/words/Identifiers.ts"
import { RETIRED, retiredIn, retiredNames } from "../../src/words/RetiredWords.ts"

const wordsIn = (name: string) => retiredIn(name).map(({ word }) => word)

describe("the check of names", () => {
  it.each([
    ["archivedRuns", "archived"],
    ["findArchivedRun", "archived"],
    ["storyOf", "story"],
    ["run_stories", "story"],
    ["Stories", "story"],
    ["RunInsights", "insights"],
    ["Inbox", "inbox"],
    ["inboxState", "inbox"],
    ["Drain", "drain"],
    ["drainNow", "drain"],
    ["Reception", "reception"],
    ["contributionsOf", "contribution"],
    ["PricingGroup", "pricing"],
    ["placeOf", "place"],
    ["lastPlace", "place"],
    ["seat", "seat"],
    ["freeRooms", "room"],
    ["door", "door"],
    ["parkedRuns", "parked"],
    ["put_off", "put_off"]
  ])("refuses %s", (name, word) => {
    assert.deepStrictEqual(wordsIn(name), [word])
  })

  it.each([
    ...["archived", "archivedAt", "archived_at", "includeArchived", "isArchived", "history", "selectHistory"],
    ...["insight", "SpanInbox", "otlp_inbox", "runDrain", "drained", "repricing", "prices", "placement", "replace"],
    ...["placeholder", "seated", "Mailbox", "roomy"]
  ])("accepts %s", (name) => {
    assert.deepStrictEqual(wordsIn(name), [])
  })

  it("has a better word for each", () => {
    for (const { better, word } of RETIRED) assert.match(better, /^[a-z]/, word)
  })

  const exception = { word: "seat", under: "packages/one/", reason: "a column" }
  const file = (path: string, ...names: ReadonlyArray<string>) => ({
    file: path,
    names: names.map((name, at) => ({ name, line: at + 1 }))
  })

  it("reports the first line of each retired name that no exception covers", () => {
    assert.deepStrictEqual(
      retiredNames([file("packages/one/A.ts", "seat", "door", "door"), file("packages/two/B.ts", "seat")], [exception]),
      ['packages/one/A.ts:2 "door": receiver', 'packages/two/B.ts:1 "seat": process number; seat is for people']
    )
  })

  it("reports an exception that covers no name, and one without a reason", () => {
    assert.deepStrictEqual(retiredNames([file("packages/two/B.ts", "slot")], [{ ...exception, reason: "" }]), [
      'no name under packages/one/ has "seat" any more: remove its exception',
      'packages/one/: "seat" has no reason'
    ])
  })
})

describe("the reader of names", () => {
  const names = (text: string) => namesOf(text).map(({ line, name }) => `${line} ${name}`)

  it("finds identifiers, and none in comments, texts and regular expressions", () => {
    const text = [
      "// one",
      "/* two",
      "three */ const four = 'five'",
      'const six = "it\\"s seven"',
      "const eight = /nine[/`]ten/.test(eleven) ? a / b / c : d"
    ].join("\n")
    assert.deepStrictEqual(names(text), [
      ...["3 const", "3 four", "4 const", "4 six", "5 const", "5 eight", "5 test", "5 eleven"],
      ...["5 a", "5 b", "5 c", "5 d"]
    ])
  })

  it("finds the names that SQL gives, and code inside of templates", () => {
    const text = [
      "const rows = sql`WITH oldest AS (SELECT one FROM runs r)",
      "  SELECT put_off AS parked, max(two) FROM oldest o JOIN marks m ON true",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of the text
      "  WHERE id = ${{ a: `AS ${b}` }.a} AND x`",
      "const after = 1"
    ].join("\n")
    const found = names(text)
    for (const name of ["1 rows", "1 oldest", "1 r", "2 put_off", "2 parked", "2 o", "2 m", "3 a", "3 b", "4 after"]) {
      assert.include(found, name)
    }
    for (const name of ["1 one", "2 max", "2 two", "3 id", "3 x"]) assert.notInclude(found, name)
  })

  it("reads a migration as SQL, without its comments", () => {
    const found = namesOfSql("-- AS told\nSELECT 1 AS door").map(({ name }) => name)
    assert.deepStrictEqual(found, ["door"])
  })
})

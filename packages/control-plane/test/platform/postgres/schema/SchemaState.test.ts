import { assert, describe, it } from "@effect/vitest"
import {
  type Applied,
  hashOf,
  type MigrationFile,
  noSchema,
  olderSchema,
  refusalOf,
  statementsOf
} from "@runplane/database"
import { missingObjects } from "../../../../src/platform/postgres/schema/SchemaObjects.ts"

const file = (id: number, name: string): MigrationFile => {
  const text = `CREATE TABLE ${name} ()`
  return { id, name, file: `000${id}_${name}.sql`, text, hash: hashOf(text) }
}
const FILES = [file(1, "schema"), file(2, "second"), file(3, "third")]
const row = ({ hash, id, name }: MigrationFile): Applied => ({ id, name, hash })
const ALL = FILES.map(row)
const reasonOf = (applied: ReadonlyArray<Applied>, running = false) => refusalOf(FILES, applied, { running })?.message

describe("the hash of a migration", () => {
  it("is the same for every kind of line ending, and another for another text", () => {
    assert.strictEqual(hashOf("a;\r\nb;\r\n"), hashOf("a;\nb;\n"))
    assert.strictEqual(hashOf("\uFEFFa;\n"), hashOf("a;\n"))
    assert.notStrictEqual(hashOf("a;\nb;\n"), hashOf("a;\nc;\n"))
  })
})

describe("the statements of a migration", () => {
  it("have the line of their first word, and a comment is none", () => {
    const text = "-- it's; a comment\n\nCREATE TABLE a (t text DEFAULT ';');\n\n-- of b\nCREATE TABLE b ();\n-- end\n"
    assert.deepStrictEqual(
      statementsOf(text).map(({ line, text: statement }) => [line, statement.includes("TABLE a")]),
      [
        [3, true],
        [6, false]
      ]
    )
  })
})

describe("a schema whose migrations are compared with the files", () => {
  it("is continued when it has none, some or all of them, each the same file", () => {
    for (const applied of [[], ALL.slice(0, 1), ALL]) assert.isUndefined(reasonOf(applied))
  })

  it("is continued when the first has no hash: its objects are compared", () => {
    assert.isUndefined(reasonOf([{ id: 1, name: "schema", hash: null }]))
  })

  it("is refused with both names when a number is another file", () => {
    assert.match(
      reasonOf([row(file(1, "schema")), row(file(2, "of_a_branch"))]) ?? "",
      /^migration 2 of the database is another file than this program's 0002_second\.sql \(0002_of_a_branch\.sql, [0-9a-f]{12}, not [0-9a-f]{12}\): start the program that made the database, /
    )
    assert.match(
      reasonOf([row(file(1, "schema")), { id: 2, name: "second", hash: null }]) ?? "",
      /another file .* its hash is not stored/
    )
  })

  it("is refused when it lacks a number below its newest", () => {
    assert.match(
      reasonOf([ALL[0], ALL[2]].flatMap((each) => each ?? [])) ?? "",
      /the database is 3, but it lacks 0002_second/
    )
  })

  it("is refused at the start when it is newer, and not while the program runs", () => {
    const newer = [...ALL, { id: 4, name: "of_tomorrow", hash: null }]
    assert.match(reasonOf(newer) ?? "", /the database is 4, this program's is 3: a newer Runplane has migrated it/)
    assert.isUndefined(reasonOf(newer, true))
  })

  it("names the other file rather than the newer schema, because no newer program continues it", () => {
    const foreign = [row(file(1, "other")), ...ALL.slice(1), { id: 4, name: "of_tomorrow", hash: null }]
    assert.match(reasonOf(foreign, true) ?? "", /another file/)
  })

  it("is older until all are applied", () => {
    assert.match(olderSchema(FILES, ALL.slice(0, 2))?.message ?? "", /is 2, this program's is 3: .*runplane migrate/)
    assert.isUndefined(olderSchema(FILES, ALL))
  })
})

describe("the objects that a schema lacks", () => {
  it("are relations first, without their parts, and then the rest by name", () => {
    const expected = [
      "column gone.id uuid",
      "column runs.note text",
      "function count_runs(a text) 0123456789abcdef",
      "index gone_at: CREATE INDEX gone_at ON gone USING btree (at)",
      "relation gone",
      "relation runs",
      "trigger gone.note"
    ]
    assert.deepStrictEqual(missingObjects(expected, ["relation runs", "relation of_somebody"]), [
      "relation gone",
      "column runs.note text",
      "function count_runs(a text)"
    ])
    assert.deepStrictEqual(missingObjects(expected, expected), [])
  })
})

describe("a search_path without a schema", () => {
  it("gets the remedy that fits", () => {
    const why = (existing: string | null, first: string | null) => noSchema("app", "here", existing, first).message
    assert.match(why(null, "here"), /has no schema that exists: .* must run CREATE SCHEMA "here" AUTHORIZATION "app"/)
    assert.match(why("here", "here"), /has no schema that it may use: .*GRANT USAGE, CREATE ON SCHEMA "here" TO "app"/)
    assert.match(why(null, null), /ALTER ROLE "app" SET search_path = public/)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { borrowedErrors } from "./support/ErrorRules.ts"
import { CIRCLE_EXCEPTIONS, circlesOf, FOLDER_EXCEPTIONS, FOLDERS, wrongArrows } from "./support/FolderRules.ts"
import type { PackageSources } from "./support/ImportRules.ts"
import { readWorkspace } from "./support/Workspace.ts"

const workspace = readWorkspace()

/** A package of files with these imports. */
const sample = (name: string, files: Readonly<Record<string, ReadonlyArray<string>>>): PackageSources => ({
  name,
  dependencies: new Set(),
  testDependencies: new Set(),
  files: Object.entries(files).map(([path, imports]) => ({
    path,
    text: imports.map((specifier) => `import type { A } from "${specifier}"\n`).join("")
  }))
})

describe("folders", () => {
  it("know only what their table allows", () => {
    const problems = workspace.flatMap(wrongArrows).filter(({ arrow }) => !FOLDER_EXCEPTIONS.includes(arrow))
    assert.deepStrictEqual(
      problems.map(({ problem }) => problem),
      []
    )
  })

  it("are in a table only while they exist, and import only the folders in it", () => {
    for (const [table, rules] of Object.entries(FOLDERS)) {
      const [name = "", ...folders] = table.split("/")
      const root = folders.length === 0 ? "src" : folders.join("/")
      const paths = workspace.find((sources) => sources.name === name)?.files.map(({ path }) => path) ?? []
      for (const [folder, { knows }] of Object.entries(rules)) {
        assert.isTrue(
          paths.some((path) => path === `${root}/${folder}` || path.startsWith(`${root}/${folder}/`)),
          `packages/${name}/${root}/${folder} does not exist`
        )
        for (const known of knows) {
          assert.isTrue(
            known in rules || known.endsWith(".ts"),
            `${table}: ${folder} knows ${known}, which has no rule`
          )
        }
      }
    }
  })

  it("have a table in every package", () => {
    for (const { files, name } of workspace) {
      const hasFolders = files.some(({ path }) => path.startsWith("src/") && path.split("/").length > 2)
      if (hasFolders) assert.property(FOLDERS, name)
    }
  })

  it("have no exception that is not needed any more", () => {
    const arrows = workspace.flatMap(wrongArrows).map(({ arrow }) => arrow)
    assert.deepStrictEqual(
      FOLDER_EXCEPTIONS.filter((arrow) => !arrows.includes(arrow)),
      []
    )
  })
})

describe("files", () => {
  const circles = workspace.flatMap(circlesOf)

  it("of a package do not import each other in a circle", () => {
    assert.deepStrictEqual(
      circles.filter((circle) => !CIRCLE_EXCEPTIONS.includes(circle)),
      []
    )
  })

  it("have no exception for a circle that no longer exists", () => {
    assert.deepStrictEqual(
      CIRCLE_EXCEPTIONS.filter((circle) => !circles.includes(circle)),
      []
    )
  })
})

describe("errors", () => {
  it("are imported as their class, never described by their shape", () => {
    assert.deepStrictEqual(borrowedErrors(workspace), [])
  })

  it.each([
    ["an error of another package", `type Failure = { readonly _tag: "Gone"; readonly at: string }`],
    ["one of several errors", `type Failure = Exclude<E, { readonly _tag: "Lost" | "Gone" }>`]
  ])("may not be described by the shape of %s", (_, text) => {
    const owner = { path: "src/Gone.ts", text: `export class Gone extends Data.TaggedError("Gone")<{}> {}` }
    const reader = { path: "src/a/Reader.ts", text }
    const [one, other] = [sample("one", {}), sample("other", {})]
    assert.deepStrictEqual(
      borrowedErrors([
        { ...one, files: [owner] },
        { ...other, files: [reader] }
      ]),
      ['packages/other/src/a/Reader.ts declares _tag "Gone": import the error from packages/one/src/Gone.ts']
    )
    assert.deepStrictEqual(borrowedErrors([{ ...one, files: [{ ...owner, text: `${owner.text}\n${text}` }] }]), [])
  })
})

describe("the folder checker", () => {
  it("names the arrow, the allowed folders, and the file of the table", () => {
    assert.deepStrictEqual(wrongArrows(sample("sandbox", { "src/core/A.ts": ["../kernel/B.ts"] })), [
      {
        arrow: "sandbox: core > kernel",
        problem:
          "packages/sandbox/src/core/A.ts imports kernel/B.ts: core must not know kernel; " +
          "it may know nothing (packages/stack/test/support/FolderRules.ts)"
      }
    ])
  })

  it.each([
    ["a folder below", "src/kernel/deep/A.ts", "../../core/B.ts"],
    ["its own folder", "src/core/A.ts", "./deep/B.ts"],
    ["a file beside the folders that the table names", "src/kernel/A.ts", "../SandboxOptions.ts"],
    ["everything, from a file that composes", "src/main.ts", "./core/B.ts"],
    ["nothing of sources, from a test", "test/core/A.test.ts", "../../src/kernel/B.ts"]
  ])("allows %s", (_, path, specifier) => {
    assert.deepStrictEqual(wrongArrows(sample("sandbox", { [path]: [specifier] })), [])
  })

  it.each([
    ["a file that composes", "src/core/A.ts", "../main.ts", "sandbox: core > main.ts"],
    ["any import of a folder without a rule", "src/extra/A.ts", "../core/B.ts", "sandbox: extra"]
  ])("refuses %s", (_, path, specifier, arrow) => {
    assert.deepStrictEqual(
      wrongArrows(sample("sandbox", { [path]: [specifier] })).map((wrong) => wrong.arrow),
      [arrow]
    )
  })

  it("finds circles, and only them", () => {
    const files = {
      "src/A.ts": ["./b/B.ts"],
      "src/b/B.ts": ["./C.ts"],
      "src/b/C.ts": ["../A.ts", "../D.ts"],
      "src/D.ts": ["./E.ts"],
      "src/E.ts": []
    }
    assert.deepStrictEqual(circlesOf(sample("any", files)), ["packages/any/src: A.ts, b/B.ts, b/C.ts"])
  })
})

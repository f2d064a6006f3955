import { assert, describe, it } from "@effect/vitest"
import { DECLARATION } from "../../src/declaration/Folders.ts"
import { borrowedErrors } from "../../src/imports/BorrowedErrors.ts"
import { circlesOf } from "../../src/imports/FileGraph.ts"
import { wrongArrows } from "../../src/imports/FolderImports.ts"
import type { PackageSources } from "../../src/Workspace.ts"

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

describe("errors", () => {
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
          `it may know nothing (${DECLARATION})`
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

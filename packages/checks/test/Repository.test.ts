import { assert, describe, it } from "@effect/vitest"
import {
  faultyMigrations,
  importFaults,
  largeFolders,
  longFiles,
  longGenerators,
  readmes,
  repeatedNames,
  tableFaults,
  triggerFaults,
  unguardedLoops
} from "../src/index.ts"
import { read } from "../src/Repository.ts"
import { readWorkspace } from "../src/Workspace.ts"

describe("the repository", () => {
  it("has sources that the rules read", () => {
    assert.isAbove(readWorkspace().flatMap(({ files }) => files).length, 1_000)
  })

  it.each([
    ["imports in one direction, by packages, folders and files, and errors by their class", importFaults],
    ["tables with one owner, which the folders above read", tableFaults],
    ["migrations with the numbers and hashes of the released ones", faultyMigrations],
    ["triggers that have a reason", triggerFaults],
    ["loops that no failure ends", unguardedLoops],
    ["files of at most 400 lines", longFiles],
    ["generators of at most 120 lines", longGenerators],
    ["folders of at most 25 files", largeFolders],
    ["files of a package with different names", repeatedNames]
  ])("has %s", (_, faults) => {
    assert.deepStrictEqual(faults(), [])
  })

  it("has fresh lists of folders in the READMEs of packages", () => {
    for (const [file, text] of readmes()) assert.strictEqual(read(file), text, file)
  })
})

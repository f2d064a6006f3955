import { assert, describe, it } from "@effect/vitest"
import { FOLDER_EXCEPTIONS, FOLDERS } from "../../src/declaration/Folders.ts"
import { importFaults } from "../../src/imports/ImportFaults.ts"

describe("the declaration", () => {
  it("is reported where a package, a folder or an exception has no subject", () => {
    const none = new Set<string>()
    const files = [{ path: "src/a/A.ts", text: "" }]
    const faults = importFaults([{ name: "unknown", dependencies: none, testDependencies: none, files }])
    assert.includeMembers(
      [...faults],
      [
        "packages/unknown has no rule of its imports",
        "packages/unknown has no table of its folders",
        "packages/control-plane/src/http does not exist",
        ...FOLDER_EXCEPTIONS.map((exception) => `the exception "${exception}" is not needed any more`)
      ]
    )
  })

  it("has a meaning for each folder, in one line of a README", () => {
    for (const [table, folders] of Object.entries(FOLDERS)) {
      for (const [folder, { meaning }] of Object.entries(folders)) {
        assert.match(meaning, /^[\w`].{5,90}[^.]$/, `${table}: ${folder}`)
      }
    }
  })
})

import { assert, describe, it } from "@effect/vitest"
import { folderList, withFolderList } from "../../src/documents/FolderLists.ts"

const tables = {
  one: {
    above: { meaning: "the first", knows: ["below"] },
    "Beside.ts": { meaning: "a file", knows: [] },
    below: { meaning: "the last", knows: [] }
  },
  "one/src/above": { inside: { meaning: "the inner", knows: [] } }
}

describe("the list of folders", () => {
  it("has each declared folder in its order, those inside below it", () => {
    assert.strictEqual(
      folderList("one", tables),
      [
        ...["    above/     the first", "      inside/  the inner", "    Beside.ts  a file", "    below/     the last"],
        ""
      ].join("\n")
    )
  })

  it("replaces what is between its marks, and leaves a fresh README as it is", () => {
    const readme = withFolderList(
      "README.md",
      `# one\n\n${marks("    old/  a folder\n")}\nTest: none.\n`,
      "    new/  one\n"
    )
    assert.strictEqual(readme, `# one\n\n${marks("\n    new/  one\n\n")}\nTest: none.\n`)
    assert.strictEqual(withFolderList("README.md", readme, "    new/  one\n"), readme)
  })

  it("reports a README without marks", () => {
    assert.throws(() => withFolderList("README.md", "# one\n", "    new/  one\n"), /has no list of its folders/)
  })
})

const marks = (text: string) =>
  `<!-- Folders: made from packages/checks/src/declaration by npm run generate. -->\n${text}<!-- End of the folders. -->\n`

import { assert, describe, it } from "@effect/vitest"
import { read } from "../support/DocumentBlocks.ts"
import { tasks } from "../support/DocumentCommands.ts"

describe("the scripts of package.json", () => {
  it("are the tasks, each under its name", () => {
    const scripts: Readonly<Record<string, string>> = JSON.parse(read("package.json")).scripts
    assert.deepStrictEqual(
      scripts,
      Object.fromEntries([...tasks.keys()].map((task) => [task, `node scripts/run.mjs ${task}`]))
    )
  })
})

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { ROOT } from "../support/DocumentBlocks.ts"
import { tasks } from "../support/DocumentCommands.ts"

describe("the scripts of package.json", () => {
  it("are the tasks, each under its name", () => {
    const scripts: Readonly<Record<string, string>> = JSON.parse(
      readFileSync(join(ROOT, "package.json"), "utf8")
    ).scripts
    assert.deepStrictEqual(
      scripts,
      Object.fromEntries([...tasks.keys()].map((task) => [task, `node scripts/run.mjs ${task}`]))
    )
  })
})

import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { PROJECT_FOLDER, projectFolderOf } from "../src/index.ts"

describe("the project's folder", () => {
  const folder = mkdtempSync(join(tmpdir(), "runplane-folder-"))
  afterAll(() => rmSync(folder, { recursive: true }))

  it("is the checkout for its sources", () => {
    for (const part of ["migrations", "packs", "packages/console"])
      assert.isTrue(existsSync(join(PROJECT_FOLDER, part)))
  })

  it("is the nearest one that holds migrations, however deep the file lies", () => {
    const installed = join(folder, "node_modules/runplane")
    for (const path of ["migrations", "node_modules/runplane/migrations"]) {
      mkdirSync(join(folder, path), { recursive: true })
    }
    assert.strictEqual(projectFolderOf(join(installed, "lib/control-plane.js")), installed)
    assert.strictEqual(projectFolderOf(join(installed, "packages/server/src/Any.ts")), installed)
    assert.strictEqual(projectFolderOf(join(folder, "dist/lib/any.js")), folder)
  })

  it("is missed where nothing above the file is ours", () => {
    assert.throws(() => projectFolderOf("/lib/control-plane.js"), /no folder above .* holds migrations/)
  })
})

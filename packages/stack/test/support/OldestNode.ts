import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ROOT } from "./DocumentBlocks.ts"

/** The last version of the oldest Node that the README names. */
const VERSION = "18.20.8"

/** The package of the registry that has this version, on Linux alone. */
const PACKAGE = `node-linux-${process.arch}`

/**
 * The folder with the oldest `node` that a reader of the guides may have, which is fetched once; on other systems the
 * folder of the Node that runs the tests.
 */
export const oldestNode = Effect.sync(() => {
  assert.include(readFileSync(join(ROOT, "README.md"), "utf8"), `any Node from ${VERSION.split(".")[0]} on`)
  if (process.platform !== "linux") return join(process.execPath, "..")
  const folder = join(ROOT, ".tools", `node-${VERSION}`)
  const bin = join(folder, "node_modules", PACKAGE, "bin")
  if (!existsSync(join(bin, "node"))) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }))
    const quiet = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    const { status, stderr } = spawnSync("npm", ["install", "--prefix", folder, ...quiet, `${PACKAGE}@${VERSION}`], {
      encoding: "utf8"
    })
    assert.strictEqual(status, 0, stderr)
  }
  const { stdout } = spawnSync(join(bin, "node"), ["--version"], { encoding: "utf8" })
  assert.strictEqual(stdout.trim(), `v${VERSION}`)
  return bin
})

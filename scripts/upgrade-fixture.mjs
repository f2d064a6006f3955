// Makes the fixtures of a release, which the tests of the upgrade start with the program of today
// (docs/internals/changing.md#a-release), into packages/stack/test/upgrade/fixtures:
//
//   node scripts/upgrade-fixture.mjs [CHECKOUT] [--version VERSION]
//
// CHECKOUT is a folder of that release with its packages installed, this one unless given. The version is the one of
// its package.json, unless given. The fixtures of 1.0.0 replace those of 1.0.0-pre.
import { spawnSync } from "node:child_process"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const node = join(root, "node_modules", ".bin", process.platform === "win32" ? "node.cmd" : "node")
const { status } = spawnSync(
  node,
  [join(root, "packages/stack/test/upgrade/support/make.ts"), ...process.argv.slice(2)],
  {
    stdio: "inherit",
    shell: process.platform === "win32"
  }
)
process.exit(status ?? 1)

// Makes the data of a release, which the tests of the upgrade start with the program of today
// (docs/internals/changing.md#a-release): `node scripts/upgrade-fixture.mjs CHECKOUT FILE`, for example
// packages/stack/test/upgrade/fixtures/0.1.0.backup. CHECKOUT is a folder of that release with its packages installed.
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

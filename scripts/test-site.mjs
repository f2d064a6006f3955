// The site of the documents: its types, its build below a path with all its links, and its tests in a real Chromium.
// Exit code 77: this machine has no Chromium; the last line on stderr says so.
import { spawnSync } from "node:child_process"
import { bring, CHROMIUM } from "./find-program.mjs"
import { TASKS } from "./tasks.mjs"

const CANNOT_RUN = 77
const env = { ...process.env, SITE_BASE: "/handbook" }

const run = (command, args) => {
  const { error, status } = spawnSync(command, args, { stdio: "inherit", env })
  if (error !== undefined) process.stderr.write(`cannot run ${command}: ${error.message}\n`)
  if (status !== 0) process.exit(status ?? 1)
}

const [node, ...build] = TASKS.site.split(" ")
run(node, build)
run("tsc", ["--noEmit", "-p", "packages/site"])
const chromium = bring(CHROMIUM)
if (chromium === undefined) process.exit(CANNOT_RUN)
env.CONSOLE_CHROMIUM = chromium
run("vitest", ["run", "--config", "vitest.workspace.ts", "--project", "site", ...process.argv.slice(2)])

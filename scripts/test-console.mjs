// The tests of the web console in a real Chromium, and behind a real nginx: finds both, installs Debian's where that
// can be done, and runs the test project "console" with them. Exit code 77: this machine has none; the last line on
// stderr says so.
import { spawn } from "node:child_process"
import { bring, CHROMIUM } from "./find-program.mjs"

const CANNOT_RUN = 77
const NGINX = {
  title: "nginx",
  variable: "CONSOLE_NGINX",
  ways: [{ package: "nginx-light", names: ["nginx"] }]
}

const found = {}
for (const program of [CHROMIUM, NGINX]) {
  const path = bring(program)
  if (path === undefined) process.exit(CANNOT_RUN)
  found[program.variable] = path
}

const child = spawn(
  "vitest",
  ["run", "--config", "vitest.workspace.ts", "--project", "console", ...process.argv.slice(2)],
  { stdio: "inherit", env: { ...process.env, ...found } }
)
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal))
child.on("error", (error) => {
  process.stderr.write(`cannot run vitest: ${error.message}\n`)
  process.exit(1)
})
child.on("exit", (code) => process.exit(code ?? 1))

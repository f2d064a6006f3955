// The tests of the web console in a real Chromium: finds one, installs Debian's where that can be done, and runs the
// test project "console" with it. Exit code 77: this machine has none; the last line on stderr says so.
import { spawn, spawnSync } from "node:child_process"
import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"

const CANNOT_RUN = 77
const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]

const say = (text) => process.stderr.write(`console: ${text}\n`)

const isProgram = (path) => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const find = () =>
  process.env.CONSOLE_CHROMIUM ??
  (process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find(isProgram)

const works = (command, args) =>
  spawnSync(command, args, { stdio: "ignore", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } }).status === 0

const install = () => {
  if (process.getuid?.() !== 0 || !works("apt-get", ["--version"])) return
  say("installing chromium with apt-get")
  const packages = ["install", "--yes", "--no-install-recommends", "chromium"]
  if (!works("apt-get", packages)) works("apt-get", ["update"]) && works("apt-get", packages)
}

let chromium = find()
if (chromium === undefined) {
  install()
  chromium = find()
}
if (chromium === undefined) {
  say("there is no Chromium on this machine; install the package chromium, or name one in CONSOLE_CHROMIUM")
  process.exit(CANNOT_RUN)
}

const child = spawn(
  "vitest",
  ["run", "--config", "vitest.workspace.ts", "--project", "console", ...process.argv.slice(2)],
  { stdio: "inherit", env: { ...process.env, CONSOLE_CHROMIUM: chromium } }
)
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal))
child.on("error", (error) => {
  say(`cannot run vitest: ${error.message}`)
  process.exit(1)
})
child.on("exit", (code) => process.exit(code ?? 1))

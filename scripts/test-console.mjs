// The tests of the web console in a real Chromium, and behind a real nginx: finds both, installs Debian's where that
// can be done, and runs the test project "console" with them. Exit code 77: this machine has none; the last line on
// stderr says so.
import { spawn, spawnSync } from "node:child_process"
import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"

const CANNOT_RUN = 77
const PROGRAMS = [
  {
    title: "Chromium",
    package: "chromium",
    names: ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
    variable: "CONSOLE_CHROMIUM"
  },
  { title: "nginx", package: "nginx-light", names: ["nginx"], variable: "CONSOLE_NGINX" }
]

const say = (text) => process.stderr.write(`console: ${text}\n`)

const isProgram = (path) => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

// Debian keeps nginx where only the path of root leads.
const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"]

const find = ({ names, variable }) =>
  process.env[variable] ?? folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram)

const works = (command, args) =>
  spawnSync(command, args, { stdio: "ignore", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } }).status === 0

const install = (name) => {
  if (process.getuid?.() !== 0 || !works("apt-get", ["--version"])) return
  say(`installing ${name} with apt-get`)
  const packages = ["install", "--yes", "--no-install-recommends", name]
  if (!works("apt-get", packages)) works("apt-get", ["update"]) && works("apt-get", packages)
}

const found = {}
for (const program of PROGRAMS) {
  let path = find(program)
  if (path === undefined) {
    install(program.package)
    path = find(program)
  }
  if (path === undefined) {
    const remedy = `install the package ${program.package}, or name one in ${program.variable}`
    say(`there is no ${program.title} on this machine; ${remedy}`)
    process.exit(CANNOT_RUN)
  }
  found[program.variable] = path
}

const child = spawn(
  "vitest",
  ["run", "--config", "vitest.workspace.ts", "--project", "console", ...process.argv.slice(2)],
  { stdio: "inherit", env: { ...process.env, ...found } }
)
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal))
child.on("error", (error) => {
  say(`cannot run vitest: ${error.message}`)
  process.exit(1)
})
child.on("exit", (code) => process.exit(code ?? 1))

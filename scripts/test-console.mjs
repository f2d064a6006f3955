// The tests of the web console in a real Chromium, and behind a real nginx: finds both, installs Debian's where that
// can be done, and runs the test project "console" with them. Exit code 77: this machine has none; the last line on
// stderr says so.
//
// The headless shell is preferred: the whole browser also draws its own windows, and the tests take twice as long.
import { spawn, spawnSync } from "node:child_process"
import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"

const CANNOT_RUN = 77
/** The ways to find each program, the best one first: one that is missing is installed before the next is tried. */
const PROGRAMS = [
  {
    title: "Chromium",
    variable: "CONSOLE_CHROMIUM",
    ways: [
      { package: "chromium-headless-shell", names: ["chromium-headless-shell", "chrome-headless-shell"] },
      { package: "chromium", names: ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"] }
    ]
  },
  { title: "nginx", variable: "CONSOLE_NGINX", ways: [{ package: "nginx-light", names: ["nginx"] }] }
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

const find = (names) => folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram)

const works = (command, args) =>
  spawnSync(command, args, { stdio: "ignore", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } }).status === 0

const install = (name) => {
  if (process.getuid?.() !== 0 || !works("apt-get", ["--version"])) return
  say(`installing ${name} with apt-get`)
  const packages = ["install", "--yes", "--no-install-recommends", name]
  if (!works("apt-get", packages)) works("apt-get", ["update"]) && works("apt-get", packages)
}

/** The path of a program, which is installed first where it is missing and can be. */
const bring = ({ variable, ways }) => {
  if (process.env[variable] !== undefined) return process.env[variable]
  for (const { names, package: name } of ways) {
    if (find(names) === undefined) install(name)
    const path = find(names)
    if (path !== undefined) return path
  }
  return undefined
}

const found = {}
for (const program of PROGRAMS) {
  const path = bring(program)
  if (path === undefined) {
    const remedy = `install the package ${program.ways.at(-1).package}, or name one in ${program.variable}`
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

// The programs of Debian that browser tests need: finds each, and installs it where it is missing and can be.
import { spawnSync } from "node:child_process"
import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"

/**
 * The headless shell is preferred: the whole browser also draws its own windows, and the tests take twice as long. One
 * that is missing is installed before the next is tried.
 */
export const CHROMIUM = {
  title: "Chromium",
  variable: "CONSOLE_CHROMIUM",
  ways: [
    { package: "chromium-headless-shell", names: ["chromium-headless-shell", "chrome-headless-shell"] },
    { package: "chromium", names: ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"] }
  ]
}

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
  process.stderr.write(`installing ${name} with apt-get\n`)
  const packages = ["install", "--yes", "--no-install-recommends", name]
  if (!works("apt-get", packages)) works("apt-get", ["update"]) && works("apt-get", packages)
}

/** The path of a program; undefined, and a line on stderr with the remedy, where there is none. */
export const bring = ({ title, variable, ways }) => {
  if (process.env[variable] !== undefined) return process.env[variable]
  for (const { names, package: name } of ways) {
    if (find(names) === undefined) install(name)
    const path = find(names)
    if (path !== undefined) return path
  }
  const remedy = `install the package ${ways.at(-1).package}, or name one in ${variable}`
  process.stderr.write(`there is no ${title} on this machine; ${remedy}\n`)
  return undefined
}

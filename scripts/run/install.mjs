// Brings pnpm and the locked dependencies, Node 24 among them: for a program only what it needs to run.
import { createHash } from "node:crypto"
import {
  accessSync,
  existsSync,
  constants as files,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { fail, runToEnd, say, windows } from "./processes.mjs"
import { causeOf, packageManagerSettings, registryOf } from "./registry.mjs"
import { trimPackages } from "./trim.mjs"

const PNPM = "12.21.0"

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const tools = join(root, ".tools", `pnpm-${PNPM}`)
const pnpm = join(tools, "node_modules", ".bin", windows ? "pnpm.cmd" : "pnpm")
const modules = join(root, "node_modules")
const stampFile = join(modules, ".runplane-install")

/**
 * What an install holds: what the programs need to run, also what tests, checks and builds need, or also what the site
 * of the documents needs. Each has all of the one before.
 */
const PROGRAMS = "programs"
const ALL = "all"
const SITE = "site"
const KINDS = [PROGRAMS, ALL, SITE]
const SELECTIONS = {
  [PROGRAMS]: ["--prod", "--filter-prod", "runplane", "--filter-prod", "@runplane/stack..."],
  [ALL]: ["--filter", "!@runplane/site"],
  [SITE]: []
}
/** The kind of a task that needs more or less than `ALL`. */
const KIND_OF = { start: PROGRAMS, runplane: PROGRAMS, packs: PROGRAMS, site: SITE, "test:site": SITE }

/** Package managers keep caches in the home folder; a user without one (a service account) gets one in `.tools`. */
const home = () => {
  try {
    accessSync(homedir(), files.W_OK)
    return {}
  } catch {
    return { HOME: join(root, ".tools", "home") }
  }
}

/** What decides over an install, beside the platform. */
export const manifests = () => {
  const packages = readdirSync(join(root, "packages"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join("packages", entry.name, "package.json"))
  const ours = ["package.json", "pnpm-workspace.yaml", "pnpm-lock.yaml", join("scripts", "pnpmfile.cjs")]
  return [...ours, ...packages.sort()].filter((file) => existsSync(join(root, file)))
}

const hashOfManifests = () => {
  const hash = createHash("sha256").update(`${PNPM} ${process.platform} ${process.arch}`)
  for (const file of manifests()) hash.update(file).update(readFileSync(join(root, file)))
  return hash.digest("hex")
}

/** What is installed, and what a test run keeps, goes into the checkout. */
export const ensureWritable = (purpose) => {
  try {
    accessSync(root, files.W_OK)
  } catch (error) {
    const why = error.code === "EROFS" ? "is on a read-only file system" : "may not be written by this user"
    fail(`${root} ${why}, and ${purpose}; clone it to a folder of your own`)
  }
}

/** A fetch that takes long or fails names the registry, since the command itself is silent until it ends. */
const run = (command, args, { beside, cwd }) => {
  const registry = registryOf(process.env)
  return runToEnd(command, args, {
    cwd,
    env: { ...packageManagerSettings(process.env), ...home(), CI: "true" },
    waiting: `fetching from ${registry}`,
    progress: progressOf,
    explain: (output) => causeOf(output, registry),
    beside
  })
}

/** The last count of packages that pnpm has printed. */
const progressOf = (output) =>
  output
    .match(/^Progress: (.*)$/gm)
    ?.at(-1)
    ?.replace("Progress: ", "")

const ensurePnpm = async () => {
  if (existsSync(pnpm)) return
  say(`fetching pnpm ${PNPM} into .tools`)
  mkdirSync(tools, { recursive: true })
  writeFileSync(
    join(tools, "package.json"),
    JSON.stringify({ private: true, allowScripts: { [`pnpm@${PNPM}`]: true } })
  )
  // An outer `npm start --silent` would silence the errors of this npm as well.
  const quiet = ["--no-save", "--no-audit", "--no-fund", "--loglevel=error"]
  await run("npm", ["install", "--prefix", tools, ...quiet, `pnpm@${PNPM}`], { cwd: root })
}

/** Installs a selection of the locked dependencies in this checkout, or in a copy of its manifests. */
export const install = async (selection, options = { cwd: root }) => {
  await ensurePnpm()
  const fixed = ["install", "--frozen-lockfile", "--trust-lockfile", "--reporter=append-only"]
  await run(pnpm, [...fixed, ...selection], options)
}

/** What is installed; an install of before there were two kinds is a whole one. */
const installed = () => {
  if (!existsSync(stampFile)) return { kind: undefined, hash: undefined }
  const [hash, kind = ALL] = readFileSync(stampFile, "utf8").split(" ")
  return { kind, hash }
}

/**
 * Installs what the task needs, unless it is there. An install keeps its kind when a task that needs less runs. Answers
 * whether the install is for programs only.
 */
export const ensureInstall = async (task) => {
  const before = installed()
  const needed = KIND_OF[task] ?? ALL
  const kind = KINDS.indexOf(before.kind) > KINDS.indexOf(needed) ? before.kind : needed
  const hash = hashOfManifests()
  if (before.hash !== hash || before.kind !== kind) {
    ensureWritable("the dependencies have to be installed there")
    say("installing the locked dependencies, Node 24 among them")
    // The package manager does not notice that files of an installed package are missing.
    if (before.kind === PROGRAMS && kind === ALL) rmSync(modules, { recursive: true, force: true })
    await install(SELECTIONS[kind])
    if (kind === PROGRAMS) trimPackages(modules)
    writeFileSync(stampFile, `${hash} ${kind}`)
  }
  return kind === PROGRAMS
}

/**
 * The package manager weighs as much as a fifth of what it installs, and is fetched again when it is needed. It stays
 * when another task makes this a whole install meanwhile.
 */
export const removePnpm = () => {
  if (installed().kind === PROGRAMS) rmSync(tools, { recursive: true, force: true })
}

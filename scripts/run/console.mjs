// Builds the web console when something that it is made of has changed: before a task that needs the files, beside one
// that serves them.
import { createHash } from "node:crypto"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { ensureWritable, install, manifests, root } from "./install.mjs"
import { failWith, ProgramFailed, runToEnd, say, windows } from "./processes.mjs"

/** What the console is made of: its own sources, and the packages that it takes with it. */
const SOURCES = ["packages/console", "packages/api", "packages/domain"]
/** Folders of a package that its sources do not need. */
const NOT_SOURCES = new Set(["node_modules", "dist", "test", "openapi", "screenshots"])
/** Tasks that need the files of the console before they start. */
const NEEDS_FILES = new Set(["build", "bundle", "test:console"])
/** Whether a task serves the console. The example alone does not; of the command line, two commands do. */
const servesConsole = (task, args) =>
  (task === "start" && !args.includes("--demo-only")) || (task === "runplane" && ["dev", "serve"].includes(args[0]))

const DIST = join(root, "packages", "console", "dist")
/** The state of a build, for the service that has no files to serve yet (ConsoleFiles.ts). */
const STATE = join(DIST, "build.json")
/** Where a build writes to: the files appear in their folder all at once. */
const FRESH = join(root, ".tools", "console-dist")
const COPY = join(root, ".tools", "console")
const LOG = join(".tools", "console-build.log")
const stampFile = join(root, "node_modules", ".runplane-console")

const filesIn = (folder, except = new Set()) =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (!entry.isDirectory()) return entry.isFile() ? [path] : []
    return except.has(entry.name) ? [] : filesIn(path)
  })

const sourceFiles = () => SOURCES.flatMap((folder) => filesIn(folder, NOT_SOURCES)).sort()

const stampOfSources = () => {
  const hash = createHash("sha256").update(readFileSync(join(root, "pnpm-lock.yaml")))
  for (const file of sourceFiles()) hash.update(file).update(readFileSync(join(root, file)))
  return hash.digest("hex")
}

/** Whether another start in this checkout builds the console. */
const isBeingBuilt = () => {
  try {
    const { pid, state } = JSON.parse(readFileSync(STATE, "utf8"))
    return state === "building" && process.kill(pid, 0)
  } catch {
    return false // No build, or one that was interrupted.
  }
}

/** Makes the state of its build the only file of the console, or replaces the one that is there. */
const writeState = (state) => {
  if (!existsSync(STATE)) {
    rmSync(DIST, { recursive: true, force: true })
    mkdirSync(DIST, { recursive: true })
  }
  writeFileSync(`${STATE}.new`, JSON.stringify(state))
  renameSync(`${STATE}.new`, STATE)
}

const replaceDist = (folder) => {
  rmSync(DIST, { recursive: true, force: true })
  renameSync(folder, DIST)
}

const bundle = (checkout, { beside, task }) => {
  const pinned = join(root, "node_modules", ".bin", windows ? "node.cmd" : "node")
  const folder = join(checkout, "packages", "console")
  // A start does not fail for a script that is too large; the tests do.
  const budget = task === "test:console" ? {} : { CONSOLE_BUDGET: "report" }
  const vite = join(folder, "node_modules", "vite", "bin", "vite.js")
  return runToEnd(
    existsSync(pinned) ? pinned : process.execPath,
    [vite, "build", folder, "--outDir", FRESH, "--emptyOutDir"],
    {
      cwd: checkout,
      env: { ...process.env, ...budget },
      waiting: "building the web console",
      explain: (output) => output.match(/^.*Error: .*$/m)?.[0],
      beside
    }
  )
}

/** With the tools of a build in a folder of its own, which goes away: an install for programs does not hold them. */
const bundleElsewhere = async (options) => {
  removeCopy()
  for (const file of new Set([...manifests(), "tsconfig.json", ...sourceFiles()])) {
    mkdirSync(dirname(join(COPY, file)), { recursive: true })
    cpSync(join(root, file), join(COPY, file))
  }
  try {
    await install(["--prod", "--filter-prod", "@runplane/console..."], { cwd: COPY, beside: options.beside })
    options.step("compiling its pages")
    await bundle(COPY, options)
  } finally {
    removeCopy()
  }
}

const removeCopy = () => rmSync(COPY, { recursive: true, force: true })

/** Why a build failed, in one line; everything that it printed is in a file. */
const reasonOf = (error) => {
  if (!(error instanceof ProgramFailed)) return error instanceof Error ? error.message : String(error)
  writeFileSync(join(root, LOG), `${error.output}\n${error.message}\n`)
  return `${error.message}; its output is in ${LOG}`
}

/**
 * The build that a task needs: `before` it starts, or `beside` it; neither when the files are up to date. The state is
 * written at once, so that a service that starts meanwhile knows of the build. After `stop` a build may end without a
 * word, as everything does.
 */
export const consoleBuild = (task, args, forPrograms) => {
  const none = { before: async () => {}, beside: async () => {}, stop: () => {} }
  const beside = servesConsole(task, args)
  if (!beside && !NEEDS_FILES.has(task)) return none
  if (beside && isBeingBuilt()) return none
  const stamp = stampOfSources()
  const isBuilt = existsSync(join(DIST, "index.html"))
  if (isBuilt && existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return none
  ensureWritable("the web console has to be built there")

  const step = (text) => writeState({ state: "building", pid: process.pid, step: text })
  const build = async () => {
    await (forPrograms ? bundleElsewhere({ beside, task, step }) : bundle(root, { beside, task }))
    replaceDist(FRESH)
    writeFileSync(stampFile, stamp)
  }
  if (!beside) {
    const before = async () => {
      say("building the web console")
      await build().catch(failWith)
    }
    return { ...none, before }
  }
  step(forPrograms ? "installing its build tools" : "compiling its pages")
  const started = performance.now()
  let stopping = false
  const inBackground = async () => {
    say("building the web console beside it; its page says so until then")
    try {
      await build()
      const seconds = Math.round((performance.now() - started) / 1000)
      say(`the web console is built, after ${seconds} s`)
    } catch (error) {
      if (stopping) return
      const reason = reasonOf(error)
      writeState({ state: "failed", reason })
      say(`the web console cannot be built: ${reason}`)
    }
  }
  const stop = () => {
    stopping = true
  }
  return { ...none, beside: inBackground, stop }
}

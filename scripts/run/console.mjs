// Builds the web console when something that it is made of has changed.
import { createHash } from "node:crypto"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { ensureWritable, install, manifests, root } from "./install.mjs"
import { runToEnd, say, windows } from "./processes.mjs"

/** What the console is made of: its own sources, and the packages that it takes with it. */
const SOURCES = ["packages/console", "packages/api", "packages/domain"]
/** Folders of a package that its sources do not need. */
const NOT_SOURCES = new Set(["node_modules", "dist", "test", "openapi", "screenshots"])
/** Whether a task serves the console; of the command line, two commands do. */
const servesConsole = (task, [command]) =>
  ["start", "build", "bundle", "test:console"].includes(task) ||
  (task === "runplane" && ["dev", "serve"].includes(command))
const DIST = join("packages", "console", "dist")

const filesIn = (folder, except = new Set()) =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (!entry.isDirectory()) return entry.isFile() ? [path] : []
    return except.has(entry.name) ? [] : filesIn(path)
  })

const sourceFiles = () => SOURCES.flatMap((folder) => filesIn(folder, NOT_SOURCES)).sort()

const build = (checkout, task) => {
  const pinned = join(root, "node_modules", ".bin", windows ? "node.cmd" : "node")
  const folder = join(checkout, "packages", "console")
  // A start does not fail for a script that is too large; the tests do.
  const budget = task === "test:console" ? {} : { CONSOLE_BUDGET: "report" }
  return runToEnd(
    existsSync(pinned) ? pinned : process.execPath,
    [join(folder, "node_modules", "vite", "bin", "vite.js"), "build", folder],
    { cwd: checkout, env: { ...process.env, ...budget } }
  )
}

/** With the tools of a build in a folder of its own, which goes away: an install for programs does not hold them. */
const buildElsewhere = async (task) => {
  const copy = join(root, ".tools", "console")
  rmSync(copy, { recursive: true, force: true })
  for (const file of new Set([...manifests(), "tsconfig.json", ...sourceFiles()])) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(root, file), join(copy, file))
  }
  await install(["--prod", "--filter-prod", "@runplane/console..."], copy)
  await build(copy, task)
  rmSync(join(root, DIST), { recursive: true, force: true })
  cpSync(join(copy, DIST), join(root, DIST), { recursive: true })
  rmSync(copy, { recursive: true, force: true })
}

export const ensureConsole = async (task, args, forPrograms) => {
  if (!servesConsole(task, args)) return
  const hash = createHash("sha256").update(readFileSync(join(root, "pnpm-lock.yaml")))
  for (const file of sourceFiles()) hash.update(file).update(readFileSync(join(root, file)))
  const stamp = hash.digest("hex")
  const stampFile = join(root, "node_modules", ".runplane-console")
  const isBuilt = existsSync(join(root, DIST, "index.html"))
  if (isBuilt && existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return
  ensureWritable("the web console has to be built there")
  say("building the web console")
  await (forPrograms ? buildElsewhere(task) : build(root, task))
  writeFileSync(stampFile, stamp)
}
